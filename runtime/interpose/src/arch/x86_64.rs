//! Linux on x86-64. The clock is the time stamp counter.

use std::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};
use std::arch::{asm, naked_asm};
use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};

mod block;
mod calls;
mod flush;
mod pack;
mod stubs;

pub use calls::{raw_call, system_call};
pub use flush::keeping_all;
pub use pack::pack;

/// The clock: ticks at a constant rate, the same on every core except for a few ticks. Only
/// differences have a meaning.
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has RDTSC, and Linux lets programs use it.
    unsafe { _rdtsc() }
}

/// Waits until every earlier instruction is done. [`ticks`] alone may be read ahead of a slow
/// instruction.
#[inline(always)]
pub fn in_order() {
    // SAFETY: every x86-64 processor has LFENCE, which changes no memory.
    unsafe { _mm_lfence() }
}

/// Frequency of the clock in Hz, as the processor or the hypervisor states it; 0 if neither does.
#[must_use]
pub fn stated_hz() -> u64 {
    let highest = __cpuid(0).eax;
    if highest >= 0x15 {
        let r = __cpuid(0x15);
        if r.eax != 0 && r.ebx != 0 && r.ecx != 0 {
            return u64::from(r.ecx) * u64::from(r.ebx) / u64::from(r.eax);
        }
    }
    let hypervisor = __cpuid(1).ecx >> 31 == 1;
    if hypervisor && __cpuid(0x4000_0000).eax >= 0x4000_0010 {
        return u64::from(__cpuid(0x4000_0010).eax) * 1000;
    }
    0
}

/// The thread pointer: a number that no other living thread of the process has.
#[inline(always)]
#[must_use]
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: on Linux the word at fs:0 is the thread's own address, in every thread.
    unsafe {
        asm!("mov {}, fs:0", out(reg) pointer, options(nostack, pure, readonly, preserves_flags));
    }
    pointer
}

/// The stack pointer that a `longjmp` to this buffer sets.
///
/// # Safety
/// `setjmp` filled the buffer.
#[must_use]
pub unsafe fn jump_target(buffer: *const u64) -> usize {
    /// The word of the buffer that holds the stack pointer (`JB_RSP` of the C library).
    const STACK_POINTER: usize = 6;
    /// The C library mixes in the guard and then rotates the word by this many bits.
    const ROTATION: u32 = 0x11;
    let guard: u64;
    // SAFETY: the instruction reads the pointer guard, which the C library keeps at this place of
    // every thread's control block.
    unsafe {
        asm!("mov {g}, qword ptr fs:[0x30]", g = out(reg) guard, options(nostack, readonly, pure));
    }
    // SAFETY: a jump buffer has eight words before its signal mask.
    let mangled = unsafe { buffer.add(STACK_POINTER).read() };
    usize::try_from(mangled.rotate_right(ROTATION) ^ guard).unwrap_or(0)
}

/// The general registers.
pub type Registers = [usize; 16];

/// General registers of the code that a signal interrupted.
#[must_use]
pub fn registers(context: &libc::ucontext_t) -> Registers {
    // The first sixteen registers of the context are the general ones.
    let all = context.uc_mcontext.gregs;
    std::array::from_fn(|i| usize::try_from(all[i].cast_unsigned()).unwrap_or(0))
}

/// Address of the next instruction of the code that a signal interrupted.
#[must_use]
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    let at = context.uc_mcontext.gregs[libc::REG_RIP as usize].cast_unsigned();
    usize::try_from(at).unwrap_or(0)
}

/// Whether code that was interrupted at `at` waits in a system call. The kernel shows the
/// instruction after the call, or the call itself if it is to be made again after the handler.
///
/// # Safety
/// Code around `at` is mapped and stays so.
#[must_use]
pub unsafe fn is_in_system_call(at: usize) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    [at, at.wrapping_sub(size_of_val(&SYSCALL))].into_iter().any(|at| {
        let instruction = std::ptr::with_exposed_provenance::<[u8; 2]>(at);
        // SAFETY: the caller promises that the code is mapped.
        unsafe { instruction.read_unaligned() == SYSCALL }
    })
}

/// Bytes of a stack of our own in a thread of the program.
pub const OWN_STACK: usize = 64 << 10;

/// Runs `f` on the stack whose upper end is `top`, unless that is 0 or the stack that is in use
/// already.
///
/// # Safety
/// `top` is 0, or the upper end of [`OWN_STACK`] bytes of memory, aligned to 64 bytes, that nobody
/// else uses meanwhile: no signal handler either.
pub unsafe fn on_own_stack<R>(top: usize, f: impl FnOnce() -> R) -> R {
    struct Call<F, R>(Option<F>, Option<R>);
    extern "C-unwind" fn call<F: FnOnce() -> R, R>(call: *mut Call<F, R>) {
        // SAFETY: the pointer is to what lives in the frame below.
        let call = unsafe { &mut *call };
        call.1 = call.0.take().map(|f| f());
    }
    fn of<F: FnOnce() -> R, R>(f: F) -> (Call<F, R>, usize) {
        (Call(Some(f), None), call::<F, R> as *const () as usize)
    }
    let here = 0u8;
    if top == 0 || top.wrapping_sub((&raw const here).addr()) <= OWN_STACK {
        return f();
    }
    let (mut all, function) = of(f);
    // SAFETY: the caller vouches for the stack; the function takes a pointer to what lives here.
    unsafe { call_on_stack(top, function, (&raw mut all).cast()) };
    let Some(result) = all.1 else {
        unreachable!("the function was called");
    };
    result
}

/// Calls a function on another stack, with a pointer.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_on_stack(top: usize, function: usize, argument: *mut c_void) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdi",
        "mov rdi, rdx",
        "call rsi",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Subtracts in one instruction, so that no handler of this thread comes in between. Another thread
/// may.
#[inline(always)]
pub fn subtract_here(word: &AtomicI64, what: i64) {
    // SAFETY: the instruction changes only the word, which is live.
    unsafe {
        asm!("sub qword ptr [{word}], {what}", word = in(reg) word.as_ptr(), what = in(reg) what, options(nostack));
    }
}

/// Adds, with wrap-around, in one instruction, so that no handler of this thread comes in between.
/// Another thread may. Whoever sees the sum sees what this thread did before.
#[inline(always)]
pub fn add_here(word: &AtomicU64, what: u64) {
    // SAFETY: the instruction changes only the word, which is live.
    unsafe {
        asm!("add qword ptr [{word}], {what}", word = in(reg) word.as_ptr(), what = in(reg) what, options(nostack));
    }
}

/// Adds in one instruction and returns the old value, so that no handler of this thread comes in
/// between. Another thread may.
#[inline(always)]
pub fn fetch_add_here(word: &AtomicUsize, what: usize) -> usize {
    let mut what = what;
    // SAFETY: the instruction changes only the word, which is live.
    unsafe {
        asm!("xadd qword ptr [{word}], {what}", word = in(reg) word.as_ptr(), what = inout(reg) what, options(nostack));
    }
    what
}
