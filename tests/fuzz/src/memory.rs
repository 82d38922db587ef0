#![allow(unsafe_code, reason = "an allocator that counts")]
//! Measures the most memory that a thread takes, because readers must not believe sizes that the
//! bytes claim.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and the largest such number since
    /// [`within`] began.
    static TAKEN: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator with a count of bytes.
pub(crate) struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize, sign: isize) {
    let change = isize::try_from(bytes).unwrap_or(isize::MAX) * sign;
    // A thread that is ending has no count any more.
    let _ = TAKEN.try_with(|taken| {
        let (now, most) = taken.get();
        let now = now.saturating_add(change);
        taken.set((now, most.max(now)));
    });
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the block and its layout are the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Reads a file of `bytes` bytes.
///
/// # Panics
/// When reading takes more than 64 MB and 16 times the file at any moment.
pub(crate) fn within<R>(bytes: usize, read: impl FnOnce() -> R) -> R {
    let before = TAKEN.get().0;
    TAKEN.set((before, before));
    let result = read();
    let most = usize::try_from(TAKEN.get().1 - before).unwrap_or(0);
    assert!(most <= 64_000_000 + 16 * bytes, "{most} bytes of memory for a file of {bytes} bytes");
    result
}
