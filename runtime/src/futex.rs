//! `syscall(SYS_futex, ...)`: waiting and waking in headers of C++ (`std::atomic::wait`, semaphores, latches,
//! barriers, futures) and in programs that make their own locks.

use std::arch::naked_asm;
use std::ffi::c_long;

use contech_intercept::system_call::{is_futex as is, system_call};
use contech_trace::event::SyncOp::{FutexTimeout, FutexWait, FutexWake};

use crate::active::{TICKETS, active};
use crate::exit;
use crate::objects;
use crate::real::Ptr;
use crate::sandbox;

/// `syscall`: all of them are made here, for this library's own come this way, too, while it does not know
/// the C library's function yet.
#[unsafe(naked)]
pub(crate) extern "C-unwind" fn syscall() {
    naked_asm!(
        ".cfi_startproc",
        "cmp rdi, {seccomp_number}",
        "je {seccomp}",
        "cmp rdi, {exit_number}",
        "je {exit}",
        "cmp rdi, {exit_group_number}",
        "je {exit}",
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
        seccomp_number = const libc::SYS_seccomp,
        seccomp = sym sandbox::seccomp,
        exit_number = const libc::SYS_exit,
        exit_group_number = const libc::SYS_exit_group,
        exit = sym exit::system_call,
        futex_number = const libc::SYS_futex,
        futex = sym futex,
        system_call = sym system_call,
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
    let wakes = is(operation, &[libc::FUTEX_WAKE, libc::FUTEX_WAKE_BITSET]);
    let known = wakes || is(operation, &[libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET]);
    if !known || objects::is_own(caller) {
        return call();
    }
    let Some(a) = active(caller) else {
        return call();
    };
    let object: Ptr = std::ptr::without_provenance_mut(address);
    if wakes {
        return a.announce(FutexWake, object, call, |&woken| u64::try_from(woken).ok());
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
