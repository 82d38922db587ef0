//! Locks: tried first, so that one that is free costs no reading of the clock; waiting begins when that fails.
//!
//! A lock that is free may be slow all the same: its cache line was elsewhere, or who gives it back must wake another. About
//! every 64th use is timed for that, and stands for those in between: what it takes more than a lock that nobody else
//! uses is time in locks, too.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use contech_intercept::lookup;
use contech_observation::State;

use crate::real::{Ptr, Time, real};
use crate::sites::bump;
use crate::waits::wait;
use crate::{clock, tls};

/// `thrd_busy` of threads.h.
const C11_BUSY: c_int = 1;
/// Ticks that taking or giving back a lock takes which no other thread uses, with reading the clock twice.
const FREE: u64 = 120;
/// What takes more ticks was interrupted: it happened, but stands for no others.
const UNUSUAL: u64 = 20_000;

/// Does something with a lock, timed when it is its turn.
#[inline(always)]
fn sampled(caller: usize, takes: bool, call: impl FnOnce() -> c_int) -> c_int {
    match tls::block().lock_is_timed() {
        None => call(),
        Some(weight) => timed(weight, caller, takes, call),
    }
}

#[cold]
fn timed(weight: u64, caller: usize, takes: bool, call: impl FnOnce() -> c_int) -> c_int {
    let Some(lane) = tls::lane().filter(|lane| lane.is_running()) else {
        return call();
    };
    if takes {
        bump(&lane.locks, weight);
    }
    let before = clock::now_in_order();
    let result = call();
    let passed = clock::now_in_order().saturating_sub(before);
    if passed > FREE {
        let own = passed - FREE;
        let ticks = if own > UNUSUAL { own } else { own * weight };
        lane.reassign(State::Lock, ticks, 0);
        lane.sites.add_ticks(caller, State::Lock, ticks);
    }
    result
}

macro_rules! locks {
    ($($name:ident($real:ident, $try:ident, $busy:expr, $state:ident $(, $arg:ident: $ty:ty)*);)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(lock: Ptr, $($arg: $ty,)* caller: usize) -> c_int {
            let real = real();
            // SAFETY: the caller's lock.
            let result = sampled(caller, true, || unsafe { (real.$try)(lock) });
            if result != $busy {
                return result;
            }
            // SAFETY: the caller's arguments, passed on.
            wait(State::$state, caller, || unsafe { (real.$real)(lock $(, $arg)*) })
        }
    )*};
}

locks! {
    mutex(pthread_mutex_lock, pthread_mutex_trylock, libc::EBUSY, Lock);
    mutex_timed(pthread_mutex_timedlock, pthread_mutex_trylock, libc::EBUSY, Lock, until: Time);
    mutex_clock(pthread_mutex_clocklock, pthread_mutex_trylock, libc::EBUSY, Lock, clock: c_int, until: Time);
    read(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, libc::EBUSY, Lock);
    read_timed(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, libc::EBUSY, Lock, until: Time);
    read_clock(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, libc::EBUSY, Lock, clock: c_int, until: Time);
    write(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, libc::EBUSY, Lock);
    write_timed(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, libc::EBUSY, Lock, until: Time);
    write_clock(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, libc::EBUSY, Lock, clock: c_int, until: Time);
    spin(pthread_spin_lock, pthread_spin_trylock, libc::EBUSY, Spin);
    c11(mtx_lock, mtx_trylock, C11_BUSY, Lock);
    c11_timed(mtx_timedlock, mtx_trylock, C11_BUSY, Lock, until: Time);
}

/// Giving back a lock that others wait for wakes one of them.
pub(crate) unsafe extern "C-unwind" fn unlock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the caller's mutex.
    sampled(caller, false, || unsafe {
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
            // SAFETY: of this type, and there: it is the function that was called.
            let set = unsafe { std::mem::transmute::<Ptr, unsafe extern "C-unwind" fn(Ptr)>(SET.get()) };
            // SAFETY: the caller's lock.
            wait(State::Lock, caller, || unsafe { set(lock) });
        }
    )*};
}

omp_locks! {
    omp("omp_set_lock", "omp_test_lock");
    omp_fortran("omp_set_lock_", "omp_test_lock_");
}
