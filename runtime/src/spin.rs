//! Spin locks.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{ObjectDestroy, ObjectInit, SpinLock, SpinUnlock};

use crate::active::active;
use crate::real::{Ptr, real};

pub(crate) unsafe extern "C-unwind" fn init(lock: Ptr, shared: c_int, caller: usize) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().pthread_spin_init)(lock, shared) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectInit, lock, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn destroy(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_spin_destroy)(lock) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectDestroy, lock, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn lock(lock: Ptr, caller: usize) -> c_int {
    let real = real();
    // SAFETY: as above.
    let wait = || unsafe { (real.pthread_spin_lock)(lock) };
    let Some(a) = active(caller) else {
        return wait();
    };
    // SAFETY: as above.
    let try_now = || unsafe { (real.pthread_spin_trylock)(lock) };
    a.acquire(SpinLock, lock, try_now, wait)
}

pub(crate) unsafe extern "C-unwind" fn trylock(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_spin_trylock)(lock) };
    active(caller).map_or(result, |a| a.try_acquire(SpinLock, lock, result))
}

pub(crate) unsafe extern "C-unwind" fn unlock(lock: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let release = || unsafe { (real().pthread_spin_unlock)(lock) };
    match active(caller) {
        Some(a) => a.release(SpinUnlock, lock, release),
        None => release(),
    }
}
