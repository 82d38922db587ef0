#![allow(
    unsafe_code,
    reason = "hands out states that live as long as the process, from memory of its own"
)]
//! The states of all threads. The list only grows, and states are used again.

use std::sync::atomic::Ordering::Acquire;

use crate::inner::Inner;
use crate::mask::Blocked;
use crate::memory;
use crate::primitive::Mutex;
use crate::sync::lock;
use crate::thread::Thread;
use crate::tls::TlsBlock;

/// The threads of one trace.
#[derive(Default)]
pub(crate) struct Registry(Mutex<States>);

#[derive(Default)]
struct States {
    all: Vec<&'static Thread>,
    free: Vec<&'static Thread>,
}

impl Registry {
    /// A fresh state; `None` when memory has run out.
    pub(crate) fn take(&self) -> Option<&'static Thread> {
        let mut states = lock(&self.0);
        if let Some(free) = states.free.pop() {
            return Some(free);
        }
        let at = memory::map(size_of::<Thread>())?.cast::<Thread>();
        // SAFETY: the mapping is fresh, page-aligned and large enough, and never goes away.
        let thread = unsafe {
            at.write(Thread::new());
            &*at
        };
        states.all.push(thread);
        Some(thread)
    }

    /// Gives a state back, because its thread has ended or was never created.
    pub(crate) fn put(&self, thread: &'static Thread) {
        let blocked = Blocked::new();
        {
            let mut inner = thread.lock(&blocked);
            let scratch = std::mem::take(&mut inner.scratch);
            *inner = Inner::default();
            inner.scratch = scratch;
        }
        lock(&self.0).free.push(thread);
    }

    /// Every state that has been taken so far. A thread that takes another state later sees what
    /// the caller did before.
    pub(crate) fn all(&self) -> Vec<&'static Thread> {
        lock(&self.0).all.clone()
    }

    /// Calls `f` for every state, in use or not. Meanwhile no thread gets one.
    pub(crate) fn each(&self, f: impl FnMut(&'static Thread)) {
        lock(&self.0).all.iter().copied().for_each(f);
    }
}

/// The state of the thread that this block belongs to; `None` before it has one.
#[inline]
pub(crate) fn current(tls: &TlsBlock) -> Option<&'static Thread> {
    // SAFETY: the pointer is null or points to a state of a registry, and states never go away.
    unsafe { tls.thread().as_ref() }
}

/// The thread-local block of a thread; `None` before it began.
///
/// # Safety
/// The thread is alive, and stays so while the result is used.
pub(crate) unsafe fn block(thread: &Thread) -> Option<&TlsBlock> {
    // SAFETY: a thread's block lives as long as the thread, which the caller vouches for.
    unsafe { thread.tls.load(Acquire).as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_distinct_and_used_again() {
        let registry = Registry::default();
        let taken: Vec<_> = (0..40).map(|_| registry.take().unwrap()).collect();
        let mut places: Vec<usize> = taken.iter().map(|t| std::ptr::from_ref(*t).addr()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 40);
        assert_eq!(registry.all().len(), 40);
        let last = taken[7];
        registry.put(last);
        assert!(std::ptr::eq(registry.take().unwrap(), last));
    }
}
