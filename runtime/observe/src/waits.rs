//! Records that a thread waits.

use std::ffi::c_int;

use contech_observation::State;

use crate::real::real;
use crate::tls;

/// Runs `call` and counts its time as a wait. If the thread already waits or schedules, that state
/// goes on instead. A wait that is cancelled lasts until the thread has ended.
#[inline]
pub(crate) fn wait<R>(state: State, caller: usize, call: impl FnOnce() -> R) -> R {
    let Some(lane) = tls::lane() else {
        return call();
    };
    let Some(before) = lane.enter(state) else {
        return call();
    };
    let result = call();
    lane.leave(state, caller, before);
    result
}

/// Yields are only counted: how long another thread runs instead is not known.
pub(crate) unsafe extern "C-unwind" fn sched_yield(caller: usize) -> c_int {
    if let Some(lane) = tls::lane()
        && lane.is_running()
    {
        lane.sites.add(caller, State::Spin, 0);
    }
    // SAFETY: the function takes no arguments.
    unsafe { (real().sched_yield)() }
}
