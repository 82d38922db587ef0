//! The profile is asked for: at the end, midway by SIGUSR2, and by a signal that ends the program.
#![allow(unsafe_code, reason = "the state of another thread")]

use std::sync::atomic::Ordering;

use contech_intercept::say;

use super::gate::{ALL, ASKED, ENDING, FOREIGN, GATE, OPEN, OWNER, STATE, thread, with};
use crate::profile::Profile;
use crate::write::{self, When};

/// SIGUSR2: the next event writes the profile.
pub(super) extern "C" fn asked(_: libc::c_int) {
    OPEN.store(ASKED, Ordering::Relaxed);
    // A hook at work opens the gate that way itself.
    let open = OWNER.load(Ordering::Relaxed);
    let _ = GATE.compare_exchange(open, ASKED, Ordering::Relaxed, Ordering::Relaxed);
    let state = STATE.load(Ordering::Relaxed);
    // SAFETY: none, or that of the first thread, which is there as long as the process.
    if let Some(state) = unsafe { state.as_ref() } {
        state.least.store(ALL, Ordering::Relaxed);
    }
}

/// The profile of the program, which has ended.
pub(crate) fn write_at_the_end() {
    write_now(When::End);
    if OWNER.load(Ordering::Relaxed) != thread() {
        say("another thread ended the program: no work/span profile is written");
    } else if GATE.load(Ordering::Relaxed) == 0 {
        say(
            "a signal handler interrupted the profiler and did not return: no work/span profile is written",
        );
    }
}

/// Takes the time up to now into the profile.
pub(crate) fn catch_up() {
    with(Profile::advance);
}

/// The profile of what has completed.
pub(crate) fn write_now(when: When) {
    with(|profile, told| {
        profile.advance(told);
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), when);
    });
}

/// Where a signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// In the owner's code, or library code it called.
    Program,
    /// In a hook of the owner's.
    Hook,
    /// In another thread.
    Elsewhere,
}

/// Where this thread is, for a signal handler. Where it is the program's code the profile can be written at once.
pub(crate) fn interrupted() -> At {
    let owner = OWNER.load(Ordering::Relaxed);
    if owner != thread() {
        return At::Elsewhere;
    }
    match GATE.load(Ordering::Relaxed) {
        0 => At::Hook,
        _ => {
            OPEN.store(owner, Ordering::Relaxed);
            GATE.store(owner, Ordering::Relaxed);
            At::Program
        }
    }
}

/// The next event writes the profile and ends the program by a signal.
pub(crate) fn end_with(signal: libc::c_int) {
    ENDING.store(signal, Ordering::Relaxed);
    asked(signal);
}
