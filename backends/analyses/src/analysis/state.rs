//! What a context does at a moment: it runs, or it waits for a cause.

use anyhow::Result;
use serde::Serializer;
pub use taskgraph::WaitCause as Cause;
use taskgraph::{BlockId, SyncOp, TaskKind};

use super::Task;

/// Number of causes a context can wait for.
pub const CAUSES: usize = Cause::ALL.len();

/// A context's state between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Inside a task that does work of the program.
    Running,
    /// Blocked, or not doing the program's work.
    Waiting(Cause),
}

/// The name of a cause, as in JSON.
pub(crate) fn by_name<S: Serializer>(cause: &Cause, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(cause.name())
}

/// What is waited for on a futex in functions of Rust's library and of parking_lot, whose names end
/// so. All other waits on a futex are for a condition: `Condvar`, channels, `park`.
const FUTEXES: [(&str, Cause); 9] = [
    ("::lock_contended", Cause::Lock),
    ("::read_contended", Cause::Lock),
    ("::write_contended", Cause::Lock),
    ("::lock_slow", Cause::Lock),
    ("::lock_shared_slow", Cause::Lock),
    ("::lock_exclusive_slow", Cause::Lock),
    ("::once::futex::Once::call", Cause::Once),
    ("::once::futex::Once::wait", Cause::Once),
    ("std::sync::barrier::Barrier::wait", Cause::Barrier),
];

/// Number of tasks before a wait on a futex among which the one is searched whose code waits.
const NEAR: usize = 4;
/// Number of tasks before a wait that are searched for one that executed code.
const LOOK_BACK: usize = 8;

/// What an operation waits for; `None` for operations that do not wait. Who waits on a futex does
/// so for what the function does that waits, if its name tells that.
pub(crate) fn cause_of<D: AsRef<[u8]>>(task: &taskgraph::Task<'_, D>) -> Option<Cause> {
    let cause = task.op().cause()?;
    if !matches!(task.op(), SyncOp::FutexWait | SyncOp::FutexTimeout) {
        return Some(cause);
    }
    Some(function_before(task).map_or(cause, |name| {
        let known = FUTEXES.iter().find(|(end, _)| name.ends_with(end));
        known.map_or(cause, |(_, cause)| *cause)
    }))
}

/// The name of the function whose code the context executed last before a task. Whoever reads the
/// code says if it is damaged.
fn function_before<'g, D: AsRef<[u8]>>(task: &taskgraph::Task<'g, D>) -> Option<&'g str> {
    let info = task.graph().info();
    let block = info.block(last_block(task, NEAR).ok()??)?;
    Some(&info.function(block.function)?.name)
}

/// The last block executed before `task` in its context.
///
/// # Errors
/// When the graph cannot be read.
pub fn block_before(task: &Task<'_>) -> Result<Option<BlockId>> {
    Ok(last_block(task, LOOK_BACK)?)
}

/// The last block of the nearest of so many tasks before this one that executes blocks.
fn last_block<D: AsRef<[u8]>>(
    task: &taskgraph::Task<'_, D>,
    near: usize,
) -> Result<Option<BlockId>, taskgraph::Error> {
    let mut at = task.clone();
    for _ in 0..near {
        let Some(before) = at.id().previous() else {
            break;
        };
        at.go_to(before)?;
        if at.kind() == TaskKind::Work {
            return at.last_block();
        }
    }
    Ok(None)
}

impl State {
    /// The cause's place in [`Cause::ALL`], `None` when running.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Running => None,
            Self::Waiting(cause) => Some(cause as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use taskgraph::builder::GraphBuilder;

    use super::*;

    #[test]
    fn a_wait_on_a_futex_is_for_what_its_function_waits_for() {
        let functions = [
            ("std::sys::sync::mutex::futex::Mutex::lock_contended", Cause::Lock),
            ("std::sync::barrier::Barrier::wait", Cause::Barrier),
            ("std::sys::sync::once::futex::Once::call", Cause::Once),
            ("std::thread::thread::Thread::park", Cause::Condition),
            ("", Cause::Condition),
        ];
        let mut b = GraphBuilder::new();
        for (name, _) in functions {
            let context = b.context("thread");
            if !name.is_empty() {
                let block = b.block(name, "futex.rs", 3, &[]);
                b.work(context, 0, 1, |w| w.block(block, &[]));
            }
            // The code looks at the futex before it waits.
            b.sync_at(context, 8, SyncOp::AtomicLoad, 1, 1);
            b.sync_at(context, 8, SyncOp::FutexWait, 1, 2);
        }
        let graph = b.build().expect("a valid graph");
        let found = graph.tasks().map(|task| task.expect("readable"));
        let found = found.filter(|task| task.op() == SyncOp::FutexWait);
        let found: Vec<_> =
            found.map(|task| (task.id().context.index(), cause_of(&task))).collect();
        for (at, (name, cause)) in functions.into_iter().enumerate() {
            let of = found.iter().find(|(context, _)| *context == at);
            assert_eq!(of, Some(&(at, Some(cause))), "{name}");
        }
    }
}
