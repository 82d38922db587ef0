//! Hooks of lock functions. A hook tries the lock first, so that the clock is not read for a lock
//! that is free. A wait begins only if the try fails.
//!
//! A free lock may be slow all the same, because its cache line was elsewhere, or because the
//! thread that releases it must wake another. Therefore about every 64th use is timed and stands
//! for those in between. What the use takes beyond the time of a lock that no other thread uses
//! counts as time in locks.

use std::ffi::{c_int, c_uint};

use contech_interpose::functions::is_robust;
use contech_interpose::lookup::LateFunction;
use contech_interpose::{found, in_front_of};
use contech_observation::State;

use crate::real::{Ptr, real};
use crate::sites::bump;
use crate::waits::wait;
use crate::{clock, tls};

/// Ticks to take or release a lock that no other thread uses, including two readings of the clock.
const FREE: u64 = 120;

/// Uses a lock, and times the use if it is its turn.
#[inline(always)]
pub(crate) fn sampled(caller: usize, takes: bool, call: impl FnOnce() -> c_int) -> c_int {
    match tls::block().is_timed(tls::LOCKS) {
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
        let ticks = tls::stands_for(passed - FREE, weight);
        lane.reassign(State::Lock, ticks, now);
        lane.sites.add(caller, State::Lock, 0, ticks);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_mutex_lock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the mutex is the caller's.
    if unsafe { is_robust(mutex) } {
        return wait_for_mutex(mutex, caller);
    }
    // SAFETY: as above.
    match sampled(caller, true, || unsafe { (real().pthread_mutex_trylock)(mutex) }) {
        libc::EBUSY => wait_for_mutex(mutex, caller),
        result => result,
    }
}

#[cold]
#[inline(never)]
fn wait_for_mutex(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the mutex is the program's, which locks it.
    wait(State::Lock, caller, || unsafe { (real().pthread_mutex_lock)(mutex) })
}

/// The unlock is timed too, because it must wake a thread if others wait for the lock.
pub(crate) unsafe extern "C-unwind" fn pthread_mutex_unlock(mutex: Ptr, caller: usize) -> c_int {
    // SAFETY: the mutex is the caller's.
    sampled(caller, false, || unsafe { (real().pthread_mutex_unlock)(mutex) })
}

found! {
    static TEST = omp_test_lock(Ptr) -> c_int;
    static TEST_FORTRAN = omp_test_lock_(Ptr) -> c_int;
}

in_front_of! {
    omp_set_nest_lock [after lock] (lock: Ptr; caller) => |call| section(caller, call);
    omp_set_nest_lock_ [after lock] (lock: Ptr; caller) => |call| section(caller, call);
    __kmpc_critical [after at thread lock] (at: Ptr, thread: c_int, lock: Ptr; caller) => |call| section(caller, call);
    __kmpc_critical_with_hint [after at thread lock hint] (at: Ptr, thread: c_int, lock: Ptr, hint: c_uint; caller) => |call| section(caller, call);
    __kmpc_ordered [after at thread] (at: Ptr, thread: c_int; caller) => |call| section(caller, call);
    __kmpc_atomic_start [after] (; caller) => |call| section(caller, call);
    GOMP_critical_start [after] (; caller) => |call| section(caller, call);
    GOMP_critical_name_start [after lock] (lock: Ptr; caller) => |call| section(caller, call);
    GOMP_ordered_start [after] (; caller) => |call| section(caller, call);
    GOMP_atomic_start [after] (; caller) => |call| section(caller, call);
    omp_set_lock [after lock] (lock: Ptr; caller) => |call| omp(&TEST, lock, caller, call);
    omp_set_lock_ [after lock] (lock: Ptr; caller) => |call| omp(&TEST_FORTRAN, lock, caller, call);
}

type Test = LateFunction<unsafe extern "C-unwind" fn(Ptr) -> c_int>;

fn omp(test: &Test, lock: Ptr, caller: usize, set: impl FnOnce()) {
    // SAFETY: the lock is the caller's.
    if sampled(caller, true, || unsafe { test.get()(lock) }) == 0 {
        wait(State::Lock, caller, set);
    }
}

/// If to enter a section takes fewer ticks, there was nothing to wait for.
const ENTERED: u64 = 1000;

/// Enters a section, or takes a lock, that cannot be tried. What GCC's code calls may call what
/// Clang's does; it is counted once.
fn section(caller: usize, enter: impl FnOnce()) {
    let lane = tls::lane();
    let Some((lane, before)) = lane.and_then(|lane| Some((lane, lane.enter(State::Lock)?))) else {
        return enter();
    };
    enter();
    let now = clock::now();
    if now.saturating_sub(before) < ENTERED {
        lane.switch_from(State::Running as usize, State::Running, now);
    } else {
        lane.leave(State::Lock, caller, before, now);
    }
}
