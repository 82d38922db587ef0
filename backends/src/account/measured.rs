//! What code takes by measurement: about a thousand times a second each executor noted where it was, and what the kernel
//! said of its time. What it executed between two such moments (a *stretch*) is known exactly, and so is how long the
//! stretch ran. The time of an execution of each block is the one that explains all stretches best.
//!
//! If block b took m(b) for each of its N(s, b) executions in stretch s, the stretch would take their sum t'(s), and it
//! took t(s). The times that make what was measured most likely are found step by step (expectation maximisation, which
//! is the method of Richardson and Lucy, 1972 and 1974): m(b) is multiplied by the mean of t(s) / t'(s) over the
//! executions of b. Where little is known of a block, it keeps the pace of all code.

use std::ops::Range;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{BlockCounts, BlockId, ExecutorId, FrameRef, FrameSpan, Progress, StaticInfo};

use crate::analysis::source::Place;
use crate::analysis::{Graph, Task, is_operation};

/// More stretches than this are joined, neighbours first.
const MOST: usize = 4096;
/// Tasks are told apart by the blocks that they execute, in so many kinds.
const KINDS: u32 = 4096;
/// Steps of the estimate.
const STEPS: usize = 64;
/// A block that would take so long (ns) by the pace of all code keeps that pace as long as nothing else is known of it.
const KNOWN_NS: f64 = 10_000.0;
/// Instructions that a call of code that was not recorded takes the time of, if nothing was measured. Synchronisation has
/// times of its own.
pub(super) const CALL: u64 = 50;
/// Instructions that take as long as a page fault, to begin with.
const FAULT: f64 = 1000.0;

/// The stretches of a run.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    moments: Vec<Progress>,
    /// The moments of each executor.
    executors: Vec<Range<usize>>,
    /// The moments in each frame: number of records before, and the moment.
    frames: FxHashMap<FrameRef, Vec<(u32, usize)>>,
    /// As many stretches are joined, as a power of two.
    shift: u32,
}

/// A part of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// The number of the stretch that it is in, if that is known.
    pub(super) stretch: Option<u32>,
    /// Whether it is all of the task.
    pub(super) whole: bool,
    /// How long its executor ran meanwhile, ns.
    pub(super) ran_ns: u64,
}

impl Stretches {
    pub(super) fn of(graph: &Graph) -> Self {
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
        frames
            .values_mut()
            .for_each(|moments| moments.sort_unstable());
        let joined = moments.len().div_ceil(MOST).next_power_of_two();
        Self {
            moments,
            executors,
            frames,
            shift: joined.trailing_zeros(),
        }
    }

    fn number(&self, moment: usize) -> u32 {
        u32::try_from(moment >> self.shift).unwrap_or(u32::MAX)
    }

    /// Calls `f` with the parts of a task in the stretches that it was executed in. `counts` are those of all of it.
    pub(super) fn of_task(
        &self,
        task: &Task<'_>,
        counts: &BlockCounts,
        mut f: impl FnMut(Part, &[(BlockId, u64)]),
    ) -> Result<()> {
        let own = self.executors.get(task.executor().index()).cloned();
        let own = own.unwrap_or_default();
        let moments = &self.moments[own.clone()];
        let begin = own.start + moments.partition_point(|one| one.at_ns <= task.start_ns());
        if task.spans().iter().all(|span| self.inside(span).is_empty()) {
            let part = Part {
                stretch: self.stretch(&own, begin),
                whole: true,
                ran_ns: task.duration_ns(),
            };
            f(part, &counts.iter().collect::<Vec<_>>());
            return Ok(());
        }
        // Each part ends with a moment. The last one belongs to the stretch that the moment after it ends.
        let mut parts: Vec<(usize, Vec<(BlockId, u64)>)> = Vec::new();
        let mut open: Vec<FrameSpan> = Vec::new();
        let mut last = begin;
        for span in task.spans() {
            let mut rest = *span;
            for &(record, moment) in self.inside(span) {
                let records = record - rest.first_record;
                open.push(FrameSpan { records, ..rest });
                rest.first_record += records;
                rest.records -= records;
                parts.push((moment, blocks_in(task, open.drain(..))?));
                last = moment + 1;
            }
            open.push(rest);
        }
        parts.push((last, blocks_in(task, open.drain(..))?));
        // The task's time may have nothing of what others took, and then does not begin where the last one ended.
        let mut times: Vec<u64> = parts.iter().map(|part| self.ran(&own, part.0)).collect();
        if let Some(after) = times.last_mut() {
            let since = task.end_ns().saturating_sub(self.moments[last - 1].at_ns);
            *after = since.min(if *after == 0 { u64::MAX } else { *after });
        }
        let rest: u64 = times.iter().skip(1).sum();
        if let Some(before) = times.first_mut() {
            let rest = task.duration_ns().saturating_sub(rest);
            let wall = self.moments[parts[0].0].at_ns.checked_sub(task.start_ns());
            let most = Some(*before).filter(|&ran| ran > 0).or(wall);
            *before = rest.min(most.unwrap_or(rest));
        }
        for ((moment, blocks), ran_ns) in parts.iter().zip(times) {
            let part = Part {
                stretch: self.stretch(&own, *moment),
                whole: false,
                ran_ns,
            };
            f(part, blocks);
        }
        Ok(())
    }

    /// The number of the stretch that a moment ends. Nothing is known before the first moment of the executor whose moments
    /// are `own`, and after its last.
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

    /// The moments within a span.
    fn inside(&self, span: &FrameSpan) -> &[(u32, usize)] {
        let Some(moments) = self.frames.get(&span.frame) else {
            return &[];
        };
        let end = span.first_record.saturating_add(span.records);
        let begin = moments.partition_point(|one| one.0 <= span.first_record);
        let end = moments.partition_point(|one| one.0 < end);
        moments.get(begin..end).unwrap_or(&[])
    }

    /// How long an executor can have run at most between two times, ns.
    pub(super) fn most_ran(&self, executor: ExecutorId, from_ns: u64, to_ns: u64) -> u64 {
        let own = self.executors.get(executor.index());
        let moments = own.map_or(&[][..], |own| &self.moments[own.clone()]);
        let begin = moments.partition_point(|one| one.at_ns <= from_ns);
        let end = moments.partition_point(|one| one.at_ns < to_ns);
        let mut before: Option<&Progress> = moments[..begin].last();
        let (mut ran, mut since) = (0, from_ns);
        for one in moments[begin..end].iter().chain(moments.get(end)) {
            let until = one.at_ns.min(to_ns);
            let counted = before.map(|before| one.ran_ns.saturating_sub(before.ran_ns));
            ran += (until - since).min(counted.unwrap_or(u64::MAX));
            (before, since) = (Some(one), until);
        }
        ran + to_ns.saturating_sub(since)
    }

    /// What the kernel counted in each stretch, by number.
    fn counted(&self, of: impl Fn(&Progress) -> u64) -> FxHashMap<u32, f64> {
        let mut counted: FxHashMap<u32, f64> = FxHashMap::default();
        for own in &self.executors {
            for at in own.clone().skip(1) {
                let more = of(&self.moments[at]).saturating_sub(of(&self.moments[at - 1]));
                *counted.entry(self.number(at)).or_default() += more as f64;
            }
        }
        counted
    }
}

/// The blocks that some parts of a task's spans execute.
fn blocks_in(
    task: &Task<'_>,
    parts: impl Iterator<Item = FrameSpan>,
) -> Result<Vec<(BlockId, u64)>> {
    let (mut sum, mut one) = (BlockCounts::new(), BlockCounts::new());
    for part in parts.filter(|part| part.records > 0) {
        task.count_blocks_in(part, &mut one)?;
        one.iter().for_each(|(block, times)| sum.add(block, times));
    }
    Ok(sum.iter().collect())
}

/// How much of what things cost is in each stretch, by stretch and thing.
pub(super) type Amounts<T> = FxHashMap<(u32, T), f64>;

/// What was executed, in instructions ([`super::weights::Work`]) of each block.
#[derive(Debug, Default)]
pub(super) struct Executed {
    /// In each stretch. It tells what time in the kernel is for.
    stretches: Amounts<BlockId>,
    /// In tasks that execute the same blocks, and in the parts of tasks that were divided; and how long these ran, ns.
    /// It tells how long blocks take.
    tasks: Amounts<BlockId>,
    ran: FxHashMap<u32, f64>,
}

impl Executed {
    /// Adds a part of a task. `ran` says whether the task's time is that of its blocks.
    pub(super) fn add(
        &mut self,
        part: Part,
        ran: bool,
        blocks: impl Iterator<Item = (BlockId, u64)> + Clone,
    ) {
        if let Some(stretch) = part.stretch {
            for (block, amount) in blocks.clone() {
                *self.stretches.entry((stretch, block)).or_default() += amount as f64;
            }
        }
        if !ran || part.ran_ns == 0 {
            return;
        }
        let number = match (part.whole, part.stretch) {
            (false, Some(stretch)) => KINDS + stretch,
            // Tasks that have the number in common by chance do no harm: their sums are as true.
            _ => {
                blocks.clone().fold(0, |sum: u32, (block, _)| {
                    let mixed = (block.get().wrapping_add(1)).wrapping_mul(0x9e37_79b1);
                    sum.wrapping_add(mixed ^ mixed >> 15)
                }) % KINDS
            }
        };
        *self.ran.entry(number).or_default() += part.ran_ns as f64;
        for (block, amount) in blocks {
            *self.tasks.entry((number, block)).or_default() += amount as f64;
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        let both = [
            (&mut self.stretches, other.stretches),
            (&mut self.tasks, other.tasks),
        ];
        for (own, more) in both {
            for (key, amount) in more {
                *own.entry(key).or_default() += amount;
            }
        }
        for (key, ns) in other.ran {
            *self.ran.entry(key).or_default() += ns;
        }
    }
}

/// What was measured of the code of a run.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// How long an instruction of each block takes, ns, and one of all code.
    each_ns: FxHashMap<BlockId, f64>,
    pace_ns: f64,
    /// Instructions of each block.
    amounts: FxHashMap<BlockId, f64>,
    /// Time in the kernel that is not for page faults, by the block with the call, ns.
    pub(super) system: FxHashMap<BlockId, f64>,
    /// Time in the kernel for page faults, and their number.
    pub(super) faults_ns: f64,
    pub(super) faults: f64,
    /// The part of the faults that code has, by the block.
    pub(super) faulting: FxHashMap<BlockId, f64>,
}

/// What costs time in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    Call(BlockId),
    Faults,
    /// Those of the recording itself.
    OwnFaults,
}

/// What a run's time in the kernel was for.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// Calls of the system, ns, and where most of it was spent.
    pub(super) system_ns: f64,
    pub(super) system: Option<Place>,
    /// Calls that ask for memory or give it back, ns.
    pub(super) memory_ns: f64,
    /// Page faults, ns, and their number.
    pub(super) faults_ns: f64,
    pub(super) faults: f64,
    pub(super) code: Vec<Code>,
}

/// A block that accesses memory and calls nothing that was not recorded.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// The lines of its accesses.
    pub(super) places: Vec<Place>,
    /// How long it took without page faults, ns.
    pub(super) ns: f64,
    /// Its instructions.
    pub(super) instructions: f64,
}

impl Measured {
    /// What the stretches say of what was executed in them. `calls` is how many instructions an execution of a block counts
    /// as, if it calls code that was not recorded. `None` if nothing was measured.
    pub(super) fn of(
        stretches: &Stretches,
        executed: &Executed,
        calls: impl Fn(BlockId) -> Option<u64>,
    ) -> Option<Self> {
        let (ran, blocks) = (&executed.ran, &executed.tasks);
        let each_ns = explain(blocks, ran, KNOWN_NS)?;
        let mut amounts: FxHashMap<BlockId, f64> = FxHashMap::default();
        for (&(_, block), amount) in blocks {
            *amounts.entry(block).or_default() += amount;
        }
        let all: f64 = amounts.values().sum();
        let mut measured = Self {
            each_ns,
            pace_ns: ran.values().sum::<f64>() / all.max(1.0),
            amounts,
            ..Self::default()
        };
        let faults = stretches.counted(|one| one.faults.saturating_sub(one.own_faults));
        let own_faults = stretches.counted(|one| one.own_faults);
        measured.faults = faults.values().sum();
        if let Some(each) = explain(&executed.stretches, &faults, 1.0) {
            measured.faulting = sums(&executed.stretches, &faults, &each);
        }
        let system = stretches.counted(|one| one.system_ns);
        let mut amounts: Amounts<Thing> = FxHashMap::default();
        for (&(stretch, block), &amount) in &executed.stretches {
            // A call of the system takes as long whatever the block does beside it.
            if let Some(each) = calls(block) {
                let times = amount / each as f64 * CALL as f64;
                *amounts.entry((stretch, Thing::Call(block))).or_default() += times;
            }
        }
        for (thing, faults) in [(Thing::Faults, &faults), (Thing::OwnFaults, &own_faults)] {
            for (&stretch, &faults) in faults {
                // As many instructions as a page fault takes the time of.
                amounts.insert((stretch, thing), faults * FAULT);
            }
        }
        let each = explain(&amounts, &system, KNOWN_NS).unwrap_or_default();
        for (thing, ns) in sums(&amounts, &system, &each) {
            match thing {
                Thing::Faults => measured.faults_ns = ns,
                Thing::OwnFaults => {}
                Thing::Call(block) => {
                    measured.system.insert(block, ns);
                }
            }
        }
        Some(measured)
    }

    /// Divides times that were divided among blocks by their instructions anew. Their sum stays what it is.
    pub(super) fn divide<'a>(&self, times: impl Iterator<Item = (BlockId, &'a mut f64)>) {
        let (mut before, mut after) = (0.0, 0.0);
        let times: Vec<&mut f64> = times
            .map(|(block, ns)| {
                before += *ns;
                *ns *= self.each_ns.get(&block).unwrap_or(&self.pace_ns);
                after += *ns;
                ns
            })
            .collect();
        if after > 0.0 {
            times.into_iter().for_each(|ns| *ns *= before / after);
        }
    }

    /// The blocks that access memory.
    fn code(&self, info: &StaticInfo, calls: &impl Fn(BlockId) -> bool) -> Vec<Code> {
        let code = |(block, each): (&BlockId, &f64)| {
            let own = info.block(*block).filter(|_| !calls(*block))?;
            let place = Place::of_function(info, own.function);
            let lines = info.ops_of(*block).iter().map(|op| op.line);
            let mut places: Vec<Place> = lines
                .map(|line| Place {
                    line,
                    ..place.clone()
                })
                .collect();
            places.sort_unstable();
            places.dedup();
            let instructions = self.amounts.get(block).copied().unwrap_or(0.0);
            let faults = self.faulting.get(block).copied().unwrap_or(0.0);
            let faults_ns = self.faults_ns * faults / self.faults.max(1.0);
            (!places.is_empty()).then_some(Code {
                places,
                ns: (each * instructions - faults_ns).max(0.0),
                instructions,
            })
        };
        self.each_ns.iter().filter_map(code).collect()
    }
}

/// Functions that Rust's library makes its locks of.
const RUST: [&str; 2] = ["syscall", "futex"];
/// How names of functions begin that ask for memory or give it back.
const MEMORY: [&str; 12] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "mmap",
    "munmap",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "_Zn",
    "_Zd",
    "__rust_",
];

impl Kernel {
    /// What was measured, by what the program did.
    pub(super) fn of(
        measured: &Measured,
        info: &StaticInfo,
        calls: impl Fn(BlockId) -> bool,
    ) -> Self {
        let mut kernel = Self {
            faults_ns: measured.faults_ns,
            faults: measured.faults,
            code: measured.code(info, &calls),
            ..Self::default()
        };
        let mut most = 0.0;
        for (&block, &ns) in &measured.system {
            let call = info.block(block).and_then(|block| block.call.as_ref());
            let callee = call.map_or("", |call| call.callee.as_str());
            // The time of an operation is in the graph.
            if is_operation(callee) || RUST.contains(&callee) {
                continue;
            }
            if MEMORY.iter().any(|start| callee.starts_with(start)) {
                kernel.memory_ns += ns;
                continue;
            }
            kernel.system_ns += ns;
            if ns > most {
                most = ns;
                kernel.system = Place::of_call(info, block).map(|call| call.0);
            }
        }
        kernel
    }
}

/// What each thing costs in all stretches.
fn sums<T: Copy + Eq + std::hash::Hash>(
    amounts: &Amounts<T>,
    counted: &FxHashMap<u32, f64>,
    each: &FxHashMap<T, f64>,
) -> FxHashMap<T, f64> {
    let mut expected: FxHashMap<u32, f64> = FxHashMap::default();
    let cost = |thing: &T, amount: f64| each.get(thing).map_or(0.0, |each| each * amount);
    for ((stretch, thing), &amount) in amounts {
        *expected.entry(*stretch).or_default() += cost(thing, amount);
    }
    let mut sums = FxHashMap::default();
    for ((stretch, thing), &amount) in amounts {
        let (Some(&counted), Some(&expected)) = (counted.get(stretch), expected.get(stretch))
        else {
            continue;
        };
        if expected > 0.0 {
            *sums.entry(*thing).or_default() += cost(thing, amount) * counted / expected;
        }
    }
    sums
}

/// How many times the pace of all things each one costs, so that the stretches cost what was counted. `None` if nothing
/// was.
fn explain<T: Copy + Eq + std::hash::Hash>(
    amounts: &Amounts<T>,
    counted: &FxHashMap<u32, f64>,
    known: f64,
) -> Option<FxHashMap<T, f64>> {
    // Stretches and things get numbers.
    let mut things: FxHashMap<T, usize> = FxHashMap::default();
    let mut stretches: FxHashMap<u32, usize> = FxHashMap::default();
    let mut costs = Vec::new();
    let mut entries = Vec::new();
    for (&(stretch, thing), &amount) in amounts {
        let Some(&cost) = counted.get(&stretch).filter(|_| amount > 0.0) else {
            continue;
        };
        let next = things.len();
        let thing = *things.entry(thing).or_insert(next);
        let at = *stretches.entry(stretch).or_insert_with(|| {
            costs.push(cost);
            costs.len() - 1
        });
        entries.push((at, thing, amount));
    }
    let all: f64 = entries.iter().map(|entry| entry.2).sum();
    let pace = costs.iter().sum::<f64>() / all;
    if !pace.is_finite() || pace <= 0.0 {
        return None;
    }
    let known = known / pace;
    let mut sums = vec![0.0; things.len()];
    for &(_, thing, amount) in &entries {
        sums[thing] += amount;
    }
    let mut each = vec![pace; things.len()];
    for _ in 0..STEPS {
        let mut expected = vec![0.0; costs.len()];
        for &(stretch, thing, amount) in &entries {
            expected[stretch] += each[thing] * amount;
        }
        let mut more = vec![0.0; things.len()];
        for &(stretch, thing, amount) in &entries {
            if expected[stretch] > 0.0 {
                more[thing] += amount * costs[stretch] / expected[stretch];
            }
        }
        for (thing, each) in each.iter_mut().enumerate() {
            *each = (*each * more[thing] + pace * known) / (sums[thing] + known);
        }
    }
    Some(
        things
            .into_iter()
            .map(|(thing, at)| (thing, each[at]))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_things_cost_is_found_from_stretches_that_hold_several_of_them() {
        // A costs 1 and B 10. Of stretch 9 nothing was counted.
        let amounts: Amounts<char> = [
            ((0, 'a'), 10.0),
            ((0, 'b'), 10.0),
            ((1, 'a'), 50.0),
            ((1, 'b'), 10.0),
            ((2, 'a'), 30.0),
            ((9, 'a'), 1e6),
        ]
        .into_iter()
        .collect();
        let counted = [(0, 110.0), (1, 150.0), (2, 30.0)].into_iter().collect();
        let each = explain(&amounts, &counted, 0.0).unwrap();
        assert!((each[&'a'] - 1.0).abs() < 0.05, "{each:?}");
        assert!((each[&'b'] - 10.0).abs() < 0.5, "{each:?}");
        let sums = sums(&amounts, &counted, &each);
        assert!(
            (sums.values().sum::<f64>() - 290.0).abs() < 1e-6,
            "{sums:?}"
        );
        let unknown = explain(&amounts, &counted, 1e9).unwrap();
        assert!((unknown[&'a'] - unknown[&'b']).abs() < 0.1, "{unknown:?}");
        assert_eq!(explain(&amounts, &FxHashMap::default(), 0.0), None);
    }

    #[test]
    fn an_executor_ran_no_longer_than_the_kernel_says() {
        let moment = |(at_ns, ran_ns)| Progress {
            at_ns,
            ran_ns,
            ..Progress::default()
        };
        let moments: Vec<Progress> = [(100, 0), (110, 10), (130, 12)].map(moment).to_vec();
        let stretches = Stretches {
            executors: std::iter::once(0..moments.len()).collect(),
            moments,
            ..Stretches::default()
        };
        let ran = |from, to| stretches.most_ran(ExecutorId::new(0), from, to);
        assert_eq!(ran(100, 130), 12);
        assert_eq!(ran(105, 130), 7);
        assert_eq!(ran(112, 113), 1);
        assert_eq!(ran(120, 140), 12, "2, and 10 of which nothing is known");
        assert_eq!(ran(90, 105), 15, "nothing is known before the first moment");
        assert_eq!(stretches.most_ran(ExecutorId::new(1), 100, 130), 30);
    }
}
