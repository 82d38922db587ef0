//! The synchronization types, under names of this module. `tests/model` compiles the modules that use these names with
//! loom's types instead.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::{
        AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
    };
}
