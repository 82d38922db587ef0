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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Errno;

    #[test]
    fn a_result_is_passed_on_and_a_failure_is_errno() {
        let six = [0; 6];
        let call = |number, [a, b, c, d, e, f]: [usize; 6]| {
            // SAFETY: the calls take no pointers.
            unsafe { system_call(number, a, b, c, d, e, f) }
        };
        assert_eq!(call(libc::SYS_getpid, six), i64::from(std::process::id()));
        let nowhere = usize::MAX;
        assert_eq!(call(libc::SYS_close, [nowhere, 0, 0, 0, 0, 0]), -1);
        assert_eq!(Errno::get(), libc::EBADF);
    }

    #[test]
    fn all_six_arguments_arrive() {
        let length = 4096;
        // SAFETY: the call makes a new mapping, whose file and offset are the last two arguments.
        let refused = unsafe { system_call(libc::SYS_mmap, 0, length, 1, 2, usize::MAX, 1) };
        assert_eq!((refused, Errno::get()), (-1, libc::EINVAL), "an odd offset");
        // SAFETY: the call makes a new mapping.
        let at = unsafe { system_call(libc::SYS_mmap, 0, length, 1, 0x22, usize::MAX, 0) };
        assert!(at > 0);
        let at = usize::try_from(at).unwrap();
        // SAFETY: nothing refers to the mapping.
        let gone = unsafe { system_call(libc::SYS_munmap, at, length, 0, 0, 0, 0) };
        assert_eq!(gone, 0);
    }
}
