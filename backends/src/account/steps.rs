//! What each context of a run does, step by step, as far as a replay needs it: how long it runs or sleeps, and for
//! which steps of other contexts it waits before. Tasks that nothing happens between are one step, so a storm of locks
//! that nobody else wants is one, too.

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId, TaskKind};

use crate::analysis::{Cause, Graph, State, state_of};

/// A run of more steps than this is not replayed.
const MOST: usize = 1 << 23;

/// A set of losses, by their bits.
pub(super) type Losses = u8;

/// What a context does in a task, or in several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) ns: u64,
    /// Where the dependences of the next step begin.
    pub(super) needs_end: u32,
    /// Whether the context sleeps, so that it needs no processor.
    pub(super) sleeps: bool,
    /// The losses that are charged to the tasks.
    pub(super) losses: Losses,
    /// The losses without which the first task waits for nothing.
    pub(super) freed: Losses,
}

/// The steps of a run.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) all: Vec<Step>,
    /// The first step of each context, and the end of the last one.
    pub(super) contexts: Vec<u32>,
    /// Whether the run ends when the context does: nobody created it.
    pub(super) leads: Vec<bool>,
    /// For all steps, one after the other: the contexts and the numbers of the steps that come before them.
    pub(super) needs: Vec<(u32, u32)>,
}

impl Steps {
    /// The steps of a graph; `losses` says what is charged to each task, `locks` what to waiting for each lock, and
    /// `asleep` to all sleep. `None` if there are too many.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn of(
        graph: &Graph,
        mut losses: impl FnMut(TaskId) -> Losses,
        locks: &FxHashMap<u64, Losses>,
        asleep: Losses,
    ) -> Result<Option<Self>> {
        let numbers: FxHashMap<ContextId, u32> = graph.contexts().map(|c| c.id).zip(0..).collect();
        let ranks = !graph.meta().ranks.is_empty();
        let mut steps = Self::default();
        // The first task of each step.
        let mut firsts: Vec<u32> = Vec::new();
        for context in graph.contexts() {
            steps.contexts.push(end(&steps.all));
            // The ranks of MPI go on when what started them has ended.
            let rank = |creator: TaskId| ranks && creator.context == ContextId::new(0);
            steps.leads.push(context.creator.is_none_or(rank));
            let mut tasks = graph.walk_of(context.id);
            // Whether a task of another context waits for the one before.
            let mut awaited = true;
            while let Some(task) = tasks.next()? {
                let needs = task.stored_dependencies().iter();
                let needs = needs.filter(|before| before.context != context.id);
                let known = |before: &TaskId| Some((*numbers.get(&before.context)?, before.seq));
                steps.needs.extend(needs.filter_map(known));
                let (ns, sleeps) = match state_of(task) {
                    State::Running => (task.duration_ns(), false),
                    State::Waiting(Cause::Call) => (task.duration_ns(), true),
                    State::Waiting(_) => (0, false),
                };
                let locks = match task.kind() {
                    TaskKind::Sync => locks.get(&task.object()),
                    _ => None,
                };
                let step = Step {
                    ns,
                    needs_end: end(&steps.needs),
                    sleeps,
                    losses: match sleeps {
                        true => asleep,
                        false => losses(task.id()),
                    },
                    freed: locks.copied().unwrap_or(0),
                };
                let last = steps.all.last_mut().filter(|_| !awaited);
                if !last.is_some_and(|last| last.goes_on(&step)) {
                    if steps.all.len() == MOST {
                        return Ok(None);
                    }
                    steps.all.push(step);
                    firsts.push(task.id().seq);
                }
                awaited = !task.dependents()?.is_empty();
            }
        }
        steps.contexts.push(end(&steps.all));
        for (context, task) in &mut steps.needs {
            let own = steps.contexts[*context as usize]..steps.contexts[*context as usize + 1];
            let before = &firsts[own.start as usize..own.end as usize];
            *task = end(&before[..before.partition_point(|first| first <= task)]).saturating_sub(1);
        }
        Ok(Some(steps))
    }
}

impl Step {
    /// Goes on with the next task of the context, if nothing can happen before that: nobody awaits what is done so
    /// far, which the caller knows, the next task needs nothing, and what it does is the same or takes no time.
    fn goes_on(&mut self, next: &Self) -> bool {
        if self.needs_end != next.needs_end {
            return false;
        }
        match (self.ns, next.ns) {
            (_, 0) => {}
            (0, _) => (self.ns, self.sleeps, self.losses) = (next.ns, next.sleeps, next.losses),
            _ if self.sleeps || next.sleeps || self.losses != next.losses => return false,
            _ => self.ns = self.ns.saturating_add(next.ns),
        }
        true
    }
}

fn end<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use taskgraph::SyncOp;
    use taskgraph::builder::GraphBuilder;

    use super::*;
    use crate::account::replay::{Schedule, replay};

    /// Two contexts take and release a lock a thousand times each, and once one waits for the other.
    #[test]
    fn a_storm_of_locks_is_as_many_steps_as_there_are_waits() {
        let mut b = GraphBuilder::new();
        let contexts = [b.context("a"), b.context("b")];
        let mut locks = [Vec::new(), Vec::new()];
        for _ in 0..1000 {
            for (own, ns) in contexts.into_iter().zip([7, 3]) {
                let at = &mut locks[own.index()];
                let clock = 2 * ns * at.len() as u64;
                b.work(own, clock, clock + ns, |_| {});
                at.push(b.sync(own, 0x1000, SyncOp::MutexLock));
                b.work(own, clock + ns, clock + 2 * ns, |_| {});
                b.sync(own, 0x1000, SyncOp::MutexUnlock);
            }
        }
        // The lock number 600 of the first context, which follows 8407 ns of work, comes before the last of the other.
        b.edge(locks[0][600], locks[1][999]);
        let file = tempfile::NamedTempFile::new().expect("a file");
        b.write(file.path()).expect("a graph");
        let graph = crate::analysis::open(file.path()).expect("a graph");
        let steps = Steps::of(&graph, |_| 0, &FxHashMap::default(), 0);
        let steps = steps.expect("steps").expect("few steps");
        assert_eq!(steps.contexts, [0, 2, 4]);
        assert_eq!(steps.needs, [(0, 0)]);
        let ns: Vec<u64> = steps.all.iter().map(|step| step.ns).collect();
        assert_eq!(ns, [8407, 14_000 - 8407, 5997, 3]);
        for (processors, ns) in [(2, 14_000.0), (1, 20_000.0)] {
            assert_eq!(replay(&steps, processors, Schedule::Greedy, 0), ns);
            assert_eq!(replay(&steps, processors, Schedule::Stealing, 0), ns);
        }
        // A loss that is charged to every second task makes each of them a step.
        let charged = |task: TaskId| Losses::from(task.seq.is_multiple_of(4));
        let steps = Steps::of(&graph, charged, &FxHashMap::default(), 0);
        let steps = steps.expect("steps").expect("few steps");
        assert_eq!(steps.all.len(), 4000);
        assert_eq!(replay(&steps, 2, Schedule::Greedy, 0), 14_000.0);
    }

    /// A replay ends a step when less than half a nanosecond of it is left, so what is put together into one step takes
    /// a little longer where helpers divide it. Without helpers it takes the same.
    #[test]
    fn steps_put_together_differ_by_less_than_half_a_nanosecond_each() {
        const TASKS: u64 = 1000;
        let mut b = GraphBuilder::new();
        for own in 0..3 {
            let context = b.context("worker");
            let mut clock = 0;
            for i in 0..TASKS {
                let ns = 3 + (7 * i + own) % 11;
                b.work(context, clock, clock + ns, |_| {});
                b.sync_at(context, 0x1000, SyncOp::MutexUnlock, clock + ns, clock + ns);
                clock += ns;
            }
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        b.write(file.path()).expect("a graph");
        let graph = crate::analysis::open(file.path()).expect("a graph");
        // Two of three contexts are helped, and only the other loss parts one task from the next.
        let helped = |task: TaskId| Losses::from(task.context.get() > 0);
        let parted = |task: TaskId| helped(task) | Losses::from(task.seq.is_multiple_of(4)) << 1;
        let few = Steps::of(&graph, helped, &FxHashMap::default(), 0);
        let few = few.expect("steps").expect("few steps");
        let many = Steps::of(&graph, parted, &FxHashMap::default(), 0);
        let many = many.expect("steps").expect("few steps");
        assert_eq!((few.all.len(), many.all.len() as u64), (3, 3 * TASKS));
        let on = |steps, removed| replay(steps, 4, Schedule::Greedy, removed);
        assert_eq!(on(&few, 0), on(&many, 0));
        let (few, many) = (on(&few, 1), on(&many, 1));
        assert!(
            many < few && few - many < 0.5 * TASKS as f64,
            "{few} {many}"
        );
    }
}
