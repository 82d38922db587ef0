//! Linux on AArch64. The clock is the virtual counter, which is slower than the processor's cycles.

use std::arch::{asm, naked_asm};
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};

mod block;
mod calls;
mod flush;
mod stubs;

pub use calls::{raw_call, system_call};
pub use flush::keeping_all;

/// The clock: ticks at a constant rate, the same on every core. Only differences have a meaning.
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets programs read the counter.
    unsafe {
        asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nostack, nomem, preserves_flags));
    }
    ticks
}

/// Packs bytes as `contech_trace::pack` describes it. Returns false, because there is no packer for this processor, and
/// traces are written as they are.
#[must_use]
pub fn pack(_: &[u8], packed: &mut Vec<u8>) -> bool {
    packed.clear();
    false
}

/// Waits until every earlier instruction is done. [`ticks`] alone may be read ahead of a slow instruction.
#[inline(always)]
pub fn in_order() {
    // SAFETY: the instruction changes no memory.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
}

/// Frequency of the clock in Hz, as the firmware states it; 0 if it does not.
#[must_use]
pub fn stated_hz() -> u64 {
    let hz: u64;
    // SAFETY: Linux lets programs read the register.
    unsafe {
        asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nostack, nomem, pure, preserves_flags));
    }
    hz
}

/// The thread pointer: a number that no other living thread of the process has.
#[inline(always)]
#[must_use]
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the instruction only reads the register, which each thread has for itself.
    unsafe {
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, pure, preserves_flags));
    }
    pointer
}

/// The stack pointer that a `longjmp` to this buffer sets.
///
/// # Safety
/// `setjmp` filled the buffer.
#[must_use]
pub unsafe fn jump_target(buffer: *const u64) -> usize {
    /// The word of the buffer that holds the stack pointer (`JB_SP` of the C library), mixed with the guard.
    const STACK_POINTER: usize = 13;
    /// Words of a `jmp_buf`.
    const WORDS: usize = 39;
    // The guard is a variable of the dynamic linker that others cannot name. A buffer of our own tells it.
    let mut own = [0; WORDS];
    let here = mark(own.as_mut_ptr());
    let guard = own[STACK_POINTER] ^ here;
    // SAFETY: the caller promises that the buffer is filled.
    let mangled = unsafe { buffer.add(STACK_POINTER).read() };
    usize::try_from(mangled ^ guard).unwrap_or(0)
}

/// Fills a jump buffer and returns the stack pointer that the call of `_setjmp` had.
#[unsafe(naked)]
extern "C" fn mark(buffer: *mut u64) -> u64 {
    naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "bl _setjmp",
        "mov x0, sp",
        "ldp x29, x30, [sp], #16",
        "ret",
    )
}

/// The general registers and the stack pointer.
pub type Registers = [usize; 32];

/// General registers of the code that a signal interrupted.
#[must_use]
pub fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    std::array::from_fn(|i| {
        let register = machine.regs.get(i).unwrap_or(&machine.sp);
        usize::try_from(*register).unwrap_or(0)
    })
}

/// Address of the next instruction of the code that a signal interrupted.
#[must_use]
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    usize::try_from(context.uc_mcontext.pc).unwrap_or(0)
}

/// Whether code that was interrupted at `at` waits in a system call. The kernel shows the instruction after the call,
/// or the call itself if it is to be made again after the handler.
///
/// # Safety
/// Code around `at` is mapped and stays so.
#[must_use]
pub unsafe fn is_in_system_call(at: usize) -> bool {
    /// `svc #0`.
    const SYSCALL: u32 = 0xd400_0001;
    [at, at.wrapping_sub(size_of_val(&SYSCALL))]
        .into_iter()
        .any(|at| {
            let instruction = std::ptr::with_exposed_provenance::<u32>(at);
            // SAFETY: the caller promises that the code is mapped.
            unsafe { instruction.read_unaligned() == SYSCALL }
        })
}

/// Calls a function on another stack.
///
/// # Safety
/// `top` is the upper end of an unused stack, aligned to 16 bytes; the function does not unwind.
pub unsafe fn call_on_stack(top: usize, function: extern "C" fn()) {
    // SAFETY: the stack is unused; the old stack pointer comes back before the block ends.
    unsafe {
        asm!(
            "mov x20, sp",
            "mov sp, {top}",
            "blr {function}",
            "mov sp, x20",
            top = in(reg) top,
            function = in(reg) function,
            out("x20") _,
            clobber_abi("C"),
        );
    }
}

/// Reads the stack `BYTES` below the stack pointer, so that a full stack causes its fault here.
#[inline(always)]
pub fn touch_stack<const BYTES: usize>() {
    // SAFETY: the instruction reads where the stack grows next; if it cannot grow, the program ends by the fault.
    unsafe {
        asm!(
            "sub {at}, sp, {bytes}",
            "ldrb wzr, [{at}]",
            at = out(reg) _,
            bytes = in(reg) BYTES,
            options(nostack, readonly, preserves_flags),
        );
    }
}

/// Subtracts such that no handler of this thread comes in between: the processor repeats what is interrupted.
#[inline(always)]
pub fn subtract_here(word: &AtomicI64, what: i64) {
    word.fetch_sub(what, Relaxed);
}

/// Adds, with wrap-around, such that no handler of this thread comes in between. Whoever sees the sum sees what this
/// thread did before.
#[inline(always)]
pub fn add_here(word: &AtomicU64, what: u64) {
    word.fetch_add(what, Release);
}

/// Adds such that no handler of this thread comes in between, and returns the old value.
#[inline(always)]
pub fn fetch_add_here(word: &AtomicUsize, what: usize) -> usize {
    word.fetch_add(what, Relaxed)
}
