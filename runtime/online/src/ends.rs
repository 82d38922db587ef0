//! Programs that do not end by a return from `main` or a call of `exit`, but by a signal, `_exit` or `quick_exit`, or
//! that another program replaces. The profile of what has completed is written first; then the program ends as it would
//! have.
//!
//! A signal may interrupt anything, even the C library's allocator, so a copy of the process writes the profile:
//! whatever happens to the copy, the program ends by its own signal. In the middle of a hook the profile is
//! inconsistent. Then the next hook writes it, or this handler a little later.
#![allow(unsafe_code, reason = "signal handlers and system calls")]

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

use contech_guest::life::{self, End, Fatal, Life, fatal};
use contech_guest::say;

use crate::hooks::{At, asked, catch_up, end_with, interrupted, write_at_the_end, write_now};
use crate::write::When;

/// Bytes of the stack for handlers: a program may end because its own stack is full.
const HANDLER_STACK: usize = 64 << 10;
/// Seconds that a copy may take.
const PATIENCE: u32 = 30;
/// How often a signal that came in the middle of a hook is put off, and by how many nanoseconds each time.
const PUT_OFF: u32 = 1000;
const LATER: i64 = 2_000_000;

/// How often a signal came in the middle of a hook.
static LATE: AtomicU32 = AtomicU32::new(0);
/// The timer that then sends the signal again.
static TIMER: AtomicI32 = AtomicI32::new(-1);

/// The profiler's part in the life of the process.
struct Profiled;

contech_guest::life!(Profiled);

impl Life for Profiled {
    fn end(end: End) {
        // Copies of the process (by fork) leave its file alone.
        if Self::is_at_home() {
            match end {
                End::Exit => write_at_the_end(),
                // If that fails, the program goes on.
                End::Exec => write_now(When::Midway),
            }
        }
    }

    fn killed(fatal: &Fatal) -> bool {
        let signal = fatal.signal;
        if signal == libc::SIGUSR2 {
            asked();
            return false;
        }
        match interrupted() {
            At::Hook
                if !fatal::is_fault(signal, fatal.code) && LATE.fetch_add(1, Relaxed) < PUT_OFF =>
            {
                end_with(signal);
                again(signal);
                return false;
            }
            At::Program => in_a_copy(signal),
            At::Hook | At::Elsewhere => {
                say("ended by a signal where no work/span profile could be written");
            }
        }
        true
    }
}

/// Makes sure that the profile is written however the program ends.
pub(crate) fn watch() {
    life::begin();
    life::watch_quick_exit::<Profiled>();
    handler_stack();
    life::signals::install::<Profiled>();
}

/// Sets a stack for handlers, unless the program has one.
fn handler_stack() {
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
            fatal::signals().for_each(fatal::restore);
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
