//! System calls of futexes, on which Rust's library, C++20 and others build their locks and
//! conditions.

use std::ffi::c_long;

use contech_interpose::futex::{Does, does};
use contech_observation::State;

use crate::waits;

/// By convention (of the C library and of Rust's), the value of a futex that is locked while
/// another thread waits for it.
const CONTENDED: u32 = 2;

/// Makes the call, and notes that the thread waits.
pub(crate) fn wait(
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
    waits::wait(state, caller, call)
}
