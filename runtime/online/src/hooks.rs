//! The functions that the program calls: hooks of instrumented code (`workspan::abi`), and the marks of
//! `contech/cilk.h` in other code.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use contech_guest::exports;
use workspan::abi;

use crate::profile::Own;

mod asked;
mod gate;
pub(crate) mod log;
mod start;

pub(crate) use asked::{At, catch_up, end_with, interrupted, write_at_the_end, write_now};
pub(crate) use gate::{is_measured, readings, with_own};
pub(crate) use log::{New, Reading, event};

/// The code that makes the next invocation, if that invocation is a spawn by other code than it returns to; otherwise
/// zero.
static SPAWNS: AtomicUsize = AtomicUsize::new(0);

// `workspan::abi::DUE`.
exports! {
    contech_ws_due [keeping] = gate::due;
}

/// Marks the next invocation as a spawn by the code before `from`.
pub(crate) fn spawns(from: usize) {
    if let Some(state) = gate::owners() {
        state.spawn.store(abi::SPAWN, Relaxed);
        SPAWNS.store(from, Relaxed);
        // The log is read at the spawn's event, because only the last event read can have this caller.
        state.least.store(gate::ALL, Relaxed);
    }
}

/// Takes the mark of [`spawns`] back, since the invocation has been made.
pub(crate) fn spawned() {
    if let Some(state) = gate::owners() {
        state.spawn.store(0, Relaxed);
        SPAWNS.store(0, Relaxed);
    }
}

/// The code that makes the reported invocation, if it is other code than the invocation returns to. The mark is
/// taken.
pub(crate) fn by_other_code() -> Option<usize> {
    match SPAWNS.load(Relaxed) {
        0 => None,
        _ => Some(SPAWNS.swap(0, Relaxed)),
    }
}

/// Says that the innermost invocation waits for what it spawned.
pub(crate) fn sync() {
    contech_cilk_sync();
}

/// Says that an ordered section of a loop begins, or ends.
pub(crate) fn ordered(begins: bool) {
    with_own(Own::NOTHING, |profile, told| profile.ordered(begins, told));
}

/// Marks the next call as a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    if let Some(state) = gate::owners() {
        state.spawn.store(abi::SPAWN, Relaxed);
    }
}

/// Says that the function waits for what it spawned (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_sync() {
    with_own(Own::NOTHING, |profile, told| {
        profile.advance(told);
        profile.sync(None, told.now);
    });
}
