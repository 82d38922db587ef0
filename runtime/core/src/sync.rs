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

/// A bounded channel of which only the operations that never block are used: sleeping is the
/// queue's own, so that a sender neither allocates nor touches std's thread-locals.
#[cfg(not(feature = "loom"))]
pub(crate) struct Channel<T> {
    sender: crossbeam_channel::Sender<T>,
    receiver: crossbeam_channel::Receiver<T>,
}

#[cfg(not(feature = "loom"))]
impl<T> Channel<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(capacity);
        Channel { sender, receiver }
    }

    /// Gives the message back when the channel is full.
    pub(crate) fn try_send(&self, message: T) -> Result<(), T> {
        self.sender.try_send(message).map_err(|e| e.into_inner())
    }

    pub(crate) fn try_recv(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// Stand-in for the channel under loom, which cannot see inside crossbeam.
#[cfg(feature = "loom")]
pub(crate) struct Channel<T> {
    items: Mutex<std::collections::VecDeque<T>>,
    capacity: usize,
}

#[cfg(feature = "loom")]
impl<T> Channel<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Channel {
            items: Mutex::new(std::collections::VecDeque::new()),
            capacity,
        }
    }

    pub(crate) fn try_send(&self, message: T) -> Result<(), T> {
        let mut items = lock(&self.items);
        if items.len() == self.capacity {
            return Err(message);
        }
        items.push_back(message);
        Ok(())
    }

    pub(crate) fn try_recv(&self) -> Option<T> {
        lock(&self.items).pop_front()
    }
}
