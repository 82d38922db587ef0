//! What each executor did over time, in bins.

use std::ops::Range;

use anyhow::Result;
use taskgraph::{BlockId, ExecutorId, TaskId};

use super::timeline::bins;
use crate::analysis::{CAUSES, Cause, Change, Graph, State, end_of};
use crate::view::chart::{ActivityRow, ActivityState};

/// The most lanes. Of more executors, neighbours share one.
const LANES: usize = 100;
/// The most bins of all lanes, and of one.
const BINS: u64 = 40_000;
const WIDEST: u64 = 1000;
/// The name of the context that creates the ranks of an MPI run.
const ROOT: &str = "mpi_ranks";

/// What an executor did for the longest part of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it did.
    pub state: State,
    /// The task it did that in, or before.
    pub task: TaskId,
    /// The block whose call it was in, if that is known.
    pub call: Option<BlockId>,
}

/// A part of the time of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// Nanoseconds of waiting, by cause, and of running.
    ns: [u64; CAUSES + 1],
    /// The longest part, and how long it is.
    most: Option<(u64, Seen)>,
}

/// One executor on its way through the run.
#[derive(Clone, Debug, Default)]
struct ExecutorWalk {
    /// The contexts that it executes, each with what it does. Those that came last are last.
    doing: Vec<(usize, Seen)>,
    /// Until when its time is known.
    at_ns: u64,
    /// Whose thread it is: the first context that it executed.
    name: Option<String>,
}

/// What executors do, followed from change to change.
#[derive(Clone, Debug, Default)]
pub struct Doing {
    executors: Vec<ExecutorWalk>,
    /// For each context that has tasks, who executes it.
    of: Vec<Option<usize>>,
}

impl Doing {
    /// The executors of a graph before its run.
    pub fn new(graph: &Graph) -> Self {
        Self { executors: vec![ExecutorWalk::default(); graph.executor_count()], of: Vec::new() }
    }

    /// Follows a change. What an executor did until then is given to `did`: which executor, when
    /// (ns), the number of the context (that of [`Change::context`]) and what it did.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn change(
        &mut self,
        change: &Change<'_>,
        mut did: impl FnMut(usize, Range<u64>, (usize, Seen)) -> Result<()>,
    ) -> Result<()> {
        if self.of.len() <= change.context {
            self.of.resize(change.context + 1, None);
        }
        if let Some(before) = self.of[change.context].take() {
            self.until(before, change.at_ns, &mut did)?;
            let doing = &mut self.executors[before].doing;
            doing.retain(|(context, _)| *context != change.context);
        }
        let (Some(state), Some(task)) = (change.to, change.task) else {
            return Ok(());
        };
        let executor = task.executor().index();
        if executor >= self.executors.len() {
            return Ok(());
        }
        self.until(executor, change.at_ns, &mut did)?;
        let way = &mut self.executors[executor];
        if way.name.is_none() {
            let context = task.graph().context(task.id().context);
            way.name = Some(context.map_or_else(String::new, |context| context.name));
        }
        let seen = Seen { state, task: task.id(), call: change.call.and_then(|call| call.block()) };
        way.doing.push((change.context, seen));
        self.of[change.context] = Some(executor);
        Ok(())
    }

    /// An executor one of whose contexts runs does that; otherwise it waits as the context does
    /// that began to wait last.
    fn until(
        &mut self,
        executor: usize,
        until_ns: u64,
        did: &mut impl FnMut(usize, Range<u64>, (usize, Seen)) -> Result<()>,
    ) -> Result<()> {
        let way = &mut self.executors[executor];
        let from_ns = way.at_ns;
        way.at_ns = from_ns.max(until_ns);
        let running = |(_, seen): &&(usize, Seen)| seen.state == State::Running;
        let doing = way.doing.iter().rev().find(running).or(way.doing.last());
        match doing {
            Some(&doing) if from_ns < until_ns => did(executor, from_ns..until_ns, doing),
            _ => Ok(()),
        }
    }

    /// What an executor is called: the rank of its process, its number, and the name that its
    /// thread has.
    pub fn name(&self, graph: &Graph, executor: ExecutorId) -> String {
        let space = |at: usize| {
            let id = ExecutorId::new(u32::try_from(at).unwrap_or(u32::MAX));
            graph.executor(id).map_or(0, |known| known.space)
        };
        let number = executor.index();
        let thread = |at: usize| self.executors[at].name.as_deref().unwrap_or(ROOT);
        let rank = graph.meta().ranks.get(usize::from(space(number)));
        let Some(rank) = rank else {
            return match (thread(number), number) {
                ("main" | "", 0) => "main".to_owned(),
                ("" | ROOT, number) => format!("thread {number}"),
                (name, number) => format!("{number} {name}"),
            };
        };
        let before = (0..number).filter(|&at| space(at) == space(number) && thread(at) != ROOT);
        match before.count() {
            0 => format!("rank {}", rank.rank),
            thread => format!("rank {}: thread {thread}", rank.rank),
        }
    }
}

/// The lanes of a run.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Width of a bin.
    pub bin_ns: u64,
    lanes: Vec<Vec<Bin>>,
    /// Number of executors in a lane.
    together: usize,
    doing: Doing,
}

impl Lanes {
    /// Empty lanes for the executors of a graph.
    pub(super) fn new(graph: &Graph) -> Self {
        let executors = graph.executor_count();
        let together = executors.div_ceil(LANES).max(1);
        let lanes = executors.div_ceil(together);
        let bins = (BINS / lanes.max(1) as u64).min(WIDEST);
        Self {
            bin_ns: end_of(graph).div_ceil(bins).max(1),
            lanes: vec![Vec::new(); lanes],
            together,
            doing: Doing::new(graph),
        }
    }

    /// Follows a change.
    pub(super) fn change(&mut self, change: &Change<'_>) -> Result<()> {
        let (lanes, bin_ns, together) = (&mut self.lanes, self.bin_ns, self.together);
        self.doing.change(change, |executor, time, (_, seen)| {
            add(&mut lanes[executor / together], bin_ns, time, seen);
            Ok(())
        })
    }

    /// The lane of an executor.
    #[must_use]
    pub fn of(&self, executor: ExecutorId) -> usize {
        executor.index() / self.together
    }

    /// What an executor is called: the rank of its process, its number, and the name that its
    /// thread has.
    #[must_use]
    pub fn name(&self, graph: &Graph, executor: ExecutorId) -> String {
        self.doing.name(graph, executor)
    }

    /// What each lane did for the longest part of each bin, lane by lane.
    pub fn seen(&self) -> impl Iterator<Item = impl Iterator<Item = Option<Seen>> + '_> + '_ {
        let seen = |bin: &Bin| bin.most.map(|most| most.1);
        self.lanes.iter().map(move |bins| bins.iter().map(seen))
    }

    /// The lanes as rows of a chart.
    #[must_use]
    pub fn rows(&self, graph: &Graph) -> Vec<ActivityRow> {
        let states = || {
            let waits = Cause::ALL.iter().map(|&cause| (cause as usize, cause.name()));
            std::iter::once((CAUSES, "running")).chain(waits)
        };
        let row = |(lane, bins): (usize, &Vec<Bin>)| {
            let first = lane * self.together;
            let last = (first + self.together).min(self.doing.executors.len()) - 1;
            let id = |at: usize| ExecutorId::new(u32::try_from(at).unwrap_or(u32::MAX));
            let name = match last - first {
                0 => self.name(graph, id(first)),
                _ => format!("{first}–{last}"),
            };
            let all_ns = self.bin_ns * (last + 1 - first) as u64;
            let states = states().filter_map(|(index, name)| {
                ActivityState::of(name, bins.iter().map(|bin| bin.ns[index]), all_ns)
            });
            ActivityRow { name, states: states.collect(), notes: Vec::new() }
        };
        self.lanes.iter().enumerate().map(row).collect()
    }
}

/// Adds a time in which something was done to the bins of a lane.
fn add(all: &mut Vec<Bin>, bin_ns: u64, time: Range<u64>, seen: Seen) {
    for (number, ns) in bins(time, bin_ns) {
        if all.len() <= number {
            all.resize(number + 1, Bin::default());
        }
        let bin = &mut all[number];
        bin.ns[seen.state.index().unwrap_or(CAUSES)] += ns;
        if bin.most.is_none_or(|(most, _)| most < ns) {
            bin.most = Some((ns, seen));
        }
    }
}
