#![allow(
    unsafe_code,
    reason = "hands out states that live as long as the process, from memory of its own"
)]
//! The states of all threads. The list only grows, and states are used again.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};

use crate::inner::Inner;
use crate::mask::Blocked;
use crate::memory;
use crate::primitive::Mutex;
use crate::sync::lock;
use crate::thread::Thread;
use crate::tls::TlsBlock;

/// Number of states that are mapped at a time.
const SLAB: usize = 16;

/// The threads of one trace. States come from mapped memory, not from the heap, so that a signal
/// handler that interrupted the allocator can take one.
#[derive(Default)]
pub(crate) struct Registry {
    all: AtomicPtr<Thread>,
    free: Mutex<FreeList>,
}

#[derive(Default)]
struct FreeList(Option<NonNull<Thread>>);

// SAFETY: the states that the list points to are shared by design and live as long as the process.
unsafe impl Send for FreeList {}

impl Registry {
    /// A fresh state; `None` when memory has run out.
    pub(crate) fn take(&self) -> Option<&'static Thread> {
        let mut free = lock(&self.free);
        if free.0.is_none() {
            self.grow(&mut free)?;
        }
        // SAFETY: states on the list are initialised and never go away.
        let thread = unsafe { free.0?.as_ref() };
        free.0 = NonNull::new(thread.next_free.load(Acquire));
        Some(thread)
    }

    fn grow(&self, free: &mut FreeList) -> Option<()> {
        let slab = memory::map(SLAB * size_of::<Thread>())?.cast::<Thread>();
        for i in 0..SLAB {
            // SAFETY: the mapping is fresh, page-aligned, and has room for this many states.
            let thread = unsafe {
                let at = slab.add(i);
                at.write(Thread::new());
                NonNull::new_unchecked(at).as_ref()
            };
            let at = std::ptr::from_ref(thread).cast_mut();
            thread.next.store(self.all.load(Acquire), Release);
            self.all.store(at, Release);
            thread.next_free.store(free.0.map_or(std::ptr::null_mut(), NonNull::as_ptr), Release);
            free.0 = NonNull::new(at);
        }
        Some(())
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
        let mut free = lock(&self.free);
        thread.next_free.store(free.0.map_or(std::ptr::null_mut(), NonNull::as_ptr), Release);
        free.0 = Some(NonNull::from(thread));
    }

    /// Every state that has been taken so far. A thread that takes another state later sees what
    /// the caller did before.
    pub(crate) fn all(&self) -> Vec<&'static Thread> {
        let free = lock(&self.free);
        let all = self.iter().collect();
        drop(free);
        all
    }

    /// Every state, in use or not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Thread> + use<> {
        let mut next = self.all.load(Acquire);
        std::iter::from_fn(move || {
            // SAFETY: the list holds initialised states that never go away, linked before they were
            // published.
            let thread: &'static Thread = unsafe { next.as_ref() }?;
            next = thread.next.load(Acquire);
            Some(thread)
        })
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
        assert!(registry.iter().count() >= 40);
        let last = taken[7];
        registry.put(last);
        assert!(std::ptr::eq(registry.take().unwrap(), last));
    }
}
