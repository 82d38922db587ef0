//! Finds the task that ends a context's wait.

use anyhow::Result;
use taskgraph::{ContextId, SyncOp, TaskId, TaskKind};

use crate::analysis::{Cause, Task};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Lock,
    /// Other contexts at a barrier.
    Barrier,
    /// Other contexts at a barrier, by a context that had nothing to do before.
    Idle,
    /// A signal from another context: a condition, a semaphore, a flag.
    Word,
    /// The context's own turn in an order that the program asks for: an ordered region, a task's
    /// dependence.
    Turn,
    Message,
    /// The beginning or the end of MPI.
    Startup,
    /// The end of contexts that the context itself has started.
    End,
    /// Something outside of the program: time, input, a signal.
    Outside,
    /// The end of a pause that the recording made.
    Recording,
    /// To begin: a thread that was made has no processor yet.
    Begin,
    /// The recording does not tell.
    Unknown,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) kind: Kind,
    /// The object's number in the graph.
    pub(super) object: u64,
    /// The task in which the wait happens, or the task after the gap that is the wait.
    pub(super) task: TaskId,
    /// The task that ends the wait, and when that task ends, ns.
    pub(super) ended_by: Option<(TaskId, u64)>,
}

impl Wait {
    /// The wait in, or right before, a task that comes after these of other contexts.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn of(task: &Task<'_>, cause: Cause, after: &[TaskId]) -> Result<Self> {
        let (before, object) = awaited(task, after)?;
        let kind = match kind(cause, task.op()) {
            Kind::Word if task.op() == SyncOp::AtomicLoad && are_counted(task, before)? => {
                Kind::Barrier
            }
            // The context has made itself ready, and had no processor.
            Kind::Word if before.is_none() && task.op() == SyncOp::TaskResume => Kind::Unknown,
            kind => kind,
        };
        Ok(Self { kind, object, task: task.id(), ended_by: before })
    }

    /// Whether the program cannot end the wait: the context waits for something outside, or has no
    /// processor.
    pub(super) fn is_outside(&self) -> bool {
        match self.kind {
            Kind::Outside => true,
            Kind::Unknown | Kind::Recording => self.ended_by.is_none(),
            _ => false,
        }
    }
}

/// Number of tasks before a wait, and before what ends it, among which the arrival at a barrier is
/// searched.
const ARRIVED: u32 = 8;

/// Whether a wait for a word is one at a barrier of the program's own: before it the context counts
/// itself at a word that the awaited one counts itself at, too, but later. (A lock that is given in
/// order of tickets looks the same, but there the awaited context has come earlier.)
fn are_counted(task: &Task<'_>, awaited: Option<(TaskId, u64)>) -> Result<bool> {
    let Some((last, _)) = awaited else {
        return Ok(false);
    };
    let last = arrival(&task.other(last)?)?;
    Ok(match (arrival(task)?, last) {
        (Some(own), Some(last)) => own.0 == last.0 && own.1 <= last.1,
        _ => false,
    })
}

/// The last word that a context counted itself at, up to a task, and when.
fn arrival(task: &Task<'_>) -> Result<Option<(u64, u64)>> {
    let id = task.id();
    for seq in (id.seq.saturating_sub(ARRIVED)..=id.seq).rev() {
        let before = task.other(TaskId::new(id.context, seq))?;
        if before.op() == SyncOp::AtomicRmw {
            return Ok(Some((before.object(), before.end_ns())));
        }
    }
    Ok(None)
}

fn kind(cause: Cause, op: SyncOp) -> Kind {
    // Tasks that exclude each other may run in any order.
    if op.is_depend() && op != SyncOp::DependMutexinoutset {
        return Kind::Turn;
    }
    match cause {
        Cause::Lock => match op {
            SyncOp::OrderedEnter => Kind::Turn,
            SyncOp::AtomicLoad => Kind::Word,
            _ => Kind::Lock,
        },
        Cause::Barrier => Kind::Barrier,
        Cause::Condition if op == SyncOp::DoacrossWait => Kind::Turn,
        Cause::Condition | Cause::Semaphore | Cause::Once => Kind::Word,
        Cause::Message => match op {
            SyncOp::MpiInit | SyncOp::MpiFinalize => Kind::Startup,
            // Who comes to such an operation first waits for what the others do before it.
            _ if op.kind() == TaskKind::Barrier => Kind::Barrier,
            _ => Kind::Message,
        },
        Cause::Join => Kind::End,
        Cause::Call => Kind::Outside,
        Cause::Delay => Kind::Recording,
        Cause::Other => Kind::Unknown,
    }
}

/// The last to end of the tasks in other contexts that a task comes after, and the object. If the
/// task waits behind a barrier that another context owns, the result is the last task to arrive at
/// that barrier.
fn awaited(task: &Task<'_>, after: &[TaskId]) -> Result<(Option<(TaskId, u64)>, u64)> {
    let own = task.id().context;
    let mut object = task.object();
    let mut latest = later(task, None, after, own)?;
    if let Some((before, _)) = latest {
        let barrier = task.other(before)?;
        if barrier.kind() == TaskKind::Barrier && task.kind() != TaskKind::Barrier {
            object = barrier.object();
            latest = later(&barrier, None, barrier.stored_dependencies(), own)?;
            latest = later(&barrier, latest, barrier.id().previous().as_slice(), own)?;
        }
    }
    Ok((latest, object))
}

fn later(
    task: &Task<'_>,
    mut latest: Option<(TaskId, u64)>,
    tasks: &[TaskId],
    own: ContextId,
) -> Result<Option<(TaskId, u64)>> {
    for &id in tasks.iter().filter(|id| id.context != own) {
        let end = task.other(id)?.end_ns();
        if latest.is_none_or(|(_, before)| end > before) {
            latest = Some((id, end));
        }
    }
    Ok(latest)
}
