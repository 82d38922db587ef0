//! What the program calls: instrumented code (`workspan::abi`), and the marks of `contech/cilk.h` in code that is not.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use workspan::abi::{Counters, Function};

use crate::clock::{Metric, cycles};
use crate::profile::{Arrival, Memory, Profile, calibrate};
use crate::write;

/// Variable with what is measured: `time` (the default) or `ops`.
const METRIC: &str = "CONTECH_METRIC";

/// The profile, for the thread that made it.
struct Owned(UnsafeCell<Option<Profile>>);

// SAFETY: `with` gives access only in the thread whose pointer is in OWNER, and only once at a time (BUSY).
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
/// A hook is at work: a signal handler's hooks are not taken.
static BUSY: AtomicBool = AtomicBool::new(false);
/// Another thread ran instrumented code.
static FOREIGN: AtomicBool = AtomicBool::new(false);
/// The profile is asked for while the program runs.
static ASKED: AtomicBool = AtomicBool::new(false);
static START: Once = Once::new();
/// The owner's stack: invocations elsewhere (of handlers on a stack of their own) are not taken.
static STACK: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

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

/// Counters and profile of the owner's thread.
#[inline]
pub(crate) fn with(f: impl FnOnce(&mut Profile, &mut Counters)) {
    if OWNER.load(Ordering::Relaxed) != thread() && !start() {
        return;
    }
    if BUSY.load(Ordering::Relaxed) {
        return;
    }
    BUSY.store(true, Ordering::Relaxed);
    // SAFETY: this is the owner's thread, and BUSY was clear: nothing else has a reference.
    if let Some(profile) = unsafe { (*PROFILE.0.get()).as_mut() } {
        // SAFETY: as above; the program's code does not run before this function returns.
        let counters = unsafe { &mut *contech_ws_counters.0.get() };
        f(profile, counters);
        if ASKED.load(Ordering::Relaxed) {
            asked_for(profile, counters);
        }
    }
    BUSY.store(false, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn asked_for(profile: &mut Profile, counters: &Counters) {
    ASKED.store(false, Ordering::Relaxed);
    profile.catch_up(counters.operations);
    write::profile(profile, FOREIGN.load(Ordering::Relaxed), true);
}

/// Whether this thread is the owner now.
#[cold]
#[inline(never)]
fn start() -> bool {
    if OWNER.load(Ordering::Relaxed) != 0 {
        FOREIGN.store(true, Ordering::Relaxed);
        return false;
    }
    START.call_once(|| {
        let metric = match std::env::var(METRIC).as_deref() {
            Ok("ops") => Metric::Operations,
            Err(_) | Ok("" | "time") => Metric::Time,
            Ok(other) => {
                eprintln!("contech: {METRIC}={other}: time or ops; time is measured");
                Metric::Time
            }
        };
        let (low, high) = stack();
        STACK[0].store(low, Ordering::Relaxed);
        STACK[1].store(high, Ordering::Relaxed);
        let before = cycles();
        let mut profile = Profile::new(metric, calibrate());
        profile.since_loaded(before);
        // SAFETY: no hook touches the profile before OWNER is set, which is below.
        unsafe { *PROFILE.0.get() = Some(profile) };
        // SAFETY: plain registrations with functions of the right types.
        unsafe {
            libc::atexit(finish);
            libc::signal(
                libc::SIGUSR2,
                asked as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
        }
        OWNER.store(thread(), Ordering::Relaxed);
    });
    OWNER.load(Ordering::Relaxed) == thread()
}

/// The bounds of this thread's stack; all of memory if they are not known.
fn stack() -> (usize, usize) {
    // SAFETY: the attribute object is initialised by the call that fills it, and destroyed.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return (0, usize::MAX);
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        if known != 0 {
            return (0, usize::MAX);
        }
        // The first thread's grows as the limit is raised: what counts is the upper end.
        let high = low as usize + size;
        (high.saturating_sub(size.max(1 << 30)), high)
    }
}

#[inline]
pub(crate) fn on_the_stack(slot: usize) -> bool {
    slot.wrapping_sub(STACK[0].load(Ordering::Relaxed))
        < STACK[1]
            .load(Ordering::Relaxed)
            .wrapping_sub(STACK[0].load(Ordering::Relaxed))
}

/// SIGUSR2: the next hook writes the profile.
extern "C" fn asked(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

extern "C" fn finish() {
    with(|profile, counters| {
        profile.catch_up(counters.operations);
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), false);
    });
    if OWNER.load(Ordering::Relaxed) != thread() {
        eprintln!("contech: another thread ended the program: no work/span profile is written");
    }
}

/// An invocation, from a function's variable and a slot.
///
/// # Safety
/// What instrumented code passes: its variable, and the address of the return address on its stack.
#[inline]
unsafe fn arrival<'f>(
    function: *mut Function,
    slot: *const usize,
    counters: &mut Counters,
) -> Arrival<'f> {
    let spawn = std::mem::take(&mut counters.spawn);
    Arrival {
        // SAFETY: by this function's contract; only the owner's thread gets here.
        function: unsafe { &*function },
        // SAFETY: as above.
        remember: unsafe { Memory::new(function) },
        slot: slot as usize,
        from: if spawn > 1 {
            usize::try_from(spawn).unwrap_or(0)
        } else {
            // SAFETY: as above.
            unsafe { *slot }
        },
        spawn: spawn != 0,
        foreign: std::mem::take(&mut counters.foreign) != 0,
    }
}

/// `workspan::abi::ENTER`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_enter(function: *mut Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        counters.operations += own;
        if on_the_stack(slot as usize) {
            // SAFETY: called by instrumented code.
            let at = unsafe { arrival(function, slot, counters) };
            profile.enter(&at, counters.operations, own);
        }
    });
}

/// `workspan::abi::LEAF`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_leaf(function: *mut Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        counters.operations += own;
        if on_the_stack(slot as usize) {
            // SAFETY: called by instrumented code.
            let at = unsafe { arrival(function, slot, counters) };
            profile.leaf(&at, counters.operations, own);
        }
    });
}

/// `workspan::abi::DONE`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_done(
    function: *mut Function,
    slot: *const usize,
    own: u64,
    entered: u64,
) {
    with(|profile, counters| {
        counters.operations += own;
        if !on_the_stack(slot as usize) {
            return;
        }
        if entered != 0 {
            counters.spawn = 0;
            profile.leave(
                slot as usize,
                counters.operations,
                std::mem::take(&mut counters.foreign) != 0,
            );
        } else {
            // SAFETY: called by instrumented code.
            let at = unsafe { arrival(function, slot, counters) };
            profile.leaf(&at, counters.operations, own);
        }
    });
}

/// `workspan::abi::LEAVE`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_leave(slot: usize) {
    with(|profile, counters| {
        counters.spawn = 0;
        if on_the_stack(slot) {
            profile.leave(
                slot,
                counters.operations,
                std::mem::take(&mut counters.foreign) != 0,
            );
        }
    });
}

/// `workspan::abi::SYNC`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_sync(slot: usize) {
    with(|profile, counters| {
        counters.spawn = 0;
        if on_the_stack(slot) {
            profile.sync(
                Some(slot),
                counters.operations,
                std::mem::take(&mut counters.foreign) != 0,
            );
        }
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
        profile.ordered(
            begins,
            counters.operations,
            std::mem::take(&mut counters.foreign) != 0,
        );
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
        profile.sync(
            None,
            counters.operations,
            std::mem::take(&mut counters.foreign) != 0,
        );
    });
}
