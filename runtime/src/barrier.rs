//! Records the operations of barriers.

use std::ffi::{c_int, c_uint};

use contech_trace::event::SyncOp::{Barrier, ObjectDestroy, ObjectInit};

use crate::active::active;
use crate::real::{Ptr, real};

pub(crate) unsafe extern "C-unwind" fn pthread_barrier_init(
    barrier: Ptr,
    attributes: Ptr,
    count: c_uint,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().pthread_barrier_init)(barrier, attributes, count) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.recorder.barriers.insert(barrier.addr(), count);
        a.instant(ObjectInit, barrier, u64::from(count));
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_barrier_destroy(
    barrier: Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().pthread_barrier_destroy)(barrier) };
    if result == 0
        && let Some(a) = active(caller)
    {
        a.instant(ObjectDestroy, barrier, 0);
        if let Some(count) = a.recorder.barriers.get(barrier.addr()) {
            a.recorder.barriers.remove(barrier.addr(), count);
        }
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { (real().pthread_barrier_wait)(barrier) };
    let Some(a) = active(caller) else {
        return call();
    };
    let count = a.recorder.barriers.get(barrier.addr()).unwrap_or(0);
    let before = a.now();
    let ticket = a.ticket(barrier.addr());
    let result = call();
    if result == 0 || result == libc::PTHREAD_BARRIER_SERIAL_THREAD {
        a.with_aux(Barrier, barrier, ticket, count.into(), before, a.since(before));
    }
    result
}
