//! The synchronization types and what waits, under names of this module. `tests/model` compiles the modules that use
//! these names with loom's instead.

pub(crate) use std::hint::spin_loop;

pub(crate) use contech_guest::kernel::yield_now;
pub(crate) use contech_guest::lock::{Condvar, Mutex, MutexGuard};

pub(crate) use contech_guest::arch::add_here;

pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
}
