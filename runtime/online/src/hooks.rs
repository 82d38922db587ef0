//! The functions that the program calls: hooks of instrumented code (`workspan::abi`), and the
//! marks of `contech/cilk.h` in other code.
#![allow(unsafe_code, reason = "C ABI, and state that only the first thread touches")]

use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::exports;
use workspan::abi;

mod gate;
mod start;

// `workspan::abi::DUE`.
exports! {
    contech_ws_due [keeping] = gate::due;
}

/// Marks the next call as a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    if let Some(state) = gate::owners() {
        state.spawn.store(abi::SPAWN, Relaxed);
    }
}

/// Says that the function waits for what it spawned (`contech/cilk.h`, in code that is not
/// instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_sync() {
    gate::with_own(|profile, now| profile.sync(None, now));
}
