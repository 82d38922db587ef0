//! The lanes of the page: what each executor did over time, in which function and line, and whom it
//! waited for.

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{BlockCounts, BlockId, TaskId, TaskKind};

use crate::analysis::source::Place;
use crate::analysis::{Graph, State, Task, block_before};
use crate::critpath::Stretch;
use crate::parallelism::{Lanes, Seen};
use crate::tables::Numbered;
use crate::view::Chart;
use crate::view::chart::Note;
use crate::view::page::label;

/// Blocks that are followed one by one. Of tasks beyond that, the code is the one that they execute
/// most.
const FOLLOWED: u64 = 1_000_000;
/// Of a longer task so many parts are looked at.
const PARTS: usize = 64;

/// The chart. `duration_ns` is the length of the run.
pub(super) fn chart(
    graph: &Graph,
    lanes: &Lanes,
    path: &[Stretch],
    duration_ns: u64,
) -> Result<Chart> {
    let mut notes = Notes {
        graph,
        lanes,
        left: FOLLOWED,
        code: FxHashMap::default(),
        all: Numbered::default(),
    };
    let mut rows = lanes.rows(graph);
    for (seen, row) in lanes.seen().zip(&mut rows) {
        for (bin, seen) in (0..).zip(seen) {
            let note = match seen {
                Some(seen) => notes.of(seen, bin * lanes.bin_ns)?,
                None => 0,
            };
            match row.notes.last_mut() {
                Some((bins, last)) if *last == note => *bins += 1,
                _ => row.notes.push((1, note)),
            }
        }
    }
    let all = notes.all.into_iter().collect();
    // Who does nothing has no lane: the root of an MPI run.
    let mut course = course(graph, lanes, path, duration_ns)?;
    let number = |lane: usize| rows[..lane].iter().filter(|row| !row.states.is_empty()).count();
    for part in &mut course {
        part.0 = number(part.0);
    }
    rows.retain(|row| !row.states.is_empty());
    Ok(Chart::Activity {
        title: "What each thread did over time".to_owned(),
        bin_ns: lanes.bin_ns,
        lane: "thread".to_owned(),
        path: course,
        rows,
        notes: all,
    })
}

/// The critical path as lanes and times. A context may go on in another thread.
fn course(
    graph: &Graph,
    lanes: &Lanes,
    path: &[Stretch],
    duration_ns: u64,
) -> Result<Vec<(usize, u64, u64)>> {
    // Shorter ones cannot be seen.
    let seen = |part: &&Stretch| part.end_ns.saturating_sub(part.start_ns) > duration_ns / 2000;
    let mut course: Vec<(usize, u64, u64)> = Vec::new();
    for part in path.iter().filter(seen) {
        let (first, last): (TaskId, TaskId) = (part.first.parse()?, part.last.parse()?);
        let mut task = graph.task(first)?;
        let mut lane = lanes.of(task.executor());
        // Time goes on. What waited is on the path only from the end of its wait, and who lets
        // others go on in the middle of a task until then.
        let mut start_ns = part.start_ns;
        if let Some((_, from_ns, to_ns)) = course.last_mut() {
            if *to_ns > part.end_ns {
                *to_ns = start_ns.clamp(*from_ns, *to_ns);
            }
            start_ns = start_ns.max(*to_ns).min(part.end_ns);
        }
        course.push((lane, start_ns, part.end_ns));
        for seq in first.seq + 1..=last.seq {
            task.go_to(TaskId::new(first.context, seq))?;
            let next = lanes.of(task.executor());
            if next != lane {
                if let Some(open) = course.last_mut() {
                    open.2 = task.start_ns();
                }
                course.push((next, task.start_ns(), part.end_ns));
                lane = next;
            }
        }
    }
    Ok(course)
}

/// What is said of the lanes.
struct Notes<'a> {
    graph: &'a Graph,
    lanes: &'a Lanes,
    /// Blocks that may still be followed.
    left: u64,
    /// For each task its first bin, and the block that it executed most in that and the bins after.
    code: FxHashMap<TaskId, (u64, Vec<Option<BlockId>>)>,
    all: Numbered<Note>,
}

impl Notes<'_> {
    /// The number of a note, from 1 on, about what was seen in the bin that begins at `at_ns`.
    fn of(&mut self, seen: Seen, at_ns: u64) -> Result<usize> {
        let task = self.graph.task(seen.task)?;
        let block = match (seen.call, seen.state) {
            (Some(block), _) => Some(block),
            (None, State::Running) if task.kind() == TaskKind::Work => {
                self.code(seen.task, at_ns)?
            }
            _ => block_before(&task)?,
        };
        let info = self.graph.info();
        let is_code = seen.call.is_none() && task.kind() == TaskKind::Work;
        let place = block.map_or_else(Place::default, |block| match is_code {
            true => Place::of_block(info, block),
            false => Place::of_call_or_block(info, block).0,
        });
        let mut note = Note {
            state: match seen.state {
                State::Running => "running",
                State::Waiting(cause) => cause.name(),
            },
            function: label(&place.function),
            place: place.short(),
            whom: String::new(),
        };
        if seen.state != State::Running {
            note.whom = self.whom(seen.task)?;
        }
        Ok(self.all.insert_full(note).0 + 1)
    }

    /// Whom a wait at a task ends with: the last of the tasks of other contexts that it comes
    /// after, and where that is.
    fn whom(&self, id: TaskId) -> Result<String> {
        let task = self.graph.task(id)?;
        let mut last = None;
        for &before in task.stored_dependencies() {
            let before = self.graph.task(before)?;
            let ends_ns = before.end_ns();
            if last.as_ref().is_none_or(|(last_ns, _)| *last_ns < ends_ns) {
                last = Some((ends_ns, before));
            }
        }
        let Some((_, last)) = last else {
            return Ok(String::new());
        };
        let block = match last.kind() {
            TaskKind::Work => last.last_block()?,
            _ => block_before(&last)?,
        };
        let name = self.lanes.name(self.graph, last.executor());
        Ok(match block {
            Some(block) => {
                let place = Place::of_block(self.graph.info(), block);
                format!("{name}, {}", place.located())
            }
            None => name,
        })
    }

    /// The block that a task executed most in a bin. Its executions are taken to be spread evenly
    /// over its time.
    fn code(&mut self, id: TaskId, at_ns: u64) -> Result<Option<BlockId>> {
        if !self.code.contains_key(&id) {
            let code = self.read(id)?;
            self.code.insert(id, code);
        }
        let (first, bins) = &self.code[&id];
        let bin = usize::try_from((at_ns / self.lanes.bin_ns).saturating_sub(*first))?;
        Ok(bins.get(bin).copied().flatten())
    }

    /// What [`Notes::code`] knows of a long task, by the parts of it that most bins are in. Its
    /// records are taken to be spread evenly over its time.
    fn read_parts(&self, task: &Task<'_>, first: u64, bins: u64) -> Result<Vec<Option<BlockId>>> {
        let spans = task.spans();
        let each = spans.len().div_ceil(PARTS);
        let mut counts = BlockCounts::new();
        let mut ends = Vec::new();
        for some in spans.chunks(each) {
            let records: u64 = some.iter().map(|span| u64::from(span.records)).sum();
            task.count_blocks_in(some[some.len() / 2], &mut counts)?;
            let end = ends.last().map_or(0, |(end, _)| *end) + records;
            ends.push((end, self.most(&counts)));
        }
        let all = ends.last().map_or(0, |(end, _)| *end);
        let at = |bin: u64| {
            let middle = (first + bin) * self.lanes.bin_ns + self.lanes.bin_ns / 2;
            let passed = middle.saturating_sub(task.start_ns()).min(task.duration_ns());
            let before = u128::from(passed) * u128::from(all);
            let before = before / u128::from(task.duration_ns().max(1));
            let part = ends.partition_point(|(end, _)| u128::from(*end) <= before);
            ends.get(part).or(ends.last()).and_then(|part| part.1)
        };
        Ok((0..bins).map(at).collect())
    }

    /// The block that was executed most, by its instructions.
    fn most(&self, counts: &BlockCounts) -> Option<BlockId> {
        let most = counts.iter().max_by_key(|&(b, n)| (n.saturating_mul(self.weight(b)), b));
        most.map(|most| most.0)
    }

    /// The instructions of a block.
    fn weight(&self, block: BlockId) -> u64 {
        self.graph.info().block(block).map_or(1, |block| u64::from(block.ir_ops).max(1))
    }

    /// What [`Notes::code`] knows of a task.
    fn read(&mut self, id: TaskId) -> Result<(u64, Vec<Option<BlockId>>)> {
        let (task, bin_ns) = (self.graph.task(id)?, self.lanes.bin_ns);
        let blocks = task.block_count();
        let first = task.start_ns() / bin_ns;
        let bins = task.end_ns() / bin_ns - first + 1;
        if bins > 1 && blocks > self.left && task.spans().len() > 1 {
            return Ok((first, self.read_parts(&task, first, bins)?));
        }
        if bins == 1 || blocks > self.left {
            let mut counts = BlockCounts::new();
            task.count_blocks(&mut counts)?;
            return Ok((first, vec![self.most(&counts); usize::try_from(bins)?]));
        }
        self.left -= blocks;
        let (mut at, mut open) = (0u64, 0);
        let mut counts: FxHashMap<BlockId, u64> = FxHashMap::default();
        let mut most = Vec::new();
        let close = |counts: &mut FxHashMap<BlockId, u64>| {
            let most = counts.iter().max_by_key(|&(&b, &n)| (n, b)).map(|most| *most.0);
            counts.clear();
            most
        };
        task.for_each_block(|block| {
            let ns = u128::from(at) * u128::from(task.duration_ns()) / u128::from(blocks);
            let now = u64::try_from(ns).unwrap_or(u64::MAX) + task.start_ns();
            while now / bin_ns - first > open {
                most.push(close(&mut counts).or(most.last().copied().flatten()));
                open += 1;
            }
            *counts.entry(block.id()).or_default() += self.weight(block.id());
            at += 1;
        })?;
        let last = most.last().copied().flatten();
        most.push(close(&mut counts).or(last));
        Ok((first, most))
    }
}
