//! Checks a whole graph: the file, the tables, and the rules of task graphs.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::action::{Action, BlockExec};
use crate::compact::Compact;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Counts;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::kind::{SyncOp, TaskKind};
use crate::meta::Summary;
use crate::record::FrameRef;
use crate::rules::EdgeSum;
use crate::task::Task;
use crate::unit::{FILE_HEADER, TRAILER, Tag, Unit};
use crate::wire::Reader;

/// What [`TaskGraph::verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Contexts.
    pub contexts: u64,
    /// Tasks.
    pub tasks: u64,
    /// Stored edges.
    pub edges: u64,
    /// Frames.
    pub frames: u64,
    /// Actions in all frames.
    pub actions: u64,
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Memory accesses.
    pub accesses: u64,
}

/// A sum over ranges of actions: ranges that follow one another add up to the range from the first start to the last
/// end, so that gaps and overlaps show without a table of all spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Coverage {
    actions: u64,
    sum: u64,
}

impl Coverage {
    fn add(&mut self, frame: u64, first: u64, actions: u64) {
        let bound = |at: u64| xxh3_64_with_seed(&frame.to_le_bytes(), at);
        self.actions = self.actions.wrapping_add(actions);
        let range = bound(first.wrapping_add(actions)).wrapping_sub(bound(first));
        self.sum = self.sum.wrapping_add(range);
    }
}

/// What an execution counts.
fn count(block: &BlockExec<'_>) -> Counts {
    let mut counts = Counts {
        blocks: 1,
        ..Counts::default()
    };
    block.for_each_access(|a| {
        counts.reads += u64::from(!a.write);
        counts.writes += u64::from(a.write);
        counts.bytes = counts.bytes.wrapping_add(a.size);
    });
    counts
}

fn fault(place: impl std::fmt::Display, fault: impl Into<String>) -> Error {
    ErrorKind::Inconsistent {
        place: place.to_string(),
        fault: fault.into(),
    }
    .into()
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Checks everything, O(file): the checksum of every unit; that tasks are dense and sorted and as many as each context
    /// says; times; that every action belongs to exactly one task and each task's totals are those of its actions;
    /// that incoming and outgoing edges are the same and lead to tasks that exist; that the order has every
    /// task once, after its predecessors (so the graph is acyclic); and the totals.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn verify(&self) -> Result<Verified> {
        self.in_file(self.check())
    }

    fn check(&self) -> Result<Verified> {
        let mut seen = Verified::default();
        let stored = self.check_units(&mut seen)?;
        let mut summary = Summary::default();
        let incoming = self.check_tasks(&mut seen, &mut summary, stored)?;
        let outgoing = self.check_dependents()?;
        if incoming != outgoing {
            return Err(self.find_edge_fault()?);
        }
        seen.edges = incoming.edges;
        self.check_order(seen.tasks)?;
        summary.contexts = seen.contexts;
        summary.edges = seen.edges;
        summary.accesses = seen.accesses;
        summary.functions = self.info().functions.len() as u64;
        if summary != *self.summary() {
            let detail = format!(
                "the totals are {:?}, the graph has {summary:?}",
                self.summary()
            );
            return Err(fault("run metadata", detail));
        }
        if let Some((frames, accesses)) = self.frame_index_totals()?
            && (frames, accesses) != (seen.frames, seen.accesses)
        {
            let detail = format!("{frames} frames and {accesses} accesses, the graph has {seen:?}");
            return Err(fault("frame index", detail));
        }
        let totals = [self.totals.tasks, self.totals.edges, self.totals.frames];
        if totals != [seen.tasks, seen.edges, seen.frames] {
            return Err(fault(
                "footer",
                format!("tasks, edges, frames {totals:?}, the graph has {seen:?}"),
            ));
        }
        Ok(seen)
    }

    /// All units, one after the other.
    fn check_units(&self, seen: &mut Verified) -> Result<Coverage> {
        let mut stored = Coverage::default();
        let mut at = FILE_HEADER as u64;
        while at < self.footer {
            let unit = Unit::at(self.bytes(), at, "unit")?;
            unit.check()?;
            if matches!(unit.tag, Tag::Frame | Tag::FrameV1) {
                let mut r = Reader::new("frame", unit.payload);
                let records = match unit.tag {
                    Tag::FrameV1 => r.u32()?,
                    _ => r.varint32()?,
                };
                stored.add(at, 0, u64::from(records));
                let entry = self.frame_entry(FrameRef(at))?;
                if entry.is_some_and(|e| u64::from(e.records) != u64::from(records)) {
                    let detail =
                        format!("the frame index says otherwise than its {records} records");
                    return Err(fault(format!("frame at byte {at}"), detail));
                }
                seen.frames += 1;
            }
            at = unit.end();
        }
        let footer = Unit::at(self.bytes(), self.footer, Tag::Footer.name())?;
        let end = (self.bytes().len() - TRAILER) as u64;
        if at != self.footer || footer.end() != end {
            return Err(fault(
                "footer",
                format!("at byte {}, the units end at {at}", self.footer),
            ));
        }
        Ok(stored)
    }

    /// All contexts, their tasks, and the actions of these.
    fn check_tasks(
        &self,
        seen: &mut Verified,
        summary: &mut Summary,
        stored: Coverage,
    ) -> Result<EdgeSum> {
        let mut incoming = EdgeSum::default();
        let mut used = Coverage::default();
        let mut before: Option<ContextId> = None;
        for context in self.contexts() {
            let place = format!("context {}", context.id);
            if before.is_some_and(|b| b >= context.id) {
                return Err(fault(place, "the contexts are not sorted"));
            }
            before = Some(context.id);
            seen.contexts += 1;
            if let Some(creator) = context.creator {
                let kind = self
                    .task(creator)
                    .map_err(|e| fault(&place, format!("its creator: {e}")))?
                    .kind();
                if kind != TaskKind::Create {
                    return Err(fault(
                        place,
                        format!("its creator {creator} is a {kind} task"),
                    ));
                }
            }
            for task in self.tasks_of(context.id) {
                let task = task?;
                self.check_task(&task, &mut used, seen)?;
                for &d in task.stored_dependencies() {
                    incoming.add(d, task.id());
                }
                summary.tasks.add(task.kind());
                summary.blocks = summary.blocks.wrapping_add(task.block_count());
                summary.reads = summary.reads.wrapping_add(task.read_count());
                summary.writes = summary.writes.wrapping_add(task.write_count());
                summary.bytes_accessed = summary.bytes_accessed.wrapping_add(task.bytes_accessed());
                summary.duration_ns = summary.duration_ns.max(task.end_ns());
                seen.tasks += 1;
            }
        }
        self.check_task_index(seen.tasks)?;
        if used != stored {
            let detail = format!(
                "they hold {} actions, the tasks have {}",
                stored.actions, used.actions
            );
            return Err(fault(
                "frames",
                format!("not every action belongs to exactly one task: {detail}"),
            ));
        }
        Ok(incoming)
    }

    fn check_task(
        &self,
        task: &Task<'_, D>,
        used: &mut Coverage,
        seen: &mut Verified,
    ) -> Result<()> {
        let place = format!("task {}", task.id());
        let bad = |detail: String| Err(fault(&place, detail));
        if (task.kind() == TaskKind::Work) != (task.op() == SyncOp::None) {
            return bad(format!(
                "a {} task with operation {}",
                task.kind(),
                task.op()
            ));
        }
        if task.kind() != TaskKind::Work && !task.spans().is_empty() {
            return bad(format!("a {} task with actions", task.kind()));
        }
        for span in task.spans() {
            if span.records == 0 {
                return bad("an empty span of actions".into());
            }
            used.add(
                span.frame.0,
                u64::from(span.first_record),
                u64::from(span.records),
            );
        }
        let mut counts = Counts::default();
        task.for_each_compact(|item| {
            counts = counts.plus(match item {
                Compact::Action(Action::Block(block)) => count(&block),
                Compact::Action(_) => Counts {
                    others: 1,
                    ..Counts::default()
                },
                Compact::Run(run) if run.has_static_counts() => {
                    let once = run
                        .first()
                        .fold(Counts::default(), |sum, b| sum.plus(count(&b)));
                    once.times(run.iterations())
                }
                Compact::Run(run) => {
                    let mut sum = Counts::default();
                    run.for_each_block(|b| sum = sum.plus(count(&b)));
                    sum
                }
            });
        })?;
        // Records of version 1 were actions, and the others not counted.
        let others = if self.version() == 1 {
            0
        } else {
            counts.others
        };
        seen.actions += counts.blocks + counts.others;
        counts.others = others;
        seen.blocks = seen.blocks.wrapping_add(counts.blocks);
        let accesses = counts.reads.wrapping_add(counts.writes);
        seen.accesses = seen.accesses.wrapping_add(accesses);
        let stated = Counts {
            blocks: task.block_count(),
            reads: task.read_count(),
            writes: task.write_count(),
            bytes: task.bytes_accessed(),
            others: task.action_count().wrapping_sub(task.block_count()),
        };
        if stated != counts {
            return bad(format!(
                "its totals are {stated:?}, its actions give {counts:?}"
            ));
        }
        let mut before = None;
        for &d in task.stored_dependencies() {
            if before.is_some_and(|b| b >= d) {
                return bad(format!("its dependencies are not sorted at {d}"));
            }
            before = Some(d);
            if self
                .context(d.context)
                .is_none_or(|c| d.seq >= c.task_count)
            {
                return bad(format!("an edge from {d}, which does not exist"));
            }
        }
        Ok(())
    }

    /// The pages hold the tasks of the contexts and no others, and start where the index says.
    fn check_task_index(&self, tasks: u64) -> Result<()> {
        let index = self.task_index()?;
        let (mut held, mut last) = (0, None);
        for page in 0..index.len() {
            let decoded = self.task_page(page)?;
            let first = decoded.tasks.first().map(|t| t.id);
            if first != index.get(page).map(|(id, _)| id) || last >= first {
                return Err(fault(
                    format!("task page {page}"),
                    "its first task is not the one of the index, or out of order",
                ));
            }
            last = decoded.tasks.last().map(|t| t.id);
            held += decoded.tasks.len() as u64;
        }
        if held != tasks {
            return Err(fault(
                "task pages",
                format!("they hold {held} tasks, the contexts have {tasks}"),
            ));
        }
        Ok(())
    }

    /// The stored successors.
    fn check_dependents(&self) -> Result<EdgeSum> {
        let mut outgoing = EdgeSum::default();
        let index = self.dependents_index()?;
        let mut last = None;
        for page in 0..index.len() {
            let decoded = self.dependents_page(page)?;
            let mut key = index.get(page).map(|(id, _)| id);
            for (from, to) in decoded.iter() {
                if last >= Some(from) || key.take().is_some_and(|k| k != from) {
                    return Err(fault(
                        format!("edge page {page}"),
                        format!("the dependents of {from} are out of order"),
                    ));
                }
                last = Some(from);
                if !to.is_sorted_by(|a, b| a < b) {
                    return Err(fault(
                        format!("task {from}"),
                        "its dependents are not sorted",
                    ));
                }
                to.iter().for_each(|&t| outgoing.add(from, t));
            }
        }
        Ok(outgoing)
    }

    /// The edge that is stored in one direction only; called when there is one.
    fn find_edge_fault(&self) -> Result<Error> {
        for page in 0..self.task_index()?.len() {
            let decoded = self.task_page(page)?;
            for task in &decoded.tasks {
                for &d in decoded.edges(task) {
                    if !self.dependents(d)?.contains(&task.id) {
                        return Ok(fault(
                            format!("task {}", task.id),
                            format!("depends on {d}, which does not have it as dependent"),
                        ));
                    }
                }
            }
        }
        for page in 0..self.dependents_index()?.len() {
            for (from, to) in self.dependents_page(page)?.iter() {
                for &t in to {
                    let task = self.task(t).map_err(|_| {
                        fault(
                            format!("task {from}"),
                            format!("an edge to {t}, which does not exist"),
                        )
                    })?;
                    if !task.stored_dependencies().contains(&from) {
                        return Ok(fault(
                            format!("task {from}"),
                            format!("has {t} as dependent, which does not depend on it"),
                        ));
                    }
                }
            }
        }
        Ok(fault("edges", "the two directions differ"))
    }

    /// The order: every task once, after its predecessors.
    fn check_order(&self, tasks: u64) -> Result<()> {
        let mut next: HashMap<ContextId, u32> = HashMap::new();
        let mut ordered = 0;
        let index = self.order_index()?;
        for page in 0..index.len() {
            let ids = self.order_page(page)?.0;
            if ids.first() != index.get(page).map(|(id, _)| id).as_ref() {
                return Err(fault(
                    format!("order page {page}"),
                    "its first task is not the one of the index",
                ));
            }
            for id in ids {
                self.check_step(id, &mut next)?;
                ordered += 1;
            }
        }
        if ordered != tasks {
            return Err(fault("order", format!("it has {ordered} of {tasks} tasks")));
        }
        Ok(())
    }

    fn check_step(&self, id: TaskId, next: &mut HashMap<ContextId, u32>) -> Result<()> {
        let done = |next: &HashMap<ContextId, u32>, c| next.get(&c).copied().unwrap_or(0);
        if done(next, id.context) != id.seq {
            let n = done(next, id.context);
            return Err(fault(
                "order",
                format!("{id} comes where {}:{n} is next", id.context),
            ));
        }
        for &d in self.task(id)?.stored_dependencies() {
            if d.seq >= done(next, d.context) {
                return Err(fault(
                    "order",
                    format!("{id} comes before {d}, on which it depends"),
                ));
            }
        }
        next.insert(id.context, id.seq.wrapping_add(1));
        Ok(())
    }
}
