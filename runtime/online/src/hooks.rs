//! What the program calls: at the entry and the exit of functions, at spawns and syncs.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::profile::{Profile, calibrate};
use crate::write;

/// The profile, for the thread that made it.
struct Owned(UnsafeCell<Option<Profile>>);

// SAFETY: `with` gives access only in the thread whose pointer is in OWNER, and only once at a time (BUSY).
unsafe impl Sync for Owned {}

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

#[inline]
fn with(f: impl FnOnce(&mut Profile)) {
    let owner = OWNER.load(Ordering::Relaxed);
    if owner != thread() {
        if owner != 0 {
            FOREIGN.store(true, Ordering::Relaxed);
            return;
        }
        start();
    }
    if BUSY.load(Ordering::Relaxed) {
        return;
    }
    BUSY.store(true, Ordering::Relaxed);
    // SAFETY: this is the owner's thread, and BUSY was clear: nothing else has a reference.
    if let Some(profile) = unsafe { (*PROFILE.0.get()).as_mut() } {
        f(profile);
        if ASKED.load(Ordering::Relaxed) {
            ASKED.store(false, Ordering::Relaxed);
            profile.catch_up();
            write::profile(profile, FOREIGN.load(Ordering::Relaxed), true);
        }
    }
    BUSY.store(false, Ordering::Relaxed);
}

#[cold]
fn start() {
    START.call_once(|| {
        let overhead = calibrate();
        // SAFETY: no hook touches the profile before OWNER is set, which is below.
        unsafe { *PROFILE.0.get() = Some(Profile::new(overhead)) };
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
}

/// SIGUSR2: the next hook writes the profile.
extern "C" fn asked(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

extern "C" fn finish() {
    with(|profile| {
        profile.catch_up();
        write::profile(profile, FOREIGN.load(Ordering::Relaxed), false);
    });
    if OWNER.load(Ordering::Relaxed) != thread() {
        eprintln!("contech: another thread ended the program: no work/span profile is written");
    }
}

/// The entry of an instrumented function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cyg_profile_func_enter(function: usize, call_site: usize) {
    with(|profile| profile.enter(function, call_site));
}

/// The exit of an instrumented function.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cyg_profile_func_exit(function: usize, _call_site: usize) {
    with(|profile| profile.exit(function));
}

/// The next call is a spawn (`contech/cilk.h`).
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_spawn() {
    with(Profile::spawn);
}

/// The function waits for what it spawned (`contech/cilk.h`).
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_cilk_sync() {
    with(Profile::sync);
}
