//! What the program calls: instrumented code (`workspan::abi`), and the marks of `contech/cilk.h` in code that is not.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering, compiler_fence};

use workspan::abi::{Counters, Function};

use crate::calibrate::calibrate;
use crate::clock::{Cost, Metric, Ready, Told};
use crate::ends;
use crate::profile::{Arrival, Bounds, Profile};
use crate::write::{self, When};

/// Variable with what is measured: `time` (the default) or `ops`.
const METRIC: &str = "CONTECH_METRIC";

/// The profile, for the thread that made it.
struct Owned(UnsafeCell<Option<Profile>>);

// SAFETY: `with` gives access only in the thread whose pointer is in GATE, and takes it from there meanwhile.
unsafe impl Sync for Owned {}

/// The counters; instrumented code of any thread adds to them, plainly.
#[repr(transparent)]
struct Shared(UnsafeCell<Counters>);

// SAFETY: read and written here by the owner's thread alone; what other threads' code adds in a race is of no account,
// since the profile then says that it is none of the program.
unsafe impl Sync for Shared {}

#[unsafe(no_mangle)]
static contech_ws_counters: Shared = Shared(UnsafeCell::new(Counters {
    operations: 0,
    foreign: 0,
    spawn: 0,
}));

static PROFILE: Owned = Owned(UnsafeCell::new(None));
/// Thread pointer of the first thread that called a hook.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// The owner, if a hook of that thread may go on at once: else it is the first, or a signal handler's that interrupted
/// a hook (and is not taken), or the profile is asked for.
static GATE: AtomicUsize = AtomicUsize::new(0);
/// What is in GATE while no hook is at work.
static OPEN: AtomicUsize = AtomicUsize::new(0);
/// In OPEN and GATE: the profile is asked for. No thread's pointer.
const ASKED: usize = 1;
/// Another thread ran instrumented code.
static FOREIGN: AtomicBool = AtomicBool::new(false);
/// A signal that ends the program as soon as the profile is written.
static ENDING: AtomicI32 = AtomicI32::new(0);
static START: Once = Once::new();

/// The thread pointer.
#[inline]
fn thread() -> usize {
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
struct Within {
    profile: &'static mut Profile,
    counters: &'static mut Counters,
}

impl Within {
    /// None if something has to be done before ([`open`]).
    #[inline(always)]
    fn at_once() -> Option<Self> {
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

fn start() {
    let ready = Ready::begins();
    let metric = match std::env::var(METRIC).as_deref() {
        Ok("ops") => Metric::Operations,
        Err(_) | Ok("" | "time") => Metric::Time,
        Ok(other) => {
            eprintln!("contech: {METRIC}={other}: time or ops; time is measured");
            Metric::Time
        }
    };
    let stack = stack();
    let cost = match metric {
        Metric::Time => calibrated(stack),
        Metric::Operations => Cost::default(),
    };
    let mut profile = Profile::new(metric, cost, stack);
    profile.since_loaded(ready);
    // SAFETY: no hook touches the profile before GATE is set, which is below.
    unsafe { *PROFILE.0.get() = Some(profile) };
    for word in [&OWNER, &OPEN, &GATE] {
        word.store(thread(), Ordering::Relaxed);
    }
    // SAFETY: a plain registration with a function of the right type.
    unsafe {
        libc::signal(
            libc::SIGUSR2,
            asked as extern "C" fn(libc::c_int) as libc::sighandler_t,
        );
    }
    ends::watch();
}

/// What hooks cost, with a profile of its own that is thrown away and counters as they were afterwards.
fn calibrated(stack: Bounds) -> Cost {
    let profile = Profile::new(Metric::Operations, Cost::default(), stack);
    // SAFETY: the gate is closed: no hook touches the profile or, in this thread, the counters.
    let counters = unsafe {
        *PROFILE.0.get() = Some(profile);
        std::ptr::read(contech_ws_counters.0.get())
    };
    for word in [&OPEN, &GATE] {
        word.store(thread(), Ordering::Relaxed);
    }
    let cost = calibrate();
    for word in [&OPEN, &GATE] {
        word.store(0, Ordering::Relaxed);
    }
    // SAFETY: as above.
    unsafe { std::ptr::write(contech_ws_counters.0.get(), counters) };
    cost
}

/// The bounds of this thread's stack; all of memory if they are not known.
fn stack() -> Bounds {
    let everywhere = Bounds {
        low: 0,
        size: usize::MAX & !(align_of::<usize>() - 1),
    };
    // SAFETY: the attribute object is initialised by the call that fills it, and destroyed.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return everywhere;
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        if known != 0 {
            return everywhere;
        }
        // The first thread's grows as the limit is raised: what counts is the upper end.
        let high = low as usize + size;
        let low = high.saturating_sub(size.max(1 << 30));
        Bounds {
            low,
            size: high - low,
        }
    }
}

/// SIGUSR2: the next hook writes the profile.
extern "C" fn asked(_: libc::c_int) {
    OPEN.store(ASKED, Ordering::Relaxed);
    // A hook at work opens the gate that way itself.
    let open = OWNER.load(Ordering::Relaxed);
    let _ = GATE.compare_exchange(open, ASKED, Ordering::Relaxed, Ordering::Relaxed);
}

/// The profile of the program, which has ended.
pub(crate) fn write_at_the_end() {
    write_now(When::End);
    if OWNER.load(Ordering::Relaxed) != thread() {
        eprintln!("contech: another thread ended the program: no work/span profile is written");
    }
}

/// Takes the time up to now into the profile.
pub(crate) fn catch_up() {
    with(|profile, counters| profile.catch_up(counters.operations));
}

/// The profile of what has completed.
pub(crate) fn write_now(when: When) {
    with(|profile, counters| {
        profile.catch_up(counters.operations);
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), when);
    });
}

/// Where a signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// In the owner's code, or library code it called.
    Program,
    /// In a hook of the owner's.
    Hook,
    /// In another thread.
    Elsewhere,
}

/// Where this thread is, for a signal handler. Where it is the program's code the profile can be written at once.
pub(crate) fn interrupted() -> At {
    let owner = OWNER.load(Ordering::Relaxed);
    if owner != thread() {
        return At::Elsewhere;
    }
    match GATE.load(Ordering::Relaxed) {
        0 => At::Hook,
        _ => {
            OPEN.store(owner, Ordering::Relaxed);
            GATE.store(owner, Ordering::Relaxed);
            At::Program
        }
    }
}

/// The next hook writes the profile and ends the program by a signal.
pub(crate) fn end_with(signal: libc::c_int) {
    ENDING.store(signal, Ordering::Relaxed);
    asked(signal);
}

/// An invocation, from a function's variable and a slot.
///
/// # Safety
/// What instrumented code passes: its variable, and the address of the return address on its stack.
#[inline(always)]
unsafe fn arrival<'f>(
    function: *const Function,
    slot: *const usize,
    counters: &Counters,
) -> Arrival<'f> {
    let spawn = counters.spawn;
    Arrival {
        // SAFETY: by this function's contract; only the owner's thread gets here.
        function: unsafe { &*function },
        slot: slot as usize,
        from: if spawn > 1 {
            usize::try_from(spawn).unwrap_or(0)
        } else {
            // SAFETY: as above.
            unsafe { *slot }
        },
        spawn: spawn != 0,
    }
}

/// What the counters tell to the hook of the invocation at `slot`, once: the next one is told what is new.
pub(crate) fn told(counters: &mut Counters, slot: usize, own: u64, pending: bool) -> Told {
    let by = std::mem::take(&mut counters.foreign);
    Told {
        pending,
        ..Told::new(counters.operations, own, by, slot)
    }
}

/// `workspan::abi::ENTER`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn contech_ws_enter(
    function: *const Function,
    slot: *const usize,
    own: u64,
) {
    if let Some(Within { profile, counters }) = &mut Within::at_once() {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        if profile.enter_at_once(at, counters, own) {
            (counters.foreign, counters.spawn) = (0, 0);
            return;
        }
    }
    // SAFETY: as above.
    unsafe { enter(function, slot, own) };
}

/// `ENTER` where anything is not as usual.
#[cold]
#[inline(never)]
unsafe extern "C" fn enter(function: *const Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        let (spawn, foreign) = (counters.spawn, counters.foreign);
        counters.spawn = 0;
        if !profile.enter(at, told(counters, at.slot, own, true)) {
            // It is none, and what was told is for the next one.
            (counters.spawn, counters.foreign) = (spawn, foreign);
        }
    });
}

/// `workspan::abi::LEAF`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn contech_ws_leaf(
    function: *const Function,
    slot: *const usize,
    own: u64,
) {
    // SAFETY: called by instrumented code.
    unsafe { left_leaf(function, slot, own) };
}

/// A leaf returns.
#[inline(never)]
unsafe extern "C" fn left_leaf(function: *const Function, slot: *const usize, own: u64) {
    if let Some(Within { profile, counters }) = &mut Within::at_once() {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        if profile.leaf_at_once(at, counters, own) {
            (counters.foreign, counters.spawn) = (0, 0);
            counters.operations += own;
            return;
        }
    }
    // SAFETY: as above.
    unsafe { leaf(function, slot, own) };
}

/// `LEAF` where anything is not as usual.
#[cold]
#[inline(never)]
unsafe extern "C" fn leaf(function: *const Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        let (spawn, foreign) = (counters.spawn, counters.foreign);
        counters.spawn = 0;
        if !profile.leaf(at, told(counters, at.slot, own, false)) {
            (counters.spawn, counters.foreign) = (spawn, foreign);
        }
        counters.operations += own;
    });
}

/// `workspan::abi::DONE`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_done(
    function: *const Function,
    slot: *const usize,
    own: u64,
    entered: u64,
) {
    if entered == 0 {
        // SAFETY: called by instrumented code.
        unsafe { left_leaf(function, slot, own) };
    } else {
        // Without a sync all that is its own is before it.
        let synced = entered.checked_sub(2).unwrap_or(own);
        left(slot as usize, own, own.wrapping_sub(synced));
    }
}

/// `workspan::abi::LEAVE`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_ws_leave(slot: usize, own: u64) {
    left(slot, own, 0);
}

/// The invocation at `slot` returns, and has synced before the last `after` operations.
#[inline(never)]
extern "C" fn left(slot: usize, own: u64, after: u64) {
    if let Some(Within { profile, counters }) = &mut Within::at_once()
        && profile.leave_at_once(slot, counters, own, after)
    {
        (counters.foreign, counters.spawn) = (0, 0);
        counters.operations += own;
        return;
    }
    leave(slot, own, after);
}

/// The same where anything is not as usual.
#[cold]
#[inline(never)]
fn leave(slot: usize, own: u64, after: u64) {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, own, false);
        profile.leave(slot, told, after);
        counters.operations += own;
    });
}

/// `workspan::abi::SYNC`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_ws_sync(slot: usize, own: u64) {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, own, true);
        profile.sync(Some(slot), told);
    });
}

/// The next invocation is a spawn by the code before `from`.
pub(crate) fn spawns(from: usize) {
    with(|_, counters| counters.spawn = from as u64);
}

/// It was.
pub(crate) fn spawned() {
    with(|_, counters| counters.spawn = 0);
}

/// The innermost invocation waits for what it spawned.
pub(crate) fn sync() {
    contech_cilk_sync();
}

/// An ordered section of a loop begins, or ends.
pub(crate) fn ordered(begins: bool) {
    with(|profile, counters| {
        counters.spawn = 0;
        profile.ordered(begins, told(counters, 0, 0, false));
    });
}

/// The next call is a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    with(|_, counters| counters.spawn = 1);
}

/// The function waits for what it spawned (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_sync() {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, 0, false);
        profile.sync(None, told);
    });
}
