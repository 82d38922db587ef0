//! The gate: profile and log, and who may touch them: hooks of the first thread, one at a time.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize, Ordering, compiler_fence};

use workspan::abi::State;

use super::log::{self, state};
use super::start::start;
use crate::ends;
use crate::profile::{Own, Profile, Told};
use crate::write::{self, When};

/// The profile, for the thread that made it.
pub(super) struct Owned(pub(super) UnsafeCell<Option<Profile>>);

// SAFETY: `with` gives access only in the thread whose pointer is in GATE, and takes it from there meanwhile.
unsafe impl Sync for Owned {}

pub(super) static PROFILE: Owned = Owned(UnsafeCell::new(None));
/// Thread pointer of the first thread that called a hook, and its state.
pub(super) static OWNER: AtomicUsize = AtomicUsize::new(0);
pub(super) static STATE: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());
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
/// In [`State::least`]: the next event is the last before the log is read.
pub(super) const ALL: i64 = i64::MAX;
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

/// The profile and the state of the owner's thread, for one hook.
struct Within {
    profile: &'static mut Profile,
    state: &'static State,
}

impl Within {
    /// None if something has to be done before ([`open`]).
    #[inline(always)]
    fn at_once() -> Option<Self> {
        if GATE.load(Ordering::Relaxed) != thread() {
            return None;
        }
        GATE.store(0, Ordering::Relaxed);
        let state = state();
        // A handler's events do not stay in the log meanwhile.
        state.least.store(ALL, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: this is the owner's thread, and GATE was open and is not until this is dropped: nothing else has a
        // reference, and the program's code does not run meanwhile. The gate is open only after the profile was made.
        let profile = unsafe { (*PROFILE.0.get()).as_mut().unwrap_unchecked() };
        Some(Self { profile, state })
    }

    /// Reads the log, and after that what is the invocation's `own`.
    #[inline(always)]
    fn read(&mut self, own: Own) -> Told {
        let state = self.state;
        if own.operations > 0 {
            let left = state.left.load(Ordering::Relaxed);
            let left = left.wrapping_sub_unsigned(own.operations);
            state.left.store(left, Ordering::Relaxed);
        }
        let by = state.foreign.load(Ordering::Relaxed);
        state.foreign.store(0, Ordering::Relaxed);
        let new = log::new(state);
        let (read, told) = self.profile.read(&new, by, own);
        log::read(state, &new, read);
        told
    }
}

impl Drop for Within {
    #[inline(always)]
    fn drop(&mut self) {
        self.profile.resume();
        compiler_fence(Ordering::SeqCst);
        // Opened first: a handler's events until then are none, all of them.
        GATE.store(OPEN.load(Ordering::Relaxed), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.state.least.store(0, Ordering::Relaxed);
        let asked = OPEN.load(Ordering::Relaxed) == ASKED;
        if asked || log::has_begun() || super::SPAWNS.load(Ordering::Relaxed) != 0 {
            self.state.least.store(ALL, Ordering::Relaxed);
        }
    }
}

/// The log is to be read.
pub(super) extern "C" fn due() {
    probe();
    if let Some(mut within) = Within::at_once() {
        within.read(Own::NOTHING);
        return;
    }
    otherwise();
}

/// The same where the gate is not open.
#[cold]
#[inline(never)]
fn otherwise() {
    if let Some(mut within) = opened() {
        within.read(Own::NOTHING);
        return;
    }
    let state = state();
    if is_measured() {
        // A handler's, in the middle of a hook.
        log::take_back(state);
    } else {
        state.next.store(0, Ordering::Relaxed);
        state.left.store(0, Ordering::Relaxed);
    }
}

/// A stack that is full is found out while the gate is open: then the profile can be written.
fn probe() {
    // SAFETY: reads what the stack grows to next; where it cannot grow, the program ends by the fault.
    unsafe {
        core::arch::asm!("test byte ptr [rsp - {}], 0", const HOOK_STACK, options(nostack, readonly));
    }
}

fn opened() -> Option<Within> {
    Within::at_once().or_else(|| if open() { Within::at_once() } else { None })
}

/// The profile of the owner's thread, where all that was told up to now is in it.
pub(crate) fn with(f: impl FnOnce(&mut Profile, Told)) {
    probe();
    if let Some(mut within) = opened() {
        let told = within.read(Own::NOTHING);
        f(within.profile, told);
    }
}

/// The same, with what the invocation did since; a spawn that was marked is none.
pub(crate) fn with_own(own: Own, f: impl FnOnce(&mut Profile, Told)) {
    probe();
    if let Some(mut within) = opened() {
        within.state.spawn.store(0, Ordering::Relaxed);
        let told = within.read(own);
        f(within.profile, told);
    }
}

/// Readings of the log so far, and the cycles that they took: nothing between hooks of this thread, the only one.
pub(crate) fn readings() -> (u64, u64) {
    // SAFETY: the gate is open to this thread, and no hook is at work.
    unsafe { (*PROFILE.0.get()).as_ref() }.map_or((0, 0), Profile::readings)
}

/// The state of this thread if it is the owner, and no hook is at work.
pub(super) fn owners() -> Option<&'static State> {
    let measured = GATE.load(Ordering::Relaxed) == thread() || open();
    measured.then(state)
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
                if let Some(mut within) = Within::at_once() {
                    let told = within.read(Own::NOTHING);
                    within.profile.advance(told);
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
