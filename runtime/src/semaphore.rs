//! Semaphores. Their functions return -1 and set errno, which a try that is ours must not change.

use std::ffi::{c_int, c_uint};

use contech_guest::memory::Errno;
use contech_trace::event::SyncOp::{ObjectDestroy, ObjectInit, SemPost, SemTryFail, SemWait};

use crate::active::{Active, TICKETS, active};
use crate::real::{Ptr, Time, real};

pub(crate) unsafe extern "C-unwind" fn init(
    semaphore: Ptr,
    shared: c_int,
    value: c_uint,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().sem_init)(semaphore, shared, value) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectInit, semaphore, u64::from(value));
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn destroy(semaphore: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().sem_destroy)(semaphore) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectDestroy, semaphore, 0);
    }
    result
}

fn acquire(a: Active, semaphore: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let errno = Errno::get();
    // SAFETY: as above.
    if unsafe { (real().sem_trywait)(semaphore) } == 0 {
        a.instant(SemWait, semaphore, 0);
        return 0;
    }
    Errno::set(errno);
    let before = a.now();
    let result = call();
    if result == 0 {
        let ticket = TICKETS.next(semaphore.addr());
        a.timed(SemWait, semaphore, ticket, before, a.since(before));
    } else if Errno::get() == libc::ETIMEDOUT {
        a.timed(SemTryFail, semaphore, 0, before, a.since(before));
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn wait(semaphore: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { (real().sem_wait)(semaphore) };
    match active(caller) {
        Some(a) => acquire(a, semaphore, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn timedwait(
    semaphore: Ptr,
    until: Time,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { (real().sem_timedwait)(semaphore, until) };
    match active(caller) {
        Some(a) => acquire(a, semaphore, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn clockwait(
    semaphore: Ptr,
    clock: c_int,
    until: Time,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { (real().sem_clockwait)(semaphore, clock, until) };
    match active(caller) {
        Some(a) => acquire(a, semaphore, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn trywait(semaphore: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let result = unsafe { (real().sem_trywait)(semaphore) };
    if let Some(a) = active(caller) {
        if result == 0 {
            a.instant(SemWait, semaphore, 0);
        } else if Errno::get() == libc::EAGAIN {
            a.timed(SemTryFail, semaphore, 0, a.now(), 0);
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn post(semaphore: Ptr, caller: usize) -> c_int {
    // SAFETY: as above.
    let call = || unsafe { (real().sem_post)(semaphore) };
    match active(caller) {
        Some(a) => a.release(SemPost, semaphore, call),
        None => call(),
    }
}
