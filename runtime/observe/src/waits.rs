//! Records that a thread waits.

use std::ffi::{c_int, c_long};

use contech_interpose::futex::{Does, does};
use contech_observation::State;

use crate::real::real;
use crate::{clock, tls};

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
    lane.leave(state, caller, before, clock::now());
    result
}

/// Yields are only counted: how long another thread runs instead is not known.
pub(crate) unsafe extern "C-unwind" fn sched_yield(caller: usize) -> c_int {
    if let Some(lane) = tls::lane()
        && lane.is_running()
    {
        lane.sites.add(caller, State::Spin, 1, 0);
    }
    // SAFETY: the function takes no arguments.
    unsafe { (real().sched_yield)() }
}

/// By convention (of the C library and of Rust's), the value of a futex that is locked while
/// another thread waits for it.
const CONTENDED: u32 = 2;

/// Makes a system call of futexes, on which Rust's library, C++20 and others build their locks and
/// conditions, and notes that the thread waits.
pub(crate) fn futex(
    [_, operation, value, ..]: [usize; 6],
    caller: usize,
    call: impl FnOnce() -> c_long,
) -> c_long {
    #[allow(clippy::cast_possible_truncation, reason = "the value is 32 bits of the argument")]
    let state = match does(operation) {
        Does::Lock => State::Lock,
        Does::Wait if value as u32 == CONTENDED => State::Lock,
        Does::Wait => State::Condition,
        Does::Wake | Does::Unlock | Does::Other => return call(),
    };
    wait(state, caller, call)
}
