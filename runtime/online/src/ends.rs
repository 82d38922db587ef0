//! Programs that do not end by a return from `main` or a call of `exit`, but by a signal, `_exit` or `quick_exit`.
//! The profile of what has completed is written first; then the program ends as it would have.
//!
//! A signal may interrupt anything, even the C library's allocator, so a copy of the process writes the profile:
//! whatever happens to the copy, the program ends by its own signal. In the middle of a hook the profile is
//! inconsistent. Then the next hook writes it, or this handler a little later.
#![allow(unsafe_code, reason = "signal handlers and system calls")]

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use contech_guest::fatal;

use crate::hooks::{At, catch_up, end_with, interrupted, write_at_the_end, write_now};
use crate::write::When;

/// Bytes of the stack for handlers: a program may end because its own stack is full.
const HANDLER_STACK: usize = 1 << 20;
/// Seconds that a copy may take.
const PATIENCE: u32 = 30;
/// How often a signal that came in the middle of a hook is put off, and by how many nanoseconds each time.
const PUT_OFF: u32 = 1000;
const LATER: i64 = 2_000_000;

/// The process that is profiled; copies of it (by fork) leave its file alone.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// How often a signal came in the middle of a hook.
static LATE: AtomicU32 = AtomicU32::new(0);
/// The timer that then sends the signal again.
static TIMER: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Signals that end the program by default; SIGUSR2 asks for the profile.
fn fatal_signals() -> impl Iterator<Item = c_int> {
    fatal::signals().filter(|signal| *signal != libc::SIGUSR2)
}

fn process() -> c_int {
    // SAFETY: the call has no arguments.
    unsafe { libc::getpid() }
}

/// Whether this is the process that is profiled, not a copy made by fork.
pub(crate) fn is_the_profiled_process() -> bool {
    PROCESS.load(Relaxed) == process()
}

/// Makes sure that the profile is written however the program ends.
pub(crate) fn watch() {
    PROCESS.store(process(), Relaxed);
    // SAFETY: these are plain registrations with functions of the right types, and the stack is never given back.
    unsafe {
        libc::atexit(finish);
        at_quick_exit(finish);
        handler_stack();
        for signal in fatal_signals() {
            let mut action: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if known != 0 || action.sa_sigaction != libc::SIG_DFL {
                continue;
            }
            action.sa_sigaction = ended as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigfillset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Sets a stack for handlers, unless the program has one.
unsafe fn handler_stack() {
    // SAFETY: the structures live through the calls, and the mapping lives for ever.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(std::ptr::null(), &raw mut stack) != 0
            || stack.ss_flags & libc::SS_DISABLE == 0
        {
            return;
        }
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        let memory = libc::mmap(std::ptr::null_mut(), HANDLER_STACK, access, kind, -1, 0);
        if memory != libc::MAP_FAILED {
            stack.ss_sp = memory;
            stack.ss_size = HANDLER_STACK;
            stack.ss_flags = 0;
            libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        }
    }
}

extern "C" fn finish() {
    if is_the_profiled_process() {
        write_at_the_end();
    }
}

/// Takes the place of the C library's `_exit`, which runs no handlers; its `exit` runs ours.
#[unsafe(no_mangle)]
extern "C" fn _exit(status: c_int) -> ! {
    finish();
    // SAFETY: the call ends the process.
    unsafe {
        loop {
            libc::syscall(libc::SYS_exit_group, status);
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn _Exit(status: c_int) -> ! {
    _exit(status)
}

/// Handles a signal whose default action ends the process.
unsafe extern "C" fn ended(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes valid information.
    let code = unsafe { (*info).si_code };
    if is_the_profiled_process() {
        match interrupted() {
            At::Hook if !fatal::is_fault(signal, code) && LATE.fetch_add(1, Relaxed) < PUT_OFF => {
                end_with(signal);
                again(signal);
                return;
            }
            At::Program => in_a_copy(signal),
            At::Hook | At::Elsewhere => {
                let line =
                    b"contech: ended by a signal where no work/span profile could be written\n";
                // SAFETY: the call writes a constant.
                unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
            }
        }
    }
    fatal::end(signal, code);
}

/// Sends the signal to this process again soon, because the program may call no more hooks.
fn again(signal: c_int) {
    // SAFETY: the structures live through the calls. The timer is the kernel's and independent of those of
    // `setitimer`.
    unsafe {
        let mut timer = TIMER.load(Relaxed);
        if timer < 0 {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = signal;
            let clock = libc::CLOCK_MONOTONIC;
            libc::syscall(
                libc::SYS_timer_create,
                clock,
                &raw const event,
                &raw mut timer,
            );
            TIMER.store(timer, Relaxed);
        }
        let mut when: libc::itimerspec = std::mem::zeroed();
        when.it_value.tv_nsec = LATER;
        let nothing = std::ptr::null_mut::<libc::itimerspec>();
        libc::syscall(libc::SYS_timer_settime, timer, 0, &raw const when, nothing);
    }
}

/// Lets a copy of the process write the profile, and waits for the copy.
fn in_a_copy(signal: c_int) {
    // The copy has used no processor time, so it cannot measure when other programs had the processor.
    catch_up();
    // SAFETY: these are system calls with valid arguments. The copy has only this thread, never returns to the
    // program's code, and ends by itself or by the alarm.
    unsafe {
        let copy = libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0);
        if copy == 0 {
            for fatal in fatal_signals() {
                fatal::restore(fatal);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            libc::alarm(PATIENCE);
            write_now(When::Signal(signal));
            libc::syscall(libc::SYS_exit_group, 0);
        }
        let Ok(copy @ 1..) = c_int::try_from(copy) else {
            return;
        };
        while libc::waitpid(copy, std::ptr::null_mut(), libc::__WALL) < 0
            && *libc::__errno_location() == libc::EINTR
        {}
    }
}
