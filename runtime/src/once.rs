//! Records once-routines, pthread's and C11's.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::SyncOp::{OncePass, OnceRun};

use crate::active::{Active, active};
use crate::real::{Ptr, Routine, real};
use crate::tls::block;

/// A call in progress. The thread-local block points at it, because the routine takes no argument.
struct Call {
    a: Active,
    object: Ptr,
    routine: Routine,
    /// The routine has run in this call.
    ran: bool,
    /// The call around this one.
    outer: u64,
}

/// Stands in for the routine, and records that it has run while all other threads still wait.
unsafe extern "C-unwind" fn run() {
    let call = usize::try_from(block().call.load(Relaxed)).unwrap_or(0);
    let call = std::ptr::with_exposed_provenance_mut::<Call>(call);
    // SAFETY: only `once` passes this function, from a frame that waits for it to return.
    let (a, object, routine) = unsafe { ((*call).a, (*call).object, (*call).routine) };
    // SAFETY: the program asked for one call of its routine. An exception or cancellation may leave
    // the routine, because nothing in this function has a destructor.
    unsafe { routine() };
    // The event has no duration, because the routine's time is the program's.
    a.instant(OnceRun, object, 0);
    // SAFETY: the frame of the call waits for this function to return.
    unsafe { (*call).ran = true };
}

fn once(a: Active, object: Ptr, routine: Routine, call: impl FnOnce(Routine) -> c_int) -> c_int {
    let before = a.now();
    let mut state = Call { a, object, routine, ran: false, outer: a.tls.call.load(Relaxed) };
    a.tls.call.store((&raw mut state).expose_provenance() as u64, Relaxed);
    let result = call(run);
    a.tls.call.store(state.outer, Relaxed);
    if result == 0 && !state.ran {
        a.in_order(OncePass, object, 0, before, a.since(before));
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_once(
    object: Ptr,
    routine: Routine,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments, passed on, or the stand-in.
    let call = |routine| unsafe { (real().pthread_once)(object, routine) };
    match active(caller) {
        Some(a) => once(a, object, routine, call),
        None => call(routine),
    }
}

pub(crate) unsafe extern "C-unwind" fn call_once(object: Ptr, routine: Routine, caller: usize) {
    let call = |routine| {
        // SAFETY: the caller's arguments are passed on, or the stand-in.
        unsafe { (real().call_once)(object, routine) };
        0
    };
    match active(caller) {
        Some(a) => once(a, object, routine, call),
        None => call(routine),
    };
}
