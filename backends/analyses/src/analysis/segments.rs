//! The life of one context as segments: from the start of its first task to the end of its last
//! task it runs or waits.

use anyhow::Result;
use taskgraph::{ContextId, Mmap, SyncOp, TaskKind, Walk};

use super::blocked::{LongCall, long_call};
use super::state::{Cause, State, cause_of};
use super::{Graph, Task};

/// A context in one state for a time. The segments of a context are contiguous, in order, and never
/// empty.
#[derive(Clone, Debug)]
pub struct Segment<'g> {
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

/// Between two tries for the same lock a thread that waits for it executes at most so many blocks.
pub(crate) const TURN_BLOCKS: u64 = 32;

/// Whether an operation tried for a lock and did not wait. One that waited until its time was over
/// is a wait by itself.
pub(crate) fn has_failed(task: &Task<'_>) -> bool {
    let tries = [SyncOp::MutexTryFail, SyncOp::RwTryFail, SyncOp::SemTryFail];
    task.duration_ns() == 0 && tries.contains(&task.op())
}

/// Whether time inside a task is work, and if not, what the context waits for. Operations that
/// cannot block (unlock, signal, post) count as running, because they do not hold up the context. A
/// task that only waits in a call or has no processor (`blocked`) is not work either.
pub(crate) fn state_of<D: AsRef<[u8]>>(task: &taskgraph::Task<'_, D>) -> State {
    state_in(task, long_call(task))
}

/// The same, for a task that spends its time in this call.
pub(crate) fn state_in<D: AsRef<[u8]>>(
    task: &taskgraph::Task<'_, D>,
    call: Option<LongCall>,
) -> State {
    match task.kind() {
        TaskKind::Work if matches!(call, Some(LongCall::Waits(_))) => State::Waiting(Cause::Call),
        TaskKind::Work if call == Some(LongCall::Starved) => State::Waiting(Cause::Other),
        TaskKind::Work | TaskKind::Create => State::Running,
        TaskKind::Join => State::Waiting(Cause::Join),
        TaskKind::Barrier => State::Waiting(Cause::Barrier),
        TaskKind::Sync => cause_of(task).map_or(State::Running, State::Waiting),
    }
}

/// Reads a context's tasks in order and yields its segments.
#[derive(Debug)]
pub struct Segments<'g> {
    tasks: Walk<'g, Mmap>,
    /// The task whose segment comes next.
    ahead: Option<Task<'g>>,
    /// Kind of the task before `ahead`.
    before: Option<TaskKind>,
    /// Where the last segment ended, or the first one begins.
    pub(super) at_ns: u64,
}

impl<'g> Segments<'g> {
    /// The segments of `context`.
    ///
    /// # Errors
    /// When its first task cannot be read.
    pub fn new(graph: &'g Graph, context: ContextId) -> Result<Self> {
        let mut segments =
            Self { tasks: graph.walk_of(context), ahead: None, before: None, at_ns: 0 };
        segments.step()?;
        segments.at_ns = segments.ahead.as_ref().map_or(0, Task::start_ns);
        Ok(segments)
    }

    /// Goes on to the next task.
    fn step(&mut self) -> Result<()> {
        self.ahead = self.tasks.next()?.cloned();
        Ok(())
    }

    /// The next segment.
    pub(crate) fn advance(&mut self) -> Result<Option<Segment<'g>>> {
        while let Some(task) = &self.ahead {
            let from_ns = self.at_ns;
            let gap =
                if task.start_ns() > from_ns { Some(gap_cause(task, self.before)?) } else { None };
            // A gap before a join is a part of the join.
            if let Some(cause) = gap.filter(|cause| *cause != Cause::Join) {
                // Nothing of this context ran; a barrier that another context owns shows as such a
                // gap.
                let (task, to_ns) = (task.clone(), task.start_ns());
                self.at_ns = to_ns;
                let state = State::Waiting(cause);
                return Ok(Some(Segment { from_ns, to_ns, state, task, call: None }));
            }
            if has_failed(task)
                && let Some(tries) = self.tries()?
            {
                return Ok(Some(tries));
            }
            let Some(mut task) = self.ahead.take() else {
                return Ok(None);
            };
            let (kind, call, end) = (task.kind(), long_call(&task), task.end_ns());
            let mut state = state_in(&task, call);
            self.step()?;
            // Who has no processor before a wait would wait if it had one.
            if let Some(next) = self.ahead.as_ref().filter(|_| call == Some(LongCall::Starved))
                && let waits @ State::Waiting(_) = state_of(next)
            {
                (state, task) = (waits, next.clone());
            }
            self.before = Some(kind);
            // A wait ends when the next task starts, even if its own end was measured later.
            let to_ns = match &self.ahead {
                Some(next) if state != State::Running => end.min(next.start_ns()),
                _ => end,
            };
            if to_ns > from_ns {
                self.at_ns = to_ns;
                return Ok(Some(Segment { from_ns, to_ns, state, task, call }));
            }
        }
        Ok(None)
    }

    /// Goes past a failed try, and past all that follow it with little in between. Who tries again
    /// and again for a lock or a semaphore waits for it. A try that is not repeated is no wait, and
    /// gives no segment.
    fn tries(&mut self) -> Result<Option<Segment<'g>>> {
        let from_ns = self.at_ns;
        let mut last = self.ahead.take();
        let (mut state, mut call) = (State::Running, None);
        while let Some(tried) = last.as_ref().filter(|task| has_failed(task)) {
            let object = tried.object();
            self.before = Some(tried.kind());
            self.step()?;
            let short = |task: &&Task<'g>| {
                task.kind() == TaskKind::Work && task.block_count() <= TURN_BLOCKS
            };
            let Some(turn) = self.ahead.as_ref().filter(short) else {
                break;
            };
            let turn = turn.clone();
            self.before = Some(turn.kind());
            self.step()?;
            let again = |task: &&Task<'g>| {
                task.object() == object && task.op().cause() == tried.op().cause()
            };
            let Some(next) = self.ahead.as_ref().filter(again) else {
                if state == State::Running {
                    call = long_call(&turn);
                    state = state_in(&turn, call);
                }
                last = Some(turn);
                break;
            };
            state = state_of(next);
            last = Some(next.clone());
        }
        // The operation that gets the lock comes next, and is a segment of its own if it takes
        // time.
        let ahead = self.ahead.as_ref().map(Task::start_ns);
        let Some(task) = last else { return Ok(None) };
        let to_ns = ahead.map_or(task.end_ns(), |ahead| ahead.min(task.end_ns()));
        if to_ns <= from_ns {
            return Ok(None);
        }
        self.at_ns = to_ns;
        Ok(Some(Segment { from_ns, to_ns, state, task, call }))
    }
}

/// What a context waits for between two tasks, of which the one before is of this kind.
pub(crate) fn gap_cause(next: &Task<'_>, before: Option<TaskKind>) -> Result<Cause> {
    if next.kind() == TaskKind::Barrier || before == Some(TaskKind::Barrier) {
        return Ok(Cause::Barrier);
    }
    // A context that forks a team joins it at the end. Meanwhile its thread is one of the team, in
    // a context of its own.
    if next.kind() == TaskKind::Join {
        return Ok(Cause::Join);
    }
    for &dependency in next.stored_dependencies() {
        if next.other(dependency)?.kind() == TaskKind::Barrier {
            return Ok(Cause::Barrier);
        }
    }
    Ok(Cause::Other)
}

impl<'g> Iterator for Segments<'g> {
    type Item = Result<Segment<'g>>;

    fn next(&mut self) -> Option<Result<Segment<'g>>> {
        self.advance().transpose()
    }
}
