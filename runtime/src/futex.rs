//! `syscall(SYS_futex, ...)`: waiting and waking in headers of C++ (`std::atomic::wait`, semaphores, latches,
//! barriers, futures) and in programs that make their own locks.

use std::arch::naked_asm;
use std::ffi::c_long;

use contech_trace::event::SyncOp::{FutexTimeout, FutexWait, FutexWake};

use crate::active::{TICKETS, active};
use crate::objects;
use crate::real::Ptr;

const WAIT: usize = 0;
const WAKE: usize = 1;
const WAIT_BITSET: usize = 9;
const WAKE_BITSET: usize = 10;
/// FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const FLAGS: usize = 128 | 256;

/// `syscall`: all of them are made here, for this library's own come this way, too, while it does not know
/// the C library's function yet.
#[unsafe(naked)]
pub(crate) extern "C-unwind" fn syscall() {
    naked_asm!(
        ".cfi_startproc",
        "cmp rdi, {futex_number}",
        "jne {system_call}",
        // Adds the caller's address to the seven arguments.
        "mov rax, qword ptr [rsp + 8]",
        "mov r10, qword ptr [rsp]",
        "sub rsp, 8",
        "push r10",
        "push rax",
        ".cfi_adjust_cfa_offset 24",
        "call {futex}",
        "add rsp, 24",
        ".cfi_adjust_cfa_offset -24",
        "ret",
        ".cfi_endproc",
        futex_number = const libc::SYS_futex,
        futex = sym futex,
        system_call = sym system_call,
    )
}

/// Any system call, as the C library's `syscall` makes it: negative results are errno.
#[unsafe(naked)]
unsafe extern "C-unwind" fn system_call(
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
        "neg rax",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "call {errno}",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "mov dword ptr [rax], ecx",
        "mov rax, -1",
        "ret",
        ".cfi_endproc",
        errno = sym libc::__errno_location,
    )
}

#[allow(clippy::too_many_arguments, reason = "the system call's")]
unsafe extern "C-unwind" fn futex(
    number: c_long,
    address: usize,
    operation: usize,
    value: usize,
    timeout: usize,
    address2: usize,
    value3: usize,
    caller: usize,
) -> c_long {
    // SAFETY: the caller's arguments, passed on.
    let call =
        || unsafe { system_call(number, address, operation, value, timeout, address2, value3) };
    let known = matches!(operation & !FLAGS, WAIT | WAKE | WAIT_BITSET | WAKE_BITSET);
    if !known || objects::is_own(caller) {
        return call();
    }
    let Some(a) = active(caller) else {
        return call();
    };
    let object: Ptr = std::ptr::without_provenance_mut(address);
    if matches!(operation & !FLAGS, WAKE | WAKE_BITSET) {
        // Drawn before: whoever is woken draws later.
        let ticket = TICKETS.next(address);
        let before = a.now();
        let woken = call();
        if let Ok(count) = u64::try_from(woken) {
            a.with_aux(FutexWake, object, ticket, count, before, 0);
        }
        return woken;
    }
    let before = a.now();
    let result = call();
    // SAFETY: the C library's errno of this thread.
    let errno = unsafe { *libc::__errno_location() };
    // Anything but these did not wait: the value had changed already.
    if result == 0 || errno == libc::ETIMEDOUT || errno == libc::EINTR {
        let op = if result == 0 { FutexWait } else { FutexTimeout };
        let ticket = TICKETS.next(address);
        a.timed(op, object, ticket, before, a.since(before));
    }
    result
}
