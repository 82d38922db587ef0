//! The gate: profile and counters, and who may touch them: hooks of the first thread, one at a time.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering, compiler_fence};

use workspan::abi::Counters;

use super::start::start;
use crate::ends;
use crate::profile::Profile;
use crate::write::{self, When};

/// The profile, for the thread that made it.
pub(super) struct Owned(pub(super) UnsafeCell<Option<Profile>>);

// SAFETY: `with` gives access only in the thread whose pointer is in GATE, and takes it from there meanwhile.
unsafe impl Sync for Owned {}

/// The counters; instrumented code of any thread adds to them, plainly.
#[repr(transparent)]
pub(super) struct Shared(pub(super) UnsafeCell<Counters>);

// SAFETY: read and written here by the owner's thread alone; what other threads' code adds in a race is of no account,
// since the profile then says that it is none of the program.
unsafe impl Sync for Shared {}

#[unsafe(no_mangle)]
pub(super) static contech_ws_counters: Shared = Shared(UnsafeCell::new(Counters {
    operations: 0,
    foreign: 0,
    spawn: 0,
}));

pub(super) static PROFILE: Owned = Owned(UnsafeCell::new(None));
/// Thread pointer of the first thread that called a hook.
pub(super) static OWNER: AtomicUsize = AtomicUsize::new(0);
/// The owner, if a hook of that thread may go on at once: else it is the first, or a signal handler's that interrupted
/// a hook (and is not taken), or the profile is asked for.
pub(super) static GATE: AtomicUsize = AtomicUsize::new(0);
/// What is in GATE while no hook is at work.
pub(super) static OPEN: AtomicUsize = AtomicUsize::new(0);
/// In OPEN and GATE: the profile is asked for. No thread's pointer.
pub(super) const ASKED: usize = 1;
/// Another thread ran instrumented code.
pub(super) static FOREIGN: AtomicBool = AtomicBool::new(false);
/// A signal that ends the program as soon as the profile is written.
pub(super) static ENDING: AtomicI32 = AtomicI32::new(0);
/// Bytes of the stack a hook may take, as a rule.
const HOOK_STACK: usize = 4096;
static START: Once = Once::new();

/// The thread pointer.
#[inline]
pub(super) fn thread() -> usize {
    let pointer: usize;
    // SAFETY: on Linux x86-64 the word at fs:0 is the thread's own address, in every thread.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, pure, readonly, preserves_flags));
    }
    pointer
}

/// Whether this is the thread that is measured.
pub(crate) fn is_measured() -> bool {
    OWNER.load(Ordering::Relaxed) == thread()
}

/// Counters and profile of the owner's thread, for one hook.
pub(super) struct Within {
    pub(super) profile: &'static mut Profile,
    pub(super) counters: &'static mut Counters,
}

impl Within {
    /// None if something has to be done before ([`open`]).
    #[inline(always)]
    pub(super) fn at_once() -> Option<Self> {
        if GATE.load(Ordering::Relaxed) != thread() {
            return None;
        }
        GATE.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: this is the owner's thread, and GATE was open and is not until this is dropped: nothing else has a
        // reference, and the program's code does not run meanwhile. The gate is open only after the profile was made.
        unsafe {
            Some(Self {
                profile: (*PROFILE.0.get()).as_mut().unwrap_unchecked(),
                counters: &mut *contech_ws_counters.0.get(),
            })
        }
    }
}

impl Drop for Within {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        GATE.store(OPEN.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Counters and profile of the owner's thread, where time is no matter.
pub(crate) fn with(f: impl FnOnce(&mut Profile, &mut Counters)) {
    // A stack that is full is found out while the gate is open: then the profile can be written.
    // SAFETY: reads what the stack grows to next; where it cannot grow, the program ends by the fault.
    unsafe {
        core::arch::asm!("test byte ptr [rsp - {}], 0", const HOOK_STACK, options(nostack, readonly));
    }
    let within = Within::at_once().or_else(|| if open() { Within::at_once() } else { None });
    if let Some(Within { profile, counters }) = &mut { within } {
        f(profile, counters);
    }
}

/// The gate is not open to this thread: whether it is now.
#[cold]
#[inline(never)]
fn open() -> bool {
    match OWNER.load(Ordering::Relaxed) {
        0 => START.call_once(start),
        owner if owner != thread() => FOREIGN.store(true, Ordering::Relaxed),
        owner => {
            while GATE.load(Ordering::Relaxed) == ASKED {
                OPEN.store(owner, Ordering::Relaxed);
                GATE.store(owner, Ordering::Relaxed);
                if let Some(within) = Within::at_once() {
                    within.profile.catch_up(within.counters.operations);
                    let signal = ENDING.load(Ordering::Relaxed);
                    let when = match signal {
                        0 => When::Midway,
                        signal => When::Signal(signal),
                    };
                    write::profile(within.profile, FOREIGN.load(Ordering::Relaxed), when);
                    if signal != 0 {
                        ends::end_by(signal);
                    }
                }
            }
        }
    }
    GATE.load(Ordering::Relaxed) == thread()
}
