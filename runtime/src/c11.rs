//! C11 mutexes. The C library implements them over its pthread functions without passing through us.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{
    MutexLock, MutexTryFail, MutexUnlock, ObjectDestroy, ObjectInit,
};

use crate::active::{TICKETS, active};
use crate::real::{Ptr, Time, real};

/// `thrd_busy` and `thrd_timedout` of threads.h.
const BUSY: c_int = 1;
const TIMED_OUT: c_int = 4;

pub(crate) unsafe extern "C-unwind" fn mtx_init(mutex: Ptr, kind: c_int, caller: usize) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().mtx_init)(mutex, kind) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectInit, mutex, 0);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn mtx_destroy(mutex: Ptr, caller: usize) {
    // SAFETY: as above.
    unsafe { (real().mtx_destroy)(mutex) };
    if let Some(a) = active(caller) {
        a.instant(ObjectDestroy, mutex, 0);
    }
}

pub(crate) unsafe extern "C-unwind" fn mtx_lock(mutex: Ptr, caller: usize) -> c_int {
    let real = real();
    // SAFETY: as above.
    let wait = || unsafe { (real.mtx_lock)(mutex) };
    let Some(a) = active(caller) else {
        return wait();
    };
    // SAFETY: as above.
    a.acquire(
        MutexLock,
        mutex,
        || unsafe { (real.mtx_trylock)(mutex) },
        wait,
    )
}

pub(crate) unsafe extern "C-unwind" fn mtx_trylock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().mtx_trylock)(mutex) };
    if let Some(a) = active(caller) {
        match result {
            0 => a.instant(MutexLock, mutex, 0),
            BUSY => a.timed(MutexTryFail, mutex, 0, a.now(), 0),
            _ => {}
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn mtx_timedlock(
    mutex: Ptr,
    until: Time,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { (real().mtx_timedlock)(mutex, until) };
    let Some(a) = active(caller) else {
        return call();
    };
    let before = a.now();
    let result = call();
    let taken = a.since(before);
    match result {
        0 => a.timed(MutexLock, mutex, TICKETS.next(mutex.addr()), before, taken),
        TIMED_OUT => a.timed(MutexTryFail, mutex, 0, before, taken),
        _ => {}
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn mtx_unlock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let release = || unsafe { (real().mtx_unlock)(mutex) };
    match active(caller) {
        Some(a) => a.release(MutexUnlock, mutex, release),
        None => release(),
    }
}
