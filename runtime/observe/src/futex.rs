//! `syscall`: what Rust's library, C++20 and others build their locks and conditions on.

use std::arch::naked_asm;
use std::ffi::c_long;
use std::sync::atomic::Ordering::Relaxed;

use contech_observation::State;

use crate::{tls, waits};

/// Of a futex by convention (the C library's, Rust's): locked, and somebody waits.
const CONTENDED: u32 = 2;
/// FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET.
const WAITS: [usize; 3] = [0, 6, 9];
const COMMAND: usize = 127;

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
        pass = sym pass,
        futex = sym futex,
    )
}

/// The system call itself, as the C library makes it.
#[unsafe(naked)]
unsafe extern "C-unwind" fn pass(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    naked_asm!(
        ".cfi_startproc",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, qword ptr [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 2f",
        "ret",
        "2:",
        "neg eax",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "call __errno_location@PLT",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "mov dword ptr [rax], ecx",
        "mov rax, -1",
        "ret",
        ".cfi_endproc",
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
    let call = || unsafe { pass(number, word, operation, value, until, second, mask) };
    if !WAITS.contains(&(operation & COMMAND)) {
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
