//! The functions that the program calls: hooks of instrumented code (`workspan::abi`), and the marks of
//! `contech/cilk.h` in other code.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use std::sync::atomic::Ordering::Relaxed;

use contech_guest::exports;
use workspan::abi;

use crate::log::SPAWNS;
pub(crate) use crate::log::event;
use crate::profile::{Own, Profile, Told};

mod asked;
pub(crate) mod gate;
mod start;

pub(crate) use asked::{At, asked, catch_up, end_with, interrupted, write_at_the_end, write_now};
pub(crate) use gate::is_measured;
use start::start;

// `workspan::abi::DUE`.
exports! {
    contech_ws_due [keeping] = due;
}

/// Reads the log.
extern "C" fn due() {
    gate::due(start);
}

/// Calls `f` with the owner's profile, after every event so far and what the invocation did since its last one (`own`)
/// are taken into it. A call that was marked as a spawn is no longer one.
pub(crate) fn with_own(own: Own, f: impl FnOnce(&mut Profile, Told)) {
    gate::with_own(start, own, f);
}

/// Marks the next invocation as a spawn by the code before `from`.
pub(crate) fn spawns(from: usize) {
    if let Some(state) = gate::owners(start) {
        state.spawn.store(abi::SPAWN, Relaxed);
        SPAWNS.store(from, Relaxed);
        // The log is read at the spawn's event, because only the last event read can have this caller.
        state.least.store(gate::ALL, Relaxed);
    }
}

/// Takes the mark of [`spawns`] back, since the invocation has been made.
pub(crate) fn spawned() {
    if let Some(state) = gate::owners(start) {
        state.spawn.store(0, Relaxed);
        SPAWNS.store(0, Relaxed);
    }
}

/// Says that the task waits for its children.
pub(crate) fn wait() {
    with_own(Own::NOTHING, |profile, told| {
        profile.advance(told);
        profile.shadow.wait();
    });
}

/// Says that an ordered section of a loop begins, or ends.
pub(crate) fn ordered(begins: bool) {
    with_own(Own::NOTHING, |profile, told| profile.ordered(begins, told));
}

/// Marks the next call as a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    if let Some(state) = gate::owners(start) {
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
