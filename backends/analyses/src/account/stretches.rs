//! About a thousand times a second each executor noted where it was, and what the kernel said of
//! its time. What it executed between two such moments is a *stretch*: the blocks in it are known
//! exactly, and so is how long it ran.
//!
//! Where the graph has a sample of the code, how often blocks are executed is estimated: what was
//! drawn stands for all that might have been, whatever comes right after events. What a task of few
//! blocks executes is known.

use std::ops::{Range, RangeInclusive};

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use taskgraph::{
    BlockCounts, BlockId, CodeOf, ContextId, ExecutorId, FrameRef, FrameSpan, Progress, TaskKind,
};

use super::strands::index;
use super::sums::Sums;
use crate::analysis::{Graph, Task, count_spans};
use crate::view::units::{ratio, whole};

/// Contexts that one job reads.
pub(super) const TOGETHER: usize = 256;
/// More stretches than this are joined, neighbours first.
const MOST: usize = 4096;
/// Blocks that take as long as an action which executes none, and as the bounds of a task.
const ACTION: u64 = 8;
/// Paces are told apart in so many classes, each of them four times as slow as the one before, from
/// the fastest one on, ns a block.
const CLASSES: usize = 16;
const SLOWER: f64 = 4.0;
const FASTEST_NS: f64 = 1.0 / 256.0;

/// A processor on which threads ran for a smaller part of their time than this is no evidence.
const SELDOM: f64 = 0.01;
/// The processor of a position is not known.
const UNKNOWN: u32 = 0xffff;

/// The stretches of a run.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    moments: Vec<Progress>,
    /// The moments of each executor.
    executors: Vec<Range<usize>>,
    /// The moments in each frame: number of records before, and the moment.
    frames: FxHashMap<FrameRef, Vec<(u32, usize)>>,
    /// By the moment that ends a stretch: the moment that ends the stretch it is joined with.
    with: Vec<usize>,
    /// As many stretches are joined, as a power of two.
    shift: u32,
    /// How often the code of each frame counts that has more than code right after events, if the
    /// graph has a sample.
    drawn: Option<FxHashMap<FrameRef, u64>>,
    /// How long a block takes in tasks whose code is known, ns.
    pace_ns: f64,
    /// By the moment that ends a stretch: the slowest pace of what was executed in it, ns a block,
    /// where the executor ran for less time than its tasks took, because others had its processor.
    /// Nothing tells which of the tasks was interrupted, but the longest ones for what they execute
    /// are the likeliest.
    slowest: FxHashMap<usize, f64>,
}

/// What was executed in a stretch, by the class of its pace: time (ns) and blocks.
type Paces = FxHashMap<usize, [(f64, f64); CLASSES]>;

/// How much a task executes, in blocks.
fn amount(task: &Task<'_>) -> f64 {
    (task.block_count() + ACTION * (others(task) + 1)) as f64
}

/// Actions of a task beside executions of blocks.
pub(super) fn others(task: &Task<'_>) -> u64 {
    task.action_count() - task.block_count()
}

/// The slowest pace with which everything took `ran` ns together, or none if it took no more
/// without one.
fn slowest(paces: &[(f64, f64); CLASSES], ran: f64) -> Option<f64> {
    let mut faster: f64 = paces.iter().map(|(ns, _)| ns).sum();
    if faster <= ran {
        return None;
    }
    let (mut slow, mut pace) = (0.0, 0.0);
    for (ns, blocks) in paces.iter().rev().filter(|(_, blocks)| *blocks > 0.0) {
        if slow > 0.0 && pace >= ns / blocks {
            break;
        }
        faster -= ns;
        slow += blocks;
        pace = (ran - faster) / slow;
    }
    Some(pace.max(FASTEST_NS))
}

/// The moment that ends the stretch which the stretch that each moment ends is joined with.
fn with(moments: &[Progress]) -> Vec<usize> {
    let mut with: Vec<usize> = (0..moments.len()).collect();
    for at in (1..moments.len().saturating_sub(1)).rev() {
        let place = |one: &Progress| (one.executor, one.frame, one.record);
        let [before, own, next] = [at - 1, at, at + 1].map(|at| &moments[at]);
        let known = own.frame != FrameRef::default() && own.executor == next.executor;
        if known && place(before) == place(own) {
            with[at] = with[at + 1];
        }
    }
    with
}

/// How often blocks are executed.
pub(super) type Counted = Vec<(BlockId, u64)>;

/// A part of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaskPart {
    /// The number of the stretch that it is in, if that is known.
    pub(super) stretch: Option<u32>,
    /// Whether it is all of the task.
    pub(super) whole: bool,
    /// How long its executor ran meanwhile, ns; 0 if that was not measured although the run was.
    pub(super) ran_ns: u64,
}

impl Stretches {
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn of(graph: &Graph) -> Result<Self> {
        let moments: Vec<Progress> = graph.progress().collect();
        let executors = (0..graph.executor_count()).map(|executor| {
            let begin = moments.partition_point(|one| one.executor.index() < executor);
            let end = moments.partition_point(|one| one.executor.index() <= executor);
            begin..end
        });
        let executors = executors.collect();
        let mut frames: FxHashMap<FrameRef, Vec<(u32, usize)>> = FxHashMap::default();
        for (at, one) in moments.iter().enumerate() {
            if one.frame != FrameRef::default() {
                frames.entry(one.frame).or_default().push((one.record, at));
            }
        }
        frames.values_mut().for_each(|moments| moments.sort_unstable());
        let drawn = graph.sample().map(|sample| {
            let times = |code| match code {
                CodeOf::Drawn => u64::from(sample.every),
                CodeOf::Positions | CodeOf::Events => 1,
            };
            let frames = sample.frames.iter();
            frames.map(|&(frame, code)| (frame, times(code))).collect()
        });
        let joined = moments.len().div_ceil(MOST).next_power_of_two();
        let mut stretches = Self {
            executors,
            frames,
            with: with(&moments),
            shift: joined.trailing_zeros(),
            drawn,
            pace_ns: 0.0,
            slowest: FxHashMap::default(),
            moments,
        };
        if !stretches.moments.is_empty() {
            stretches.measure(graph)?;
        }
        Ok(stretches)
    }

    /// Finds out how fast executors were.
    fn measure(&mut self, graph: &Graph) -> Result<()> {
        let contexts: Vec<ContextId> = graph.contexts().map(|context| context.id).collect();
        let paces = contexts
            .par_chunks(TOGETHER)
            .try_fold(Paces::default, |mut paces, contexts| {
                let mut tasks = graph.walk_of(ContextId::default());
                for &context in contexts {
                    tasks.go_to(context);
                    while let Some(task) = tasks.next()? {
                        let works = matches!(task.kind(), TaskKind::Work | TaskKind::Create);
                        if works && task.has_all_code() {
                            self.pace(task, &mut paces);
                        }
                    }
                }
                anyhow::Ok(paces)
            })
            .try_reduce(Paces::default, |mut all, more| {
                for (moment, paces) in more {
                    let own = all.entry(moment).or_default();
                    for (own, more) in own.iter_mut().zip(paces) {
                        *own = (own.0 + more.0, own.1 + more.1);
                    }
                }
                Ok(all)
            })?;
        let (mut ns, mut blocks) = (0.0, 0.0);
        for one in paces.values().flatten() {
            (ns, blocks) = (ns + one.0, blocks + one.1);
        }
        self.pace_ns = ns / f64::max(blocks, 1.0);
        for own in &self.executors {
            for at in own.clone().skip(1) {
                let [before, now] = [&self.moments[at - 1], &self.moments[at]];
                let system = now.system_ns.saturating_sub(before.system_ns);
                let ran = now.ran_ns.saturating_sub(before.ran_ns);
                let user = ran.saturating_sub(system) as f64;
                let pace = paces.get(&at).and_then(|paces| slowest(paces, user));
                self.slowest.extend(pace.map(|pace| (at, pace)));
            }
        }
        Ok(())
    }

    /// Adds a task to the stretches that it is in.
    fn pace(&self, task: &Task<'_>, paces: &mut Paces) {
        let ns = task.duration_ns() as f64;
        if ns == 0.0 {
            return;
        }
        let blocks = amount(task);
        let class = (ns / blocks / FASTEST_NS).max(1.0).log(SLOWER);
        let class =
            usize::try_from(whole(class)).map_or(CLASSES - 1, |class| class.min(CLASSES - 1));
        let (own, mut at) = self.begin(task);
        let mut since = task.start_ns();
        while at < own.end && since < task.end_ns() {
            let until = self.moments[at].at_ns.min(task.end_ns());
            let part = (until - since) as f64;
            let paces = &mut paces.entry(at).or_default()[class];
            *paces = (paces.0 + part, paces.1 + blocks * part / ns);
            (at, since) = (at + 1, until);
        }
    }

    /// The number of the stretch that a moment ends, once neighbours are joined. A stretch in which
    /// no record ended is joined with the next one: a record ends after the calls in it.
    fn number(&self, moment: usize) -> u32 {
        let with = self.with.get(moment).copied().unwrap_or(moment);
        index(with >> self.shift)
    }

    /// Whether a task has moments inside, and so several parts.
    fn divide(&self, task: &Task<'_>) -> bool {
        let spans = task.spans();
        let last = spans.len().saturating_sub(1);
        (0..).zip(spans).any(|(at, span)| !self.inside(span, at == last).is_empty())
    }

    /// Whether a task's own counts are all that there is to know of its code.
    pub(super) fn is_simple(&self, task: &Task<'_>) -> bool {
        task.has_all_code() && !self.divide(task)
    }

    /// The parts of a task in the stretches that it was executed in, and how often each executes
    /// the blocks; or nothing if its own counts are all that there is to know.
    pub(super) fn parts(&self, task: &Task<'_>) -> Result<Vec<(TaskPart, Counted)>> {
        if self.is_simple(task) {
            return Ok(Vec::new());
        }
        let (own, begin) = self.begin(task);
        // Each part ends with a moment. The last one belongs to the stretch that the moment after
        // it ends.
        let mut parts: Vec<(RangeInclusive<usize>, Vec<FrameSpan>)> = Vec::new();
        let mut open: Vec<FrameSpan> = Vec::new();
        let (mut first, mut last) = (begin, begin);
        let spans = task.spans();
        for (at, span) in (1..).zip(spans) {
            let mut rest = *span;
            for &(record, moment) in self.inside(span, at == spans.len()) {
                last = moment + 1;
                let records = record - rest.first_record;
                if records == 0 && open.is_empty() {
                    continue;
                }
                open.push(FrameSpan { records, ..rest });
                rest.first_record += records;
                rest.records -= records;
                parts.push((first..=moment, std::mem::take(&mut open)));
                first = moment + 1;
            }
            open.push(rest);
        }
        parts.push((first..=last.max(first), open));
        // The task's time may have nothing of what others took, and then does not begin where the
        // last one ended.
        let ran = |part: &(RangeInclusive<usize>, _)| -> u64 {
            let ran = part.0.clone().map(|moment| self.ran(&own, moment));
            ran.sum()
        };
        let mut times: Vec<u64> = parts.iter().map(ran).collect();
        if let Some(after) = times.last_mut() {
            let since = match parts.len() {
                1 => task.duration_ns(),
                _ => (task.end_ns()).saturating_sub(self.moments[first - 1].at_ns),
            };
            *after = since.min(if *after == 0 { u64::MAX } else { *after });
        }
        let rest: u64 = times.iter().skip(1).sum();
        if parts.len() > 1
            && let Some(before) = times.first_mut()
        {
            let rest = task.duration_ns().saturating_sub(rest);
            let until = self.moments[*parts[0].0.end()].at_ns;
            let wall = until.checked_sub(task.start_ns());
            let most = Some(*before).filter(|&ran| ran > 0).or(wall);
            *before = rest.min(most.unwrap_or(rest));
        }
        let counted = parts.par_iter().zip(times).map(|((moments, spans), ran_ns)| {
            let part = self.part(self.stretch(&own, *moments.end()), false, ran_ns);
            Ok((part, self.count(task, spans)?))
        });
        counted.collect()
    }

    /// How often spans of a task execute each block.
    fn count(&self, task: &Task<'_>, spans: &[FrameSpan]) -> Result<Counted> {
        let Some(drawn) = self.drawn.as_ref().filter(|_| !task.has_all_code()) else {
            return Ok(count_spans(task, spans)?.iter().collect());
        };
        let mut counted = BlockCounts::new();
        for span in spans {
            if let Some(&each) = drawn.get(&span.frame) {
                let counts = count_spans(task, std::slice::from_ref(span))?;
                for (block, times) in counts.iter() {
                    counted.add(block, times.saturating_mul(each));
                }
            }
        }
        Ok(counted.iter().collect())
    }

    /// All of a task whose counts are all that there is to know.
    pub(super) fn whole(&self, task: &Task<'_>) -> TaskPart {
        let (own, begin) = self.begin(task);
        let ran_ns = self.most_ran(task, task.start_ns());
        self.part(self.stretch(&own, begin), true, ran_ns)
    }

    fn part(&self, stretch: Option<u32>, whole: bool, ran_ns: u64) -> TaskPart {
        let known = stretch.is_some() || self.moments.is_empty();
        TaskPart { stretch, whole, ran_ns: if known { ran_ns } else { 0 } }
    }

    /// The moments of a task's executor, and the first one after the task begins.
    fn begin(&self, task: &Task<'_>) -> (Range<usize>, usize) {
        let own = self.executors.get(task.executor().index()).cloned();
        let own = own.unwrap_or_default();
        let before = |one: &Progress| one.at_ns <= task.start_ns();
        let begin = own.start + self.moments[own.clone()].partition_point(before);
        (own, begin)
    }

    /// The number of the stretch that a moment ends. Nothing is known before the first moment of
    /// the executor whose moments are `own`, and after its last.
    fn stretch(&self, own: &Range<usize>, moment: usize) -> Option<u32> {
        let known = own.start < moment && moment < own.end;
        known.then(|| self.number(moment))
    }

    /// How long the executor ran in the stretch that a moment ends, ns; 0 if that is not known.
    fn ran(&self, own: &Range<usize>, moment: usize) -> u64 {
        match own.start < moment && moment < own.end {
            true => {
                let before = self.moments[moment - 1].ran_ns;
                self.moments[moment].ran_ns.saturating_sub(before)
            }
            false => 0,
        }
    }

    /// The moments within a span. Those at its end are after the last one of a task.
    fn inside(&self, span: &FrameSpan, last: bool) -> &[(u32, usize)] {
        let Some(moments) = self.frames.get(&span.frame) else {
            return &[];
        };
        let end = span.first_record.saturating_add(span.records);
        let begin = moments.partition_point(|one| one.0 <= span.first_record);
        let end = moments.partition_point(|one| one.0 < end || one.0 == end && !last);
        moments.get(begin..end).unwrap_or(&[])
    }

    /// How long a task's executor can have run at most from a time to the task's end, ns.
    pub(super) fn most_ran(&self, task: &Task<'_>, from_ns: u64) -> u64 {
        let blocks = match task.has_all_code() {
            true => amount(task),
            false => task.duration_ns() as f64 / self.pace_ns.max(FASTEST_NS),
        };
        self.most_within(task.executor(), (from_ns, task.end_ns()), (blocks, task.duration_ns()))
    }

    /// Number of executors of which the kernel said something.
    pub(super) fn executors(&self) -> u64 {
        self.executors.iter().filter(|own| !own.is_empty()).count() as u64
    }

    /// Number of processors on which executors were most of the time that they ran. `None` if that
    /// is not known.
    pub(super) fn processors(&self) -> Option<u32> {
        let mut on: Sums<u32> = FxHashMap::default();
        for own in &self.executors {
            for [before, one] in self.moments[own.clone()].array_windows() {
                let ran = one.ran_ns.saturating_sub(before.ran_ns);
                *on.entry(one.processor).or_default() += ran as f64;
            }
        }
        let all: f64 = on.values().sum();
        let known = all > 0.0 && !on.contains_key(&UNKNOWN);
        known.then(|| index(on.values().filter(|ran| **ran > all * SELDOM).count()))
    }

    /// How long an executor ran between two times as far as the kernel says it, ns: between two
    /// moments as much at each time.
    pub(super) fn ran_between(&self, executor: ExecutorId, (from_ns, to_ns): (u64, u64)) -> f64 {
        let own = self.executors.get(executor.index());
        let moments = &self.moments[own.cloned().unwrap_or_default()];
        let begin = moments.partition_point(|one| one.at_ns <= from_ns).saturating_sub(1);
        let pairs = moments[begin..].array_windows();
        let ran = pairs.take_while(|[before, _]| before.at_ns < to_ns).map(|[before, one]| {
            let until = one.at_ns.min(to_ns);
            let part = until.saturating_sub(before.at_ns.max(from_ns));
            let ran = one.ran_ns.saturating_sub(before.ran_ns) as f64;
            ran * ratio(part, one.at_ns - before.at_ns)
        });
        ran.sum()
    }

    /// The same for an executor, between two times, if it executed so many blocks in `ns`.
    fn most_within(
        &self,
        executor: ExecutorId,
        (from_ns, to_ns): (u64, u64),
        (blocks, ns): (f64, u64),
    ) -> u64 {
        let own = self.executors.get(executor.index());
        let own = own.cloned().unwrap_or_default();
        let moments = &self.moments[own.clone()];
        let begin = moments.partition_point(|one| one.at_ns <= from_ns);
        let end = moments.partition_point(|one| one.at_ns < to_ns);
        let (mut ran, mut since) = (0, from_ns);
        for (at, one) in (begin..).zip(&moments[begin..moments.len().min(end + 1)]) {
            let until = one.at_ns.min(to_ns);
            let mut most = until - since;
            if let Some(before) = at.checked_sub(1).map(|before| &moments[before]) {
                most = most.min(one.ran_ns.saturating_sub(before.ran_ns));
                if let Some(slowest) = self.slowest.get(&(own.start + at)) {
                    let part = blocks * (until - since) as f64 / ns.max(1) as f64;
                    let system = one.system_ns.saturating_sub(before.system_ns);
                    most = most.min(whole(part * slowest).saturating_add(system));
                }
            }
            ran += most;
            since = until;
        }
        ran + to_ns.saturating_sub(since)
    }

    /// What the kernel counted in each stretch, by number.
    pub(super) fn counted(&self, of: impl Fn(&Progress) -> u64) -> Sums<u32> {
        let mut counted: Sums<u32> = FxHashMap::default();
        for own in &self.executors {
            for at in own.clone().skip(1) {
                let more = of(&self.moments[at]).saturating_sub(of(&self.moments[at - 1]));
                *counted.entry(self.number(at)).or_default() += more as f64;
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_ran_no_longer_than_the_kernel_says() {
        let moment = |(at_ns, ran_ns)| Progress { at_ns, ran_ns, ..Progress::default() };
        let moments: Vec<Progress> = [(100, 0), (110, 10), (130, 12)].map(moment).to_vec();
        let stretches = Stretches {
            executors: std::iter::once(0..moments.len()).collect(),
            moments,
            ..Stretches::default()
        };
        let ran =
            |from, to| stretches.most_within(ExecutorId::new(0), (from, to), (1.0, to - from));
        assert_eq!(ran(100, 130), 12);
        assert_eq!(ran(105, 130), 7);
        assert_eq!(ran(112, 113), 1);
        assert_eq!(ran(120, 140), 12, "2, and 10 of which nothing is known");
        assert_eq!(ran(90, 105), 15, "nothing is known before the first moment");
        let known = |from, to| stretches.ran_between(ExecutorId::new(0), (from, to));
        assert_eq!([known(100, 130), known(105, 120), known(90, 105)], [12.0, 6.0, 5.0]);
        assert_eq!([known(125, 200), known(130, 200)], [0.5, 0.0], "after the last moment");
        let other = ExecutorId::new(1);
        assert_eq!(stretches.most_within(other, (100, 130), (1.0, 30)), 30);
    }

    #[test]
    fn threads_keep_to_the_processors_on_which_they_ran_most_of_the_time() {
        let on = |processors: [u32; 64]| {
            let moments = (0..).zip(processors).map(|(at, processor)| Progress {
                at_ns: at,
                ran_ns: at,
                processor,
                ..Progress::default()
            });
            let moments: Vec<Progress> = moments.collect();
            let executors = std::iter::once(0..moments.len()).collect();
            Stretches { executors, moments, ..Stretches::default() }.processors()
        };
        assert_eq!(on([3; 64]), Some(1));
        assert_eq!(on(std::array::from_fn(|at| u32::from(at > 50))), Some(2));
        assert_eq!(on([UNKNOWN; 64]), None);
        assert_eq!(Stretches::default().processors(), None);
    }

    #[test]
    fn a_stretch_in_which_no_record_ended_is_joined_with_the_next_one() {
        let moment = |(executor, record)| Progress {
            executor: ExecutorId::new(executor),
            frame: FrameRef(1),
            record,
            ..Progress::default()
        };
        let all = [(0, 1), (0, 4), (0, 4), (0, 4), (0, 6), (1, 6), (1, 6)];
        let moments: Vec<Progress> = all.map(moment).to_vec();
        assert_eq!(with(&moments), [0, 1, 4, 4, 4, 5, 6]);
    }

    #[test]
    fn what_was_interrupted_took_no_longer_than_its_pace() {
        // 1,000 blocks in 1 us, and 8 in 10 ms because another program had the processor.
        let mut paces = [(0.0, 0.0); CLASSES];
        paces[4] = (1000.0, 1000.0);
        paces[14] = (1e7, 8.0);
        assert_eq!(slowest(&paces, 2e7), None);
        assert_eq!(slowest(&paces, 1800.0), Some(100.0));
        // Less than the first ones took.
        assert_eq!(slowest(&paces, 504.0), Some(0.5));
    }
}
