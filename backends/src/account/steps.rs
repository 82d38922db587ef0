//! What each context of a run does, step by step, as far as a replay needs it: how long it runs or sleeps, and for
//! which steps of other contexts it waits before.

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId, TaskKind};

use crate::analysis::{Cause, Graph, State, state_of};

/// A graph with more tasks than this is not replayed.
const MOST: u64 = 1 << 23;

/// A set of losses, by their bits.
pub(super) type Losses = u8;

/// What a context does in a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) ns: u64,
    /// Where the dependences of the next step begin.
    pub(super) needs_end: u32,
    /// Whether the context sleeps, so that it needs no processor.
    pub(super) sleeps: bool,
    /// The losses that are charged to the task.
    pub(super) losses: Losses,
    /// The losses without which the task waits for nothing.
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
        let tasks: u64 = graph.contexts().map(|c| u64::from(c.task_count)).sum();
        if tasks > MOST {
            return Ok(None);
        }
        let numbers: FxHashMap<ContextId, u32> = graph.contexts().map(|c| c.id).zip(0..).collect();
        let ranks = !graph.meta().ranks.is_empty();
        let mut steps = Self::default();
        for context in graph.contexts() {
            steps.contexts.push(end(&steps.all));
            // The ranks of MPI go on when what started them has ended.
            let rank = |creator: TaskId| ranks && creator.context == ContextId::new(0);
            steps.leads.push(context.creator.is_none_or(rank));
            let mut tasks = graph.walk_of(context.id);
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
                let locks = locks
                    .get(&task.object())
                    .filter(|_| task.kind() == TaskKind::Sync);
                steps.all.push(Step {
                    ns,
                    needs_end: end(&steps.needs),
                    sleeps,
                    losses: match sleeps {
                        true => asleep,
                        false => losses(task.id()),
                    },
                    freed: locks.copied().unwrap_or(0),
                });
            }
        }
        steps.contexts.push(end(&steps.all));
        Ok(Some(steps))
    }
}

fn end<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}
