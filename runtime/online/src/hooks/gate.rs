//! The gate of the profile and the log: it admits only hooks of the first thread, one at a time.
//! The first one finds out what to measure, what events cost and where the stack is.
//!
//! The profile is written when the program ends: by a return from `main` or a call of `exit`, or by
//! `_exit` or `quick_exit`. If another program replaces it, the profile of what has completed is
//! written first. A program that a signal ends leaves none.

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

use contech_interpose::arch::thread_pointer;
use contech_interpose::life::{self, End, Life};
use contech_interpose::mask::unhandled;
use contech_interpose::say;
use workspan::abi::State;
use workspan::file::Metric;

use super::start::{metric, stack};
use crate::calibrate::calibrate;
use crate::clock::{Cost, Ready};
use crate::log::{self, state};
use crate::profile::{Bounds, Profile};
use crate::write::{self, When};

/// The profile, for the thread that made it.
struct Owned(UnsafeCell<Option<Profile>>);

// SAFETY: a hook gets access only in the thread whose pointer is in GATE, and GATE is cleared until
// the hook ends.
unsafe impl Sync for Owned {}

static PROFILE: Owned = Owned(UnsafeCell::new(None));
/// The thread pointer of the owner, the first thread that called a hook.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// The thread pointer of the owner while a hook may run at once. Zero before the first hook and
/// while a hook runs (a signal handler's hook that interrupts it does nothing).
static GATE: AtomicUsize = AtomicUsize::new(0);
/// Whether another thread ran instrumented code.
static FOREIGN: AtomicBool = AtomicBool::new(false);
/// The value of [`State::least`] that makes the next event the last before the log is read.
const ALL: i64 = i64::MAX;
static START: Once = Once::new();

/// Whether this is the thread that is measured.
fn is_measured() -> bool {
    OWNER.load(Ordering::Relaxed) == thread_pointer()
}

/// The profile and the state of the owner's thread, for one hook.
struct Within {
    profile: &'static mut Profile,
    state: &'static State,
}

impl Within {
    /// Takes the gate; `None` if it is not open to this thread (see [`open`]).
    #[inline(always)]
    fn at_once() -> Option<Self> {
        if GATE.load(Ordering::Relaxed) != thread_pointer() {
            return None;
        }
        GATE.store(0, Ordering::Relaxed);
        let state = state();
        // With this value a signal handler's event reads the log at once, finds the gate closed and
        // is dropped.
        state.least.store(ALL, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: this is the owner's thread, and GATE is closed until this value is dropped. So
        // nothing else has a reference, and the program's code does not run meanwhile. The gate was
        // open, which it is only after the profile was made.
        let profile = unsafe { (*PROFILE.0.get()).as_mut().unwrap_unchecked() };
        Some(Self { profile, state })
    }

    /// Reads the log, because of its last event (`by_event`) or for another reason. Returns the
    /// time.
    #[inline(always)]
    fn read(&mut self, by_event: bool) -> u64 {
        let state = self.state;
        let by = state.foreign.load(Ordering::Relaxed);
        state.foreign.store(0, Ordering::Relaxed);
        let new = log::new(state);
        let (read, now) = self.profile.read(&new, by, by_event);
        log::read(state, &new, read);
        now
    }
}

impl Drop for Within {
    #[inline(always)]
    fn drop(&mut self) {
        self.profile.clock.resume();
        compiler_fence(Ordering::SeqCst);
        // The gate opens before `least` changes: until both are done, a handler's events are
        // dropped as a whole.
        GATE.store(thread_pointer(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.state.least.store(0, Ordering::Relaxed);
        if log::has_begun() {
            self.state.least.store(ALL, Ordering::Relaxed);
        }
    }
}

/// Reads the log.
pub(super) extern "C" fn due() {
    if let Some(mut within) = Within::at_once() {
        within.read(true);
        return;
    }
    otherwise();
}

/// Reads the log if the gate can be opened, and otherwise drops the event.
#[cold]
#[inline(never)]
fn otherwise() {
    if let Some(mut within) = opened() {
        within.read(true);
        return;
    }
    let state = state();
    if is_measured() {
        // The event is a signal handler's that interrupted a hook.
        log::take_back(state);
    } else {
        state.next.store(0, Ordering::Relaxed);
        state.left.store(0, Ordering::Relaxed);
    }
}

fn opened() -> Option<Within> {
    Within::at_once().or_else(|| if open() { Within::at_once() } else { None })
}

/// Calls `f` with the owner's profile, after every event so far is taken into it. A call that was
/// marked as a spawn is no longer one.
pub(super) fn with_own(f: impl FnOnce(&mut Profile, u64)) {
    if let Some(mut within) = opened() {
        within.state.spawn.store(0, Ordering::Relaxed);
        let now = within.read(false);
        f(within.profile, now);
    }
}

/// Writes the profile after the program has ended.
fn write_at_the_end() {
    write_now(When::End);
    if !is_measured() {
        say("another thread ended the program: no work/span profile is written");
    } else if GATE.load(Ordering::Relaxed) == 0 {
        say(
            "a signal handler interrupted the profiler and did not return: no work/span profile is written",
        );
    }
}

/// Writes the profile of what has completed.
fn write_now(when: When) {
    if OWNER.load(Ordering::Relaxed) == 0 {
        return;
    }
    with_own(|profile, now| {
        profile.shadow.advance_to(now);
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), when);
    });
}

/// The profiler's part in the life of the process.
struct Profiled;

contech_interpose::life!(Profiled);

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
}

/// Number of readings of the log so far, and the cycles that they took. Only calls outside of
/// hooks, in a process with one thread, are valid.
fn readings() -> (u64, u64) {
    // SAFETY: the gate is open to this thread, and no hook is running.
    let profile = unsafe { (*PROFILE.0.get()).as_ref() };
    profile.map_or((0, 0), |profile| (profile.clock.readings, profile.clock.reading))
}

/// The state of this thread if it is the owner and no hook is running.
pub(super) fn owners() -> Option<&'static State> {
    let measured = GATE.load(Ordering::Relaxed) == thread_pointer() || open();
    measured.then(state)
}

/// Handles the cases in which the gate is not open to this thread; returns whether it is open now.
#[cold]
#[inline(never)]
fn open() -> bool {
    match OWNER.load(Ordering::Relaxed) {
        // No handler may run meanwhile: one that jumps away would leave a profile that never
        // starts.
        0 => START.call_once(|| unhandled(start)),
        owner if owner != thread_pointer() => FOREIGN.store(true, Ordering::Relaxed),
        _ => {}
    }
    GATE.load(Ordering::Relaxed) == thread_pointer()
}

fn start() {
    if life::is_privileged() {
        return;
    }
    let ready = Ready::begins();
    let (metric, stack) = (metric(), stack());
    let cost = match metric {
        Metric::Time => calibrated(stack),
        Metric::Ops => Cost::default(),
    };
    log::begin(state());
    let mut profile = Profile::new(metric, cost, stack);
    profile.clock.since_loaded(ready);
    // SAFETY: no hook touches the profile before GATE is set, which happens below.
    unsafe { *PROFILE.0.get() = Some(profile) };
    for word in [&OWNER, &GATE] {
        word.store(thread_pointer(), Ordering::Relaxed);
    }
    life::begin();
    life::watch_quick_exit::<Profiled>();
}

/// What events cost, measured with a profile that is thrown away; the state is restored afterwards.
fn calibrated(stack: Bounds) -> Cost {
    let profile = Profile::new(Metric::Time, Cost::default(), stack);
    // SAFETY: the gate is closed, so no hook touches the profile.
    unsafe { *PROFILE.0.get() = Some(profile) };
    let kept = log::keep(state());
    GATE.store(thread_pointer(), Ordering::Relaxed);
    let cost = calibrate(readings);
    GATE.store(0, Ordering::Relaxed);
    log::put_back(state(), &kept);
    cost
}
