//! System calls of the program, made as the C library's `syscall` makes them.

use std::arch::{asm, naked_asm};
use std::ffi::c_long;

/// Makes a system call past the C library: nothing of the program's can stand in front of it, and errno stays as it
/// is. A failure is the negative number of the error.
///
/// # Safety
/// The requirements of the system call apply.
#[inline(always)]
pub unsafe fn raw_call(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller promises what the system call requires; the kernel changes no registers but these.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
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
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc #0",
        "cmn x0, #4095",
        "b.hs 2f",
        "ret",
        "2:",
        "stp x29, x30, [sp, #-32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        "neg x0, x0",
        "str x0, [sp, #16]",
        "bl {errno}",
        "ldr x1, [sp, #16]",
        "str w1, [x0]",
        "mov x0, #-1",
        "ldp x29, x30, [sp], #32",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
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
                $(concat!("cmp x0, {", stringify!($key), "}"), "b.eq 2f",)*
                "b {system_call}",
                "2:",
                "mov x7, x30",
                "b {watch}",
                $($key = const $number,)*
                watch = sym $watch,
                system_call = sym $crate::arch::system_call,
            )
        }
    };
}
