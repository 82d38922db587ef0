//! Which locks a context holds, from what it does.

use anyhow::Result;
use taskgraph::{Action, Family, Mmap, Piece, Reader, SyncOp, WaitCause};

use super::Task;

/// Calls `f` with operation and object of each synchronisation of a task.
///
/// # Errors
/// When the task cannot be read, or `f` fails.
pub fn each_synchronisation<'g>(
    reader: &mut Reader<'g, Mmap>,
    task: &Task<'g>,
    mut f: impl FnMut(SyncOp, u64) -> Result<()>,
) -> Result<()> {
    // It executes blocks only.
    if task.action_count() == task.block_count() {
        return Ok(());
    }
    reader.open(task);
    while let Some(batch) = reader.next()? {
        for piece in batch.pieces() {
            if let Piece::Action(Action::Sync { op, object }) = piece {
                f(op, object)?;
            }
        }
    }
    Ok(())
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Its address.
    pub object: u64,
    /// Whether it is held only for reading.
    pub shared: bool,
}

/// The locks that a context holds, the latest last.
#[derive(Clone, Debug, Default)]
pub struct Locks(Vec<Held>);

impl Locks {
    /// The context does something.
    pub fn see(&mut self, op: SyncOp, object: u64) {
        if !matches!(op.family(), Some(Family::Mutex | Family::Spin | Family::RwLock)) {
            return;
        }
        if op.cause() == Some(WaitCause::Lock) {
            let shared = op == SyncOp::RwRead;
            self.0.push(Held { object, shared });
        } else if let Some(at) = self.0.iter().rposition(|lock| lock.object == object) {
            self.0.remove(at);
        }
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Held] {
        &self.0
    }
}
