//! The synchronization types and what waits, under names of this module. `tests/model` compiles the
//! modules that use these names with loom's instead.

pub(crate) use std::hint::spin_loop;

pub(crate) use contech_interpose::kernel::yield_now;
pub(crate) use contech_interpose::lock::{Condvar, Mutex, MutexGuard};

pub(crate) use contech_interpose::arch::add_here;
pub(crate) use contech_interpose::kernel::barrier_everywhere as heavy_fence;

/// Looks before a thread that waits lets others run.
pub(crate) const ROUNDS: u32 = 64;

/// Keeps the compiler from moving accesses across. The processor may move them, but for
/// [`heavy_fence`] in another thread, which is a fence in this one.
#[inline(always)]
pub(crate) fn light_fence() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}

pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
}
