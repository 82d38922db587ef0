//! Locks: tried first, so that one that is free costs no reading of the clock; waiting begins when that fails.
//!
//! A lock that is free may be slow all the same: its cache line was elsewhere, or who gives it back must wake another. About
//! every 64th use is timed for that, and stands for those in between: what it takes more than a lock that nobody else
//! uses is time in locks, too.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use contech_guest::{export_lock, exports, lookup};
use contech_observation::State;

use crate::real::{Ptr, real};
use crate::sites::bump;
use crate::waits::wait;
use crate::{clock, tls};

/// Ticks that taking or giving back a lock takes which no other thread uses, with reading the clock twice.
const FREE: u64 = 120;
/// What takes more ticks was interrupted: it happened, but stands for no others.
const UNUSUAL: u64 = 20_000;

/// Does something with a lock, timed when it is its turn.
#[inline(always)]
pub(crate) fn sampled(caller: usize, takes: bool, call: impl FnOnce() -> c_int) -> c_int {
    match tls::block().lock_is_timed() {
        None => call(),
        Some(weight) => timed(weight, caller, takes, call),
    }
}

#[cold]
#[inline(never)]
fn timed(weight: u64, caller: usize, takes: bool, call: impl FnOnce() -> c_int) -> c_int {
    let Some(lane) = tls::lane().filter(|lane| lane.is_running()) else {
        return call();
    };
    if takes {
        bump(&lane.locks, weight);
    }
    let before = clock::now_in_order();
    let result = call();
    let now = clock::now_in_order();
    let passed = now.saturating_sub(before);
    if passed > FREE {
        let own = passed - FREE;
        let ticks = if own > UNUSUAL { own } else { own * weight };
        lane.reassign(State::Lock, ticks, 0, now);
        lane.sites.add_ticks(caller, State::Lock, ticks);
    }
    result
}

/// The functions that [`pthread_mutex_lock`] and [`pthread_mutex_unlock`] go on with; until they are known, ours that look
/// for them.
static TRY_MUTEX: AtomicPtr<c_void> = AtomicPtr::new(try_first as *mut c_void);
static UNLOCK_MUTEX: AtomicPtr<c_void> = AtomicPtr::new(unlock_first as *mut c_void);

export_lock! {
    pthread_mutex_lock [__contech_observe_tls tls::LEFT_LOCKS]:
        TRY_MUTEX, libc::EBUSY => mutex_wait, mutex_timed_now
}
// Giving back a lock that others wait for wakes one of them.
exports! {
    pthread_mutex_unlock [counted __contech_observe_tls tls::LEFT_LOCKS, unlock_timed_now, caller 1] = UNLOCK_MUTEX;
}

unsafe extern "C-unwind" fn try_first(mutex: Ptr) -> c_int {
    let function = real().pthread_mutex_trylock;
    TRY_MUTEX.store(function as *mut c_void, Relaxed);
    // SAFETY: the caller's mutex.
    unsafe { function(mutex) }
}

unsafe extern "C-unwind" fn unlock_first(mutex: Ptr) -> c_int {
    let function = real().pthread_mutex_unlock;
    UNLOCK_MUTEX.store(function as *mut c_void, Relaxed);
    // SAFETY: the caller's mutex.
    unsafe { function(mutex) }
}

unsafe extern "C-unwind" fn mutex_timed_now(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's mutex.
    let call = || unsafe { (real().pthread_mutex_trylock)(mutex) };
    match timed(tls::block().lock_gap(), caller, true, call) {
        // SAFETY: the caller's arguments.
        libc::EBUSY => unsafe { mutex_wait(mutex, caller) },
        result => result,
    }
}

unsafe extern "C-unwind" fn mutex_wait(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's mutex.
    wait(State::Lock, caller, || unsafe {
        (real().pthread_mutex_lock)(mutex)
    })
}

unsafe extern "C-unwind" fn unlock_timed_now(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's mutex.
    timed(tls::block().lock_gap(), caller, false, || unsafe {
        (real().pthread_mutex_unlock)(mutex)
    })
}

/// A function of libomp's, found when it is first called.
struct Found {
    name: &'static str,
    function: AtomicPtr<c_void>,
}

impl Found {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            function: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// It exists: its twin was called by its name.
    fn get(&self) -> *mut c_void {
        let known = self.function.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        self.find()
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut c_void {
        let found = lookup::find(self.name, None);
        self.function.store(found, Relaxed);
        found
    }
}

macro_rules! omp_locks {
    ($($name:ident($set:literal, $test:literal);)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(lock: Ptr, caller: usize) {
            static SET: Found = Found::new(concat!($set, "\0"));
            static TEST: Found = Found::new(concat!($test, "\0"));
            let test = TEST.get();
            if !test.is_null() {
                // SAFETY: libomp's function of that name has this type.
                let test = unsafe { std::mem::transmute::<Ptr, unsafe extern "C-unwind" fn(Ptr) -> c_int>(test) };
                // SAFETY: the caller's lock.
                if sampled(caller, true, || unsafe { test(lock) }) != 0 {
                    return;
                }
            }
            // SAFETY: the caller's lock; the function exists, it was called.
            unsafe { set_omp_lock(&SET, lock, caller) };
        }
    )*};
}

/// # Safety
/// The caller's lock, and a function of libomp's that takes it.
#[inline(never)]
unsafe fn set_omp_lock(set: &Found, lock: Ptr, caller: usize) {
    // SAFETY: of this type.
    let set = unsafe { std::mem::transmute::<Ptr, unsafe extern "C-unwind" fn(Ptr)>(set.get()) };
    // SAFETY: the caller's lock.
    wait(State::Lock, caller, || unsafe { set(lock) });
}

omp_locks! {
    omp("omp_set_lock", "omp_test_lock");
    omp_fortran("omp_set_lock_", "omp_test_lock_");
}
