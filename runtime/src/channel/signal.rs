//! Order through signals: who sends one, or installs its handler, comes before who gets it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contech_trace::event::SyncOp::{Receive, Send};

use super::{SIGNAL, object};
use crate::active::{Active, active, recording};
use crate::real::Ptr;

/// The signals that were sent, or whose handlers were installed, as bits.
static SENT: AtomicU64 = AtomicU64::new(0);

fn bit(signal: c_int) -> u64 {
    u32::try_from(signal - 1).ok().and_then(|n| 1u64.checked_shl(n)).unwrap_or(0)
}

fn object_of_signal(signal: c_int) -> Ptr {
    object(SIGNAL, u64::try_from(signal).unwrap_or(0))
}

/// Records that the thread is about to send a signal, or to do what makes the system send it.
pub(crate) fn sends_signal(a: Active, signal: c_int) {
    SENT.fetch_or(bit(signal), Relaxed);
    a.instant(Send, object_of_signal(signal), 0);
}

/// The same for a thread that installs a handler. One of a library that is not recorded accesses
/// nothing that is.
pub(crate) fn installs_handler(signal: c_int, handler: usize) {
    // A fault is the thread's own.
    const FAULTS: [c_int; 5] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    if !FAULTS.contains(&signal)
        && let Some(a) = active(handler)
    {
        sends_signal(a, signal);
    }
}

/// Records that a signal came to the calling thread.
pub(crate) fn signal_came(signal: c_int) {
    if SENT.load(Relaxed) & bit(signal) != 0
        && let Some(a) = recording()
    {
        a.instant(Receive, object_of_signal(signal), 0);
    }
}

/// By descriptor: the signals that a thread can read from it, as bits. Those of larger descriptors
/// are not known.
static GATHERED: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

fn gathered(file: c_int) -> Option<&'static AtomicU64> {
    GATHERED.get(usize::try_from(file).ok()?)
}

/// Notes that `call` makes a descriptor of signals.
pub(crate) fn gathers(set: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let file = call();
    if let Some(signals) = gathered(file) {
        // SAFETY: success has read the set, whose first word has all signals.
        signals.store(unsafe { set.cast::<u64>().read() }, Relaxed);
    }
    file
}

/// Notes that a descriptor got another number.
pub(super) fn copies(file: c_int, other: c_int) {
    if let (Some(from), Some(to)) = (gathered(file), gathered(other)) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

/// Notes that a number stands for nothing any more.
pub(super) fn forgets(file: c_int) {
    if let Some(signals) = gathered(file) {
        signals.store(0, Relaxed);
    }
}

/// Records that signals came through a descriptor, if it is one of signals. Which of them is not
/// asked.
pub(super) fn came_through(file: c_int) {
    let of = |signals: &AtomicU64| signals.load(Relaxed);
    let mut came = gathered(file).map_or(0, of) & SENT.load(Relaxed);
    while came != 0 {
        signal_came(came.trailing_zeros().cast_signed() + 1);
        came &= came - 1;
    }
}

/// Records that the thread sets a timer that sends a signal.
pub(crate) fn sets_timer(a: Active, timer: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let signal = match timer {
        libc::ITIMER_VIRTUAL => libc::SIGVTALRM,
        libc::ITIMER_PROF => libc::SIGPROF,
        _ => libc::SIGALRM,
    };
    sends_signal(a, signal);
    call()
}

/// Records that `call` waits for a signal, and what it stores.
pub(crate) fn waits_for_signal(
    a: Active,
    signal: *mut c_int,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let result = a.sleep(call);
    if result == 0 {
        // SAFETY: success stored the signal there.
        signal_came(unsafe { signal.read() });
    }
    result
}
