//! Mutexes.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{MutexLock, MutexUnlock, ObjectDestroy, ObjectInit};

use crate::active::active;
use crate::real::{Ptr, Time, real};

pub(crate) unsafe extern "C-unwind" fn init(mutex: Ptr, attributes: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().pthread_mutex_init)(mutex, attributes) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectInit, mutex, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn destroy(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_mutex_destroy)(mutex) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectDestroy, mutex, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn lock(mutex: Ptr, caller: usize) -> c_int {
    let real = real();
    // SAFETY: as above.
    let wait = || unsafe { (real.pthread_mutex_lock)(mutex) };
    let Some(a) = active(caller) else {
        return wait();
    };
    // SAFETY: as above.
    let try_now = || unsafe { (real.pthread_mutex_trylock)(mutex) };
    a.acquire(MutexLock, mutex, try_now, wait)
}

pub(crate) unsafe extern "C-unwind" fn trylock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().pthread_mutex_trylock)(mutex) };
    active(caller).map_or(result, |a| a.try_acquire(MutexLock, mutex, result))
}

pub(crate) unsafe extern "C-unwind" fn timedlock(mutex: Ptr, until: Time, caller: usize) -> c_int {
    let real = real();
    // SAFETY: as above.
    let wait = || unsafe { (real.pthread_mutex_timedlock)(mutex, until) };
    let Some(a) = active(caller) else {
        return wait();
    };
    // SAFETY: as above.
    let try_now = || unsafe { (real.pthread_mutex_trylock)(mutex) };
    a.acquire(MutexLock, mutex, try_now, wait)
}

pub(crate) unsafe extern "C-unwind" fn clocklock(
    mutex: Ptr,
    clock: c_int,
    until: Time,
    caller: usize,
) -> c_int {
    let real = real();
    // SAFETY: as above.
    let wait = || unsafe { (real.pthread_mutex_clocklock)(mutex, clock, until) };
    let Some(a) = active(caller) else {
        return wait();
    };
    // SAFETY: as above.
    let try_now = || unsafe { (real.pthread_mutex_trylock)(mutex) };
    a.acquire(MutexLock, mutex, try_now, wait)
}

pub(crate) unsafe extern "C-unwind" fn unlock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let release = || unsafe { (real().pthread_mutex_unlock)(mutex) };
    match active(caller) {
        Some(a) => a.release(MutexUnlock, mutex, release),
        None => release(),
    }
}
