//! Signals that end the process: the observation is written first, then the signal does what it would have done. The
//! program must not see that a handler replaces the default action.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_guest::memory;
use contech_guest::{arch, fatal};
use libc::{sigaction as Action, siginfo_t};

use crate::finish;
use crate::real::{Ptr, real};

/// Bytes of the stack for writing the observation: the program's own stack may be small or used up.
const STACK: usize = 256 << 10;

static INSTALLED: AtomicBool = AtomicBool::new(false);

fn ours() -> usize {
    on_fatal as *const () as usize
}

fn action() -> Action {
    // SAFETY: an action is plain data for which zero is a value (no handler, no flags, empty mask).
    let mut action: Action = unsafe { std::mem::zeroed() };
    action.sa_sigaction = ours();
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the mask is live.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    action
}

/// Replaces the default action of the fatal signals.
pub(crate) fn install() {
    INSTALLED.store(true, Relaxed);
    for signal in fatal::signals() {
        stand_in(signal);
    }
}

/// Replaces the action of `signal` by ours if it is the default action.
fn stand_in(signal: c_int) {
    if !INSTALLED.load(Relaxed) || !fatal::is_fatal(signal) {
        return;
    }
    // SAFETY: zero is a value.
    let mut now: Action = unsafe { std::mem::zeroed() };
    // SAFETY: the actions are live.
    unsafe {
        (real().sigaction)(signal, std::ptr::null(), &raw mut now);
        if now.sa_sigaction == libc::SIG_DFL {
            let action = action();
            (real().sigaction)(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

unsafe extern "C" fn on_fatal(signal: c_int, info: *mut siginfo_t, _: Ptr) {
    // SAFETY: the kernel passes valid information.
    let code = unsafe { (*info).si_code };
    if let Some(stack) = memory::map(STACK) {
        let top = stack.addr() + STACK;
        // SAFETY: the stack is freshly mapped, aligned, and empty.
        unsafe { arch::call_on_stack(top, write) };
    }
    fatal::end(signal, code);
}

extern "C" fn write() {
    finish::finish();
}

pub(crate) unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().sigaction)(signal, new, old) };
    // SAFETY: the call above has filled the caller's action.
    if result == 0 && !old.is_null() && unsafe { (*old).sa_sigaction } == ours() {
        // SAFETY: the action is the caller's; zero is the default action.
        unsafe { *old = std::mem::zeroed() };
    }
    if result == 0 && !new.is_null() {
        stand_in(signal);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: the caller's arguments are passed on.
    let old = unsafe { (real().signal)(signal, handler) };
    if old != libc::SIG_ERR {
        stand_in(signal);
    }
    if old == ours() { libc::SIG_DFL } else { old }
}
