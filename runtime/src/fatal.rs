//! Signals that end the process: what is recorded is written first, then the signal does what it would
//! have done, so that whoever waits for the process sees the same.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use contech_runtime_core::finish::Finish;
use contech_runtime_core::memory;
use contech_runtime_core::queue::Patience;
use contech_trace::event::EndReason;
use libc::{sigaction, siginfo_t};

use crate::handlers;
use crate::real::{Ptr, real};
use crate::start::{self, guarded};
use crate::tls::block;

/// Signals whose default is the end of the process, but for those nobody can handle.
const FATAL: [c_int; 23] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGUSR1,
    libc::SIGSEGV,
    libc::SIGUSR2,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGSTKFLT,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSYS,
    // The first real-time signal the C library leaves to programs; the others are added by number.
    34,
];
const LAST: c_int = 64;

/// How long a dying process waits for its writer.
const PATIENCE: Patience = Patience {
    stall: Duration::from_secs(2),
    total: Duration::from_secs(30),
};

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the signal's default ends the process and a handler may say otherwise.
pub(crate) fn is_fatal(signal: c_int) -> bool {
    FATAL.contains(&signal) || (34..=LAST).contains(&signal)
}

/// Whether handlers stand in for the defaults.
pub(crate) fn is_installed() -> bool {
    INSTALLED.load(Relaxed)
}

/// Stands in for the default of every fatal signal, and wraps the handlers that are there already.
pub(crate) fn install() {
    if INSTALLED.swap(true, Relaxed) {
        return;
    }
    for signal in 1..=LAST {
        handlers::adopt(signal);
    }
}

/// The action that stands for a fatal signal's default.
pub(crate) fn action() -> sigaction {
    // SAFETY: an action is plain data for which zero is a value: no handler, no flags, empty mask.
    let mut action: sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_fatal as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the mask is live.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    action
}

unsafe extern "C" fn on_fatal(signal: c_int, info: *mut siginfo_t, context: Ptr) {
    // SAFETY: the kernel passes valid information.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    let own = code <= 0 && u32::try_from(sender) == Ok(memory::process_id());
    if let Some(recorder) = start::recorder() {
        // A signal the thread sent itself came at a call, where every record was in place.
        let note = (!own).then(|| {
            format!("ended by signal {signal}: records of other running threads may miss their last blocks")
        });
        let how = Finish {
            reason: EndReason::Signal,
            patience: Some(PATIENCE),
            note,
            // SAFETY: the kernel's argument.
            registers: Some(unsafe { handlers::registers(context) }),
        };
        guarded(|| recorder.finish(block(), &how));
    }
    restore_default(signal);
    let fault = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL].contains(&signal);
    if fault && code > 0 {
        // The instruction faults again, now with the default.
        return;
    }
    // Blocked while this handler runs: it arrives when it returns.
    // SAFETY: sends this thread the signal.
    unsafe {
        libc::syscall(
            libc::SYS_tgkill,
            libc::syscall(libc::SYS_getpid),
            libc::syscall(libc::SYS_gettid),
            signal,
        )
    };
}

fn restore_default(signal: c_int) {
    // SAFETY: as in `action`; zero is the default.
    let action: sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the action is live.
    unsafe { (real().sigaction)(signal, &raw const action, std::ptr::null_mut()) };
}
