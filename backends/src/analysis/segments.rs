//! The life of one context as segments: from the start of its first task to the end of its last task it runs or
//! waits.

use anyhow::Result;
use taskgraph::{ContextId, TaskKind};

use super::blocked::{LongCall, long_call};
use super::state::{Cause, State};
use super::{Graph, Task};

/// A context in one state for a time. The segments of a context are contiguous, in order, and never empty.
#[derive(Clone, Debug)]
pub(crate) struct Segment<'g> {
    /// Start, nanoseconds since the start of the run.
    pub from_ns: u64,
    /// End, nanoseconds since the start of the run.
    pub to_ns: u64,
    /// What the context does.
    pub state: State,
    /// The task that it does this in, or, between two tasks, the task that follows.
    pub task: Task<'g>,
    /// The call that a task of few blocks spends its time in.
    pub call: Option<LongCall>,
}

/// Whether time inside a task is work, and if not, what the context waits for. Operations that cannot block (unlock,
/// signal, post) count as running, because they do not hold up the context. A task that only waits in a call
/// or has no processor (`blocked`) is not work either.
#[must_use]
pub fn state_of<D: AsRef<[u8]>>(task: &taskgraph::Task<'_, D>) -> State {
    state(task, long_call(task))
}

fn state<D: AsRef<[u8]>>(task: &taskgraph::Task<'_, D>, call: Option<LongCall>) -> State {
    match task.kind() {
        TaskKind::Work if matches!(call, Some(LongCall::Waits(_))) => State::Waiting(Cause::Call),
        TaskKind::Work if call == Some(LongCall::Starved) => State::Waiting(Cause::Other),
        TaskKind::Work | TaskKind::Create => State::Running,
        TaskKind::Join => State::Waiting(Cause::Join),
        TaskKind::Barrier => State::Waiting(Cause::Barrier),
        TaskKind::Sync => task
            .op()
            .cause()
            .map_or(State::Running, |cause| State::Waiting(cause.into())),
    }
}

/// Reads a context's tasks in order and yields its segments.
pub(crate) struct Segments<'g> {
    graph: &'g Graph,
    tasks: Box<dyn Iterator<Item = taskgraph::Result<Task<'g>>> + Send + 'g>,
    /// The task whose segment comes next.
    ahead: Option<Task<'g>>,
    /// Kind of the task before `ahead`.
    before: Option<TaskKind>,
    /// Where the last segment ended.
    at_ns: u64,
}

impl std::fmt::Debug for Segments<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Segments")
            .field("at_ns", &self.at_ns)
            .finish_non_exhaustive()
    }
}

impl<'g> Segments<'g> {
    /// The segments of `context`.
    ///
    /// # Errors
    /// When its first task cannot be read.
    pub(crate) fn new(graph: &'g Graph, context: ContextId) -> Result<Self> {
        let mut tasks = Box::new(graph.tasks_of(context));
        let ahead = tasks.next().transpose()?;
        let at_ns = ahead.as_ref().map_or(0, Task::start_ns);
        Ok(Self {
            graph,
            tasks,
            ahead,
            before: None,
            at_ns,
        })
    }

    fn advance(&mut self) -> Result<Option<Segment<'g>>> {
        while let Some(task) = &self.ahead {
            let from_ns = self.at_ns;
            let gap = if task.start_ns() > from_ns {
                Some(self.gap_cause(task)?)
            } else {
                None
            };
            // A gap before a join is a part of the join.
            if let Some(cause) = gap.filter(|cause| *cause != Cause::Join) {
                // Nothing of this context ran; a barrier that another context owns shows as such a gap.
                self.at_ns = task.start_ns();
                let state = State::Waiting(cause);
                return Ok(Some(Segment {
                    from_ns,
                    to_ns: self.at_ns,
                    state,
                    task: task.clone(),
                    call: None,
                }));
            }
            let (kind, call, end) = (task.kind(), long_call(task), task.end_ns());
            let mut state = state(task, call);
            let next = self.tasks.next().transpose()?;
            let mut done = std::mem::replace(&mut self.ahead, next);
            // Who has no processor before a wait would wait if it had one.
            if let Some(next) = self
                .ahead
                .as_ref()
                .filter(|_| call == Some(LongCall::Starved))
                && let waits @ State::Waiting(_) = state_of(next)
            {
                (state, done) = (waits, Some(next.clone()));
            }
            self.before = Some(kind);
            // A wait ends when the next task starts, even if its own end was measured later.
            let to_ns = match &self.ahead {
                Some(next) if state != State::Running => end.min(next.start_ns()),
                _ => end,
            };
            if let Some(task) = done.filter(|_| to_ns > from_ns) {
                self.at_ns = to_ns;
                return Ok(Some(Segment {
                    from_ns,
                    to_ns,
                    state,
                    task,
                    call,
                }));
            }
        }
        Ok(None)
    }

    fn gap_cause(&self, next: &Task<'g>) -> Result<Cause> {
        if next.kind() == TaskKind::Barrier || self.before == Some(TaskKind::Barrier) {
            return Ok(Cause::Barrier);
        }
        // A context that forks a team joins it at the end. Meanwhile its thread is one of the team, in a context of
        // its own.
        if next.kind() == TaskKind::Join {
            return Ok(Cause::Join);
        }
        for &dependency in next.stored_dependencies() {
            if self.graph.task(dependency)?.kind() == TaskKind::Barrier {
                return Ok(Cause::Barrier);
            }
        }
        Ok(Cause::Other)
    }
}

impl<'g> Iterator for Segments<'g> {
    type Item = Result<Segment<'g>>;

    fn next(&mut self) -> Option<Result<Segment<'g>>> {
        self.advance().transpose()
    }
}
