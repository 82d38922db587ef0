//! Locks and the hand-over channel: the real ones, or loom's for model checking.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Locks; a lock poisoned by a panic is taken as it is, for the data stay whole at every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// Waits on a condition, as [`lock`].
pub(crate) fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    match condition.wait(guard) {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// A channel of which only the operations that never block are used: sleeping is the queue's own, so
/// that a sender does not touch std's thread-locals. It grows by what is sent; the queue bounds that.
#[cfg(not(feature = "loom"))]
pub(crate) struct Channel<T> {
    sender: crossbeam_channel::Sender<T>,
    receiver: crossbeam_channel::Receiver<T>,
}

#[cfg(not(feature = "loom"))]
impl<T> Channel<T> {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = crossbeam_channel::unbounded();
        Channel { sender, receiver }
    }

    pub(crate) fn send(&self, message: T) {
        // Fails only without a receiver, and the receiver is a field of this very channel.
        let _ = self.sender.send(message);
    }

    pub(crate) fn try_recv(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// Stand-in for the channel under loom, which cannot see inside crossbeam.
#[cfg(feature = "loom")]
pub(crate) struct Channel<T>(Mutex<std::collections::VecDeque<T>>);

#[cfg(feature = "loom")]
impl<T> Channel<T> {
    pub(crate) fn new() -> Self {
        Channel(Mutex::new(std::collections::VecDeque::new()))
    }

    pub(crate) fn send(&self, message: T) {
        lock(&self.0).push_back(message);
    }

    pub(crate) fn try_recv(&self) -> Option<T> {
        lock(&self.0).pop_front()
    }
}
