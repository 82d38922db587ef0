//! Whom a context waits for: the task that ends its wait.

use anyhow::Result;
use taskgraph::{ContextId, SyncOp, TaskId, TaskKind};

use crate::analysis::{Graph, Task};
use crate::parallelism::Cause;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A lock.
    Lock,
    /// Others at a barrier.
    Barrier,
    /// Others at a barrier, with nothing to do before.
    Idle,
    /// Word from another context: a condition, a semaphore, a flag.
    Word,
    /// The own place in an order that the program asks for.
    Turn,
    /// A message.
    Message,
    /// The end of what the context itself has started.
    End,
    /// Something outside of the program: time, input, a signal.
    Outside,
    /// The recording, which paused it.
    Recording,
    /// Nothing that is recorded.
    Unknown,
}

/// A wait under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) kind: Kind,
    /// The object, as the graph has it.
    pub(super) object: u64,
    /// The task it happens in, or the one after a gap.
    pub(super) task: TaskId,
    /// The task that ends it, and when that ends.
    pub(super) ended_by: Option<(TaskId, u64)>,
}

impl Wait {
    /// The wait in, or right before, a task.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn of(graph: &Graph, task: TaskId, cause: Cause) -> Result<Self> {
        let found = graph.task(task)?;
        let (before, object) = awaited(graph, &found)?;
        Ok(Self {
            kind: kind(cause, found.op()),
            object,
            task,
            ended_by: before,
        })
    }
}

fn kind(cause: Cause, op: SyncOp) -> Kind {
    match cause {
        Cause::Lock => match op {
            SyncOp::OrderedEnter => Kind::Turn,
            SyncOp::AtomicLoad | SyncOp::CondReacquire => Kind::Word,
            _ => Kind::Lock,
        },
        Cause::Barrier => Kind::Barrier,
        Cause::Condition if op == SyncOp::DoacrossWait => Kind::Turn,
        Cause::Condition | Cause::Semaphore | Cause::Once => Kind::Word,
        Cause::Message => Kind::Message,
        Cause::Join => Kind::End,
        Cause::Call => Kind::Outside,
        Cause::Delay => Kind::Recording,
        Cause::Other => Kind::Unknown,
    }
}

/// The latest of what a task waits for in other contexts, and the object. Behind a barrier that another context has
/// stands the last to arrive there.
fn awaited(graph: &Graph, task: &Task<'_>) -> Result<(Option<(TaskId, u64)>, u64)> {
    let own = task.id().context;
    let mut object = task.object();
    let mut latest = later(graph, None, task.stored_dependencies(), own)?;
    if let Some((before, _)) = latest {
        let barrier = graph.task(before)?;
        if barrier.kind() == TaskKind::Barrier && task.kind() != TaskKind::Barrier {
            object = barrier.object();
            latest = later(graph, None, barrier.stored_dependencies(), own)?;
            latest = later(graph, latest, barrier.id().previous().as_slice(), own)?;
        }
    }
    Ok((latest, object))
}

fn later(
    graph: &Graph,
    mut latest: Option<(TaskId, u64)>,
    tasks: &[TaskId],
    own: ContextId,
) -> Result<Option<(TaskId, u64)>> {
    for &id in tasks.iter().filter(|id| id.context != own) {
        let end = graph.task(id)?.end_ns();
        if latest.is_none_or(|(_, before)| end > before) {
            latest = Some((id, end));
        }
    }
    Ok(latest)
}
