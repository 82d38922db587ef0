//! The hook of `syscall`, on which Rust's library, C++20 and others build their locks and conditions.

use std::ffi::c_long;

use contech_guest::arch::system_call;
use contech_guest::export_syscall;
use contech_guest::futex::{Does, does};
use contech_guest::life::{Life, before_system_call};
use contech_observation::State;

use crate::life::Observed;
use crate::waits;

/// By convention (of the C library and of Rust's), the value of a futex that is locked while another thread waits for
/// it.
const CONTENDED: u32 = 2;
export_syscall! {
    watched:
        futex = libc::SYS_futex,
        exit = libc::SYS_exit,
        exit_group = libc::SYS_exit_group
}

#[allow(clippy::too_many_arguments, reason = "the system call's")]
unsafe extern "C-unwind" fn watched(
    number: c_long,
    word: usize,
    operation: usize,
    value: usize,
    until: usize,
    second: usize,
    mask: usize,
    caller: usize,
) -> c_long {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { system_call(number, word, operation, value, until, second, mask) };
    match number {
        libc::SYS_futex => {}
        // The C library does not report the end of such a thread.
        libc::SYS_exit => {
            Observed::thread_ends(true);
            return call();
        }
        _ => {
            before_system_call::<Observed>(number);
            return call();
        }
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the value is 32 bits of the argument"
    )]
    let state = match does(operation) {
        Does::Lock => State::Lock,
        Does::Wait if value as u32 == CONTENDED => State::Lock,
        Does::Wait => State::Condition,
        Does::Wake | Does::Unlock | Does::Other => return call(),
    };
    waits::wait(state, caller, call)
}
