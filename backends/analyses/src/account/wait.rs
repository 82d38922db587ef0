//! What contexts wait for, and the task that ends each wait.

use anyhow::Result;
use taskgraph::{SyncOp, TaskId, TaskKind};

use crate::analysis::{Cause, Task};

/// What processor time is lost to: what contexts wait for, or why too few of them have something to
/// do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// To begin, or to go on where what was waited for has happened.
    Begin,
    /// The recording does not tell.
    #[default]
    Unknown,
    /// Serial code.
    Serial,
    /// A larger share of the work than others have.
    Share,
    /// Fewer threads than processors.
    Threads,
    /// Threads that spin on processors which others want.
    Spinning,
}

/// A wait of a context, as a replay needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) kind: Kind,
    /// The object's number in the graph.
    pub(super) object: u64,
    /// The task in which the wait happens, or the task after the gap that is the wait.
    pub(super) task: TaskId,
    /// The task that ends the wait, and when that task ends, ns.
    pub(super) ended_by: Option<(TaskId, u64)>,
    /// How long it takes to go on after what was waited for.
    pub(super) latency_ns: u64,
    /// For how long the wait keeps to the recorded order, ns: [`ALWAYS`] or, where others had what
    /// only one may have at a time, and need not have it in the same order again, as long as the
    /// recorded wait took. With [`NEVER`] the lock itself tells whether it is free.
    pub(super) ordered_ns: u64,
    /// Whether the context has a processor while it waits: it looks again and again.
    pub(super) spins: bool,
}

pub(super) const ALWAYS: u64 = u64::MAX;
pub(super) const NEVER: u64 = 0;

impl Wait {
    /// The wait before a task for an object that other contexts may have, or for anything else that
    /// no order tells.
    pub(super) fn free(kind: Kind, object: u64, task: TaskId) -> Self {
        Self { kind, object, task, ended_by: None, latency_ns: 0, ordered_ns: NEVER, spins: false }
    }

    /// The wait in, or right before, a task.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn of(task: &Task<'_>, cause: Cause) -> Result<Self> {
        let (ended_by, object) = awaited(task)?;
        let kind = match kind(cause, task.op()) {
            Kind::Word if task.op() == SyncOp::AtomicLoad && are_counted(task, ended_by)? => {
                Kind::Barrier
            }
            // The context has made itself ready, and had no processor.
            Kind::Word if ended_by.is_none() && task.op() == SyncOp::TaskResume => Kind::Unknown,
            kind => kind,
        };
        Ok(Self { ended_by, ordered_ns: ALWAYS, ..Self::free(kind, object, task.id()) })
    }

    /// Whether the program cannot end the wait: the context waits for something outside, or has no
    /// processor.
    pub(super) fn is_outside(&self) -> bool {
        self.kind == Kind::Outside || self.kind == Kind::Unknown && self.ended_by.is_none()
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
        Cause::Delay | Cause::Other => Kind::Unknown,
    }
}

/// The last to end of the tasks in other contexts that a task comes after, and the object. If the
/// task waits behind a barrier that another context owns, the result is the last task to arrive at
/// that barrier.
fn awaited(task: &Task<'_>) -> Result<(Option<(TaskId, u64)>, u64)> {
    let own = task.id().context;
    let latest = |task: &Task<'_>, more: Option<TaskId>| -> Result<Option<(TaskId, u64)>> {
        let mut latest: Option<(TaskId, u64)> = None;
        let before = task.stored_dependencies().iter().copied().chain(more);
        for id in before.filter(|id| id.context != own) {
            let end = task.other(id)?.end_ns();
            if latest.is_none_or(|(_, before)| end > before) {
                latest = Some((id, end));
            }
        }
        Ok(latest)
    };
    let last = latest(task, None)?;
    if let Some((before, _)) = last {
        let barrier = task.other(before)?;
        if barrier.kind() == TaskKind::Barrier && task.kind() != TaskKind::Barrier {
            return Ok((latest(&barrier, barrier.id().previous())?, barrier.object()));
        }
    }
    Ok((last, task.object()))
}
