//! `syscall`: what Rust's library, C++20 and others build their locks and conditions on.

use std::arch::naked_asm;
use std::ffi::{c_int, c_long};
use std::sync::atomic::Ordering::Relaxed;

use contech_intercept::system_call::{is_futex, system_call};
use contech_observation::State;

use crate::{tls, waits};

/// Of a futex by convention (the C library's, Rust's): locked, and somebody waits.
const CONTENDED: u32 = 2;
/// Those that wait.
const WAITS: [c_int; 3] = [
    libc::FUTEX_WAIT,
    libc::FUTEX_LOCK_PI,
    libc::FUTEX_WAIT_BITSET,
];

/// Exported as `syscall`: passes it on, waits on futexes by way of [`futex`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) extern "C-unwind" fn syscall() {
    naked_asm!(
        "cmp rdi, {number}",
        "je 2f",
        "jmp {pass}",
        "2:",
        "mov rax, qword ptr [rip + __contech_observe_tls@GOTTPOFF]",
        "mov r11, qword ptr [rsp]",
        "mov qword ptr fs:[rax + {caller}], r11",
        "jmp {futex}",
        number = const libc::SYS_futex,
        caller = const tls::CALLER,
        pass = sym system_call,
        futex = sym futex,
    )
}

unsafe extern "C-unwind" fn futex(
    number: c_long,
    word: usize,
    operation: usize,
    value: usize,
    until: usize,
    second: usize,
    mask: usize,
) -> c_long {
    // SAFETY: the caller's arguments, passed on.
    let call = || unsafe { system_call(number, word, operation, value, until, second, mask) };
    if !is_futex(operation, &WAITS) {
        return call();
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the value is 32 bits of the argument"
    )]
    let state = if value as u32 == CONTENDED {
        State::Lock
    } else {
        State::Condition
    };
    waits::wait(state, tls::block().caller.load(Relaxed), call)
}
