//! System calls of the program, made as the C library's `syscall` makes them.

use std::arch::{asm, naked_asm};
use std::ffi::c_long;

/// Makes a system call past the C library: nothing of the program's can stand in front of it, and
/// errno stays as it is. A failure is the negative number of the error.
///
/// # Safety
/// The requirements of the system call apply.
#[inline(always)]
pub unsafe fn raw_call(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller promises what the system call requires; the kernel changes no registers
    // but these.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes any system call; a failure is -1 and errno.
///
/// # Safety
/// The requirements of the system call apply.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn system_call(
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

/// Exports `syscall`. Calls with the given numbers go to a function that takes the seven arguments
/// and the address of the caller. All others are made here, because this library's own calls use
/// this function too, before the C library's function is known.
#[macro_export]
macro_rules! export_syscall {
    ($watch:path: $($key:ident = $number:expr),*) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C-unwind" fn syscall() {
            ::std::arch::naked_asm!(
                ".cfi_startproc",
                $(concat!("cmp rdi, {", stringify!($key), "}"), "je 2f",)*
                "jmp {system_call}",
                "2:",
                "mov rax, qword ptr [rsp + 8]",
                "mov r10, qword ptr [rsp]",
                "sub rsp, 8",
                "push r10",
                "push rax",
                ".cfi_adjust_cfa_offset 24",
                "call {watch}",
                "add rsp, 24",
                ".cfi_adjust_cfa_offset -24",
                "ret",
                ".cfi_endproc",
                $($key = const $number,)*
                watch = sym $watch,
                system_call = sym $crate::arch::system_call,
            )
        }
    };
}
