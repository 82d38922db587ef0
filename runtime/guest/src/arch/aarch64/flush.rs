//! Calls the slow path from instrumented code at any point, and returns with every register unchanged.

use std::arch::naked_asm;

/// Defines the functions that instrumented code calls when its buffer is full: `flush` takes the cursor in x0 and
/// returns the next one in x0, `check_flush` does the same for the second cursor. Of the other registers only x1 to x8,
/// x16, x17 and the flags change (`preserve_all`).
///
/// If the buffer is not full but the time must be noted, `flush` writes that event itself and saves no register. The
/// operands are offsets in the calling thread's block and constants of that event; `slow`, `gap` and `check_slow` are
/// the slow paths, which take a cursor and return one.
#[macro_export]
macro_rules! flush_stubs {
    ($block:ident; {$($operand:tt)*} {$($check_operand:tt)*}) => {
        #[unsafe(naked)]
        pub(crate) extern "C" fn flush(cursor: *mut u8) -> *mut u8 {
            ::std::arch::naked_asm!(
                concat!("adrp x16, :gottprel:", stringify!($block)),
                concat!("ldr x16, [x16, :gottprel_lo12:", stringify!($block), "]"),
                "mrs x17, tpidr_el0",
                "add x16, x16, x17",
                "ldr x4, [x16, {to}]",
                "cmp x0, x4",
                "b.hs 2f",
                "ldr x1, [x16, {from}]",
                "cmp x0, x1",
                "b.lo 2f",
                // A null limit demands a flush.
                "ldr x1, [x16, {limit}]",
                "cbz x1, 2f",
                "mrs x1, cntvct_el0",
                // x2 is the number of ticks since the last time event.
                "ldr x2, [x16, {last}]",
                "sub x2, x1, x2",
                "movz x3, #({long} & 0xffff)",
                "movk x3, #({long} >> 16), lsl #16",
                "cmp x2, x3",
                "b.hi 3f",
                "str x1, [x16, {last}]",
                // Each store of the event writes two bytes more than it means, and the next store overwrites them.
                "ldr x3, [x16, {epoch}]",
                "sub x1, x1, x3",
                "str x1, [x0]",
                "ldr x1, [x16, {taken}]",
                "stur x1, [x0, {time_taken}]",
                "mov w1, {time}",
                "stur w1, [x0, {time_id}]",
                "add x0, x0, {event}",
                "str x0, [x16, {cursor}]",
                "str xzr, [x16, {spin_event}]",
                "str xzr, [x16, {spin_mark}]",
                // The next time event comes at the next check that has something before it, or some bytes on.
                "add x1, x0, #1",
                "add x3, x0, {every}",
                "cmp x2, {apart}",
                "csel x1, x3, x1, lo",
                "cmp x1, x4",
                "csel x1, x4, x1, hi",
                "str x1, [x16, {limit}]",
                "ret",
                "2:",
                "ldr w1, [x16, {role}]",
                "cmp w1, {ended}",
                "b.eq 5f",
                "4:",
                "adrp x16, {slow}",
                "add x16, x16, :lo12:{slow}",
                "b {preserving}",
                "5:",
                // The scratch memory is used from the start again, because this thread may not be allowed any system
                // call any more.
                "ldr x1, [x16, {limit}]",
                "movz x2, #({scratch} & 0xffff)",
                "movk x2, #({scratch} >> 16), lsl #16",
                "subs x1, x1, x2",
                "b.lo 4b",
                "mov x0, x1",
                "str x0, [x16, {cursor}]",
                "ret",
                "3:",
                "adrp x16, {gap}",
                "add x16, x16, :lo12:{gap}",
                "b {preserving}",
                $($operand)*
                preserving = sym $crate::arch::keeping_all,
            )
        }

        #[unsafe(naked)]
        pub(crate) extern "C" fn check_flush(cursor: *mut u8) -> *mut u8 {
            ::std::arch::naked_asm!(
                concat!("adrp x16, :gottprel:", stringify!($block)),
                concat!("ldr x16, [x16, :gottprel_lo12:", stringify!($block), "]"),
                "mrs x17, tpidr_el0",
                "add x16, x16, x17",
                "ldr w1, [x16, {role}]",
                "cmp w1, {ended}",
                "b.ne 2f",
                "ldr x1, [x16, {limit}]",
                "movz x2, #({scratch} & 0xffff)",
                "movk x2, #({scratch} >> 16), lsl #16",
                "subs x1, x1, x2",
                "b.lo 2f",
                "mov x0, x1",
                "str x0, [x16, {cursor}]",
                "ret",
                "2:",
                "adrp x16, {slow}",
                "add x16, x16, :lo12:{slow}",
                "b {preserving}",
                $($check_operand)*
                preserving = sym $crate::arch::keeping_all,
            )
        }
    };
}

/// Calls the function in x16 with the argument in x0 and returns its result in x0. Every other register is unchanged,
/// except x16, x17 and the flags.
#[unsafe(naked)]
pub extern "C" fn keeping_all() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        ".cfi_def_cfa x29, 16",
        "sub sp, sp, #672",
        "stp x1, x2, [sp, #16]",
        "stp x3, x4, [sp, #32]",
        "stp x5, x6, [sp, #48]",
        "stp x7, x8, [sp, #64]",
        "stp x9, x10, [sp, #80]",
        "stp x11, x12, [sp, #96]",
        "stp x13, x14, [sp, #112]",
        "stp x15, x18, [sp, #128]",
        "stp x19, x20, [sp, #144]",
        "stp q0, q1, [sp, #160]",
        "stp q2, q3, [sp, #192]",
        "stp q4, q5, [sp, #224]",
        "stp q6, q7, [sp, #256]",
        "stp q8, q9, [sp, #288]",
        "stp q10, q11, [sp, #320]",
        "stp q12, q13, [sp, #352]",
        "stp q14, q15, [sp, #384]",
        "stp q16, q17, [sp, #416]",
        "stp q18, q19, [sp, #448]",
        "stp q20, q21, [sp, #480]",
        "stp q22, q23, [sp, #512]",
        "stp q24, q25, [sp, #544]",
        "stp q26, q27, [sp, #576]",
        "stp q28, q29, [sp, #608]",
        "stp q30, q31, [sp, #640]",
        // Signals are blocked and released here, outside of all Rust frames, because a pending asynchronous
        // cancellation unwinds from the second system call.
        "mov x19, x0",
        "mov x20, x16",
        "mov x0, #-1",
        "str x0, [sp, #8]",
        "mov x0, {set_mask}",
        "add x1, sp, #8",
        "mov x2, sp",
        "mov x3, #8",
        "mov x8, {sigprocmask}",
        "svc #0",
        "mov x0, x19",
        "blr x20",
        "mov x19, x0",
        "mov x0, {set_mask}",
        "mov x1, sp",
        "mov x2, #0",
        "mov x3, #8",
        "mov x8, {sigprocmask}",
        "svc #0",
        "mov x0, x19",
        "ldp q30, q31, [sp, #640]",
        "ldp q28, q29, [sp, #608]",
        "ldp q26, q27, [sp, #576]",
        "ldp q24, q25, [sp, #544]",
        "ldp q22, q23, [sp, #512]",
        "ldp q20, q21, [sp, #480]",
        "ldp q18, q19, [sp, #448]",
        "ldp q16, q17, [sp, #416]",
        "ldp q14, q15, [sp, #384]",
        "ldp q12, q13, [sp, #352]",
        "ldp q10, q11, [sp, #320]",
        "ldp q8, q9, [sp, #288]",
        "ldp q6, q7, [sp, #256]",
        "ldp q4, q5, [sp, #224]",
        "ldp q2, q3, [sp, #192]",
        "ldp q0, q1, [sp, #160]",
        "ldp x19, x20, [sp, #144]",
        "ldp x15, x18, [sp, #128]",
        "ldp x13, x14, [sp, #112]",
        "ldp x11, x12, [sp, #96]",
        "ldp x9, x10, [sp, #80]",
        "ldp x7, x8, [sp, #64]",
        "ldp x5, x6, [sp, #48]",
        "ldp x3, x4, [sp, #32]",
        "ldp x1, x2, [sp, #16]",
        "add sp, sp, #672",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_endproc",
        set_mask = const libc::SIG_SETMASK,
        sigprocmask = const libc::SYS_rt_sigprocmask,
    )
}
