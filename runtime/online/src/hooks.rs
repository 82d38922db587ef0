//! The functions that the program calls: hooks of instrumented code (`workspan::abi`), and the
//! marks of `contech/cilk.h` in other code.
#![allow(unsafe_code, reason = "C ABI, and state that only the first thread touches")]

use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::exports;
use workspan::abi;

pub(crate) mod gate;
mod start;

pub(crate) use gate::{write_at_the_end, write_now};
use start::start;

// `workspan::abi::DUE`.
exports! {
    contech_ws_due [keeping] = due;
}

/// Reads the log.
extern "C" fn due() {
    gate::due(start);
}

/// Marks the next call as a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    if let Some(state) = gate::owners(start) {
        state.spawn.store(abi::SPAWN, Relaxed);
    }
}

/// Says that the function waits for what it spawned (`contech/cilk.h`, in code that is not
/// instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_sync() {
    gate::with_own(start, |profile, now| profile.sync(None, now));
}
