//! Which locks a context holds, from what it does.

use taskgraph::{Family, SyncOp, WaitCause};

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    /// Its address.
    pub object: u64,
    /// Whether it is held only for reading.
    pub shared: bool,
}

/// The locks that a context holds, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks(Vec<Held>);

impl Locks {
    /// The context does something.
    pub(crate) fn see(&mut self, op: SyncOp, object: u64) {
        if !matches!(
            op.family(),
            Some(Family::Mutex | Family::Spin | Family::RwLock)
        ) {
            return;
        }
        if op.cause() == Some(WaitCause::Lock) {
            let shared = op == SyncOp::RwRead;
            self.0.push(Held { object, shared });
        } else if let Some(at) = self.0.iter().rposition(|lock| lock.object == object) {
            self.0.remove(at);
        }
    }

    pub(crate) fn all(&self) -> &[Held] {
        &self.0
    }
}
