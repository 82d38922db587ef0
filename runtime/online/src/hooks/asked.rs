//! Requests for the profile: at the end, during the run by SIGUSR2, and by a signal that ends the program.
#![allow(unsafe_code, reason = "the state of another thread")]

use std::sync::atomic::Ordering;

use contech_guest::arch::thread_pointer;
use contech_guest::say;

use super::gate::{ALL, ASKED, ENDING, FOREIGN, GATE, OPEN, OWNER, STATE, with};
use crate::profile::Profile;
use crate::write::{self, When};

/// Handles SIGUSR2: the next event writes the profile.
pub(crate) fn asked() {
    OPEN.store(ASKED, Ordering::Relaxed);
    // A hook that is running sets the gate to the request when it ends.
    let open = OWNER.load(Ordering::Relaxed);
    let _ = GATE.compare_exchange(open, ASKED, Ordering::Relaxed, Ordering::Relaxed);
    let state = STATE.load(Ordering::Relaxed);
    // SAFETY: the pointer is null, or that of the first thread's state, which lives as long as the process.
    if let Some(state) = unsafe { state.as_ref() } {
        state.least.store(ALL, Ordering::Relaxed);
    }
}

/// Writes the profile after the program has ended.
pub(crate) fn write_at_the_end() {
    write_now(When::End);
    if OWNER.load(Ordering::Relaxed) != thread_pointer() {
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

/// Writes the profile of what has completed.
pub(crate) fn write_now(when: When) {
    with(|profile, now| {
        profile.advance(now);
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), when);
    });
}

/// What a signal interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// The owner's code, or library code that it called.
    Program,
    /// A hook of the owner's thread.
    Hook,
    /// Another thread.
    Elsewhere,
}

/// What a signal handler of this thread interrupted. If it is the program's code, the profile can be written at once.
pub(crate) fn interrupted() -> At {
    let owner = OWNER.load(Ordering::Relaxed);
    if owner != thread_pointer() {
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

/// Makes the next event write the profile and end the program by a signal.
pub(crate) fn end_with(signal: libc::c_int) {
    ENDING.store(signal, Ordering::Relaxed);
    asked();
}
