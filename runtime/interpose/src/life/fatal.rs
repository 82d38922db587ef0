//! The signals that end a process, and how to let one do so after something else has been done
//! first.
//!
//! A handler that replaces the default action of such a signal writes what it has, calls [`end`]
//! and returns. Then the process ends by the signal that its parent would have seen without the
//! handler.

use std::ffi::c_int;

use libc::sigaction as Action;

use super::real;
use crate::kernel::call;
use crate::memory;

/// The classic signals (signal(7)) whose default action does not end the process, and SIGKILL,
/// which may not be handled.
const HARMLESS: [c_int; 9] = [
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGKILL,
];
/// The signals that an instruction causes and causes again when the handler returns. (That of
/// SIGTRAP is not repeated.)
const FAULTS: [c_int; 4] = [libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV];
/// The first real-time signal that the C library leaves to programs.
const REAL_TIME: c_int = 34;
/// The highest signal number.
pub const LAST: c_int = 64;

/// Whether the signal's default action ends the process and a handler may replace it.
#[must_use]
pub fn is_fatal(signal: c_int) -> bool {
    let classic = (1..32).contains(&signal) && !HARMLESS.contains(&signal);
    classic || (REAL_TIME..=LAST).contains(&signal)
}

/// Whether an instruction of the program caused the signal, which came with this `si_code`. Signals
/// that programs and the kernel's timers send have no positive code or are not among these signals.
fn is_fault(signal: c_int, code: c_int) -> bool {
    code > 0 && FAULTS.contains(&signal)
}

pub(super) fn default_action() -> Action {
    // SAFETY: an action is plain data for which zero is a value: the default, no flags, an empty
    // mask.
    unsafe { std::mem::zeroed() }
}

/// Gives a signal its default action.
fn restore(signal: c_int) {
    let default = default_action();
    // SAFETY: the action is live.
    unsafe { (real().sigaction)(signal, &raw const default, std::ptr::null_mut()) };
}

/// Lets a signal whose handler this thread is in do its default action once the handler has
/// returned. An instruction that caused the signal does so again; any other signal is sent again
/// (it is blocked until then).
pub fn end(signal: c_int, code: c_int) {
    restore(signal);
    if is_fault(signal, code) {
        return;
    }
    let (process, thread) = (memory::process_id() as usize, memory::thread_id() as usize);
    let signal = usize::try_from(signal).unwrap_or(0);
    // SAFETY: the call only sends this thread a signal.
    let _ = unsafe { call(libc::SYS_tgkill, [process, thread, signal]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fatal_signal_ends_a_process_and_no_other_does() {
        for signal in (1..=LAST).filter(|signal| !matches!(signal, 32 | 33)) {
            let expected = is_fatal(signal) || signal == libc::SIGKILL;
            // An emulator keeps some real-time signals for itself.
            if let Some(ended) = ends_a_copy(signal) {
                assert_eq!(ended, expected, "{signal}");
            } else {
                assert!(signal > REAL_TIME, "{signal} cannot be sent");
            }
        }
        // The C library uses these two itself.
        assert!(!is_fatal(32) && !is_fatal(33));
        assert_eq!((1..=LAST).filter(|s| is_fatal(*s)).count(), 22 + 31);
    }

    /// Whether a copy of this process that sends itself the signal is ended by it; `None` if there
    /// is no such signal.
    fn ends_a_copy(signal: c_int) -> Option<bool> {
        // SAFETY: the copy only makes system calls, and leaves no memory image behind.
        unsafe {
            let copy = libc::fork();
            assert!(copy >= 0, "a copy of the process");
            if copy == 0 {
                libc::prctl(libc::PR_SET_DUMPABLE, 0);
                restore(signal);
                let mut none: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
                let sent = libc::kill(libc::getpid(), signal);
                libc::_exit(c_int::from(sent != 0));
            }
            let mut status = 0;
            libc::waitpid(copy, &raw mut status, libc::WUNTRACED);
            if libc::WIFSTOPPED(status) {
                libc::kill(copy, libc::SIGKILL);
                libc::waitpid(copy, std::ptr::null_mut(), 0);
                return Some(false);
            }
            let there = !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) == 0;
            there.then(|| libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == signal)
        }
    }

    #[test]
    fn a_fault_is_what_an_instruction_caused() {
        assert!(is_fault(libc::SIGSEGV, 1));
        assert!(!is_fault(libc::SIGSEGV, libc::SI_USER));
        assert!(!is_fault(libc::SIGTRAP, 1), "it is not done again");
        assert!(!is_fault(libc::SIGALRM, libc::SI_KERNEL));
    }
}
