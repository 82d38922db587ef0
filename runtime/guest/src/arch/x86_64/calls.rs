//! System calls of the program, made as the C library's `syscall` makes them.

use std::arch::naked_asm;
use std::ffi::c_long;

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

/// Exports `syscall`. Calls with the given numbers go to a function that takes the seven arguments and the address of
/// the caller. All others are made here, because this library's own calls use this function too, before the C
/// library's function is known.
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
