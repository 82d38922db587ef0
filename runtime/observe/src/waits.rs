//! What waits: conditions, barriers, semaphores, sleep; and for events, which is waiting for work.

use std::ffi::{c_int, c_uint};

use contech_observation::State;
use libc::timespec;

use crate::alone::{self, Reason};
use crate::real::{Ptr, Time, real};
use crate::tls;

/// The thread waits while `call` goes on. Where it did not run but wait, or schedule, already, that goes on. A wait that
/// is cancelled lasts until the thread has ended.
#[inline]
pub(crate) fn wait<R>(state: State, caller: usize, call: impl FnOnce() -> R) -> R {
    let Some(lane) = tls::lane() else {
        return call();
    };
    let Some(before) = lane.enter(state) else {
        return call();
    };
    if state == State::Condition {
        alone::spoils(lane, Reason::Condition);
    }
    let result = call();
    lane.leave(state, caller, before);
    result
}

macro_rules! waits {
    ($($name:ident($real:ident, $state:ident $(, $arg:ident: $ty:ty)*) -> $ret:ty;)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name($($arg: $ty,)* caller: usize) -> $ret {
            // SAFETY: the caller's arguments, passed on.
            wait(State::$state, caller, || unsafe { (real().$real)($($arg),*) })
        }
    )*};
}

waits! {
    condition(pthread_cond_wait, Condition, condition: Ptr, mutex: Ptr) -> c_int;
    condition_timed(pthread_cond_timedwait, Condition, condition: Ptr, mutex: Ptr, until: Time) -> c_int;
    condition_clock(pthread_cond_clockwait, Condition, condition: Ptr, mutex: Ptr, clock: c_int, until: Time) -> c_int;
    c11(cnd_wait, Condition, condition: Ptr, mutex: Ptr) -> c_int;
    c11_timed(cnd_timedwait, Condition, condition: Ptr, mutex: Ptr, until: Time) -> c_int;
    nanosleep(nanosleep, Sleep, span: Time, left: *mut timespec) -> c_int;
    clock_nanosleep(clock_nanosleep, Sleep, clock: c_int, flags: c_int, until: Time, left: *mut timespec) -> c_int;
    usleep(usleep, Sleep, span: c_uint) -> c_int;
    sleep(sleep, Sleep, span: c_uint) -> c_uint;
    poll(poll, Idle, list: Ptr, count: usize, span: c_int) -> c_int;
    epoll_wait(epoll_wait, Idle, set: c_int, list: Ptr, count: c_int, span: c_int) -> c_int;
    select(select, Idle, count: c_int, read: Ptr, write: Ptr, except: Ptr, span: Ptr) -> c_int;
    c11_sleep(thrd_sleep, Sleep, span: Time, left: *mut timespec) -> c_int;
}

macro_rules! semaphores {
    ($($name:ident($real:ident $(, $arg:ident: $ty:ty)*);)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(semaphore: Ptr, $($arg: $ty,)* caller: usize) -> c_int {
            let real = real();
            let errno = contech_guest::memory::Errno::get();
            // SAFETY: the caller's semaphore.
            if unsafe { (real.sem_trywait)(semaphore) } == 0 {
                return 0;
            }
            contech_guest::memory::Errno::set(errno);
            // SAFETY: the caller's arguments, passed on.
            wait(State::Condition, caller, || unsafe { (real.$real)(semaphore $(, $arg)*) })
        }
    )*};
}

semaphores! {
    semaphore(sem_wait);
    semaphore_timed(sem_timedwait, until: Time);
    semaphore_clock(sem_clockwait, clock: c_int, until: Time);
}

/// Only counted: how long another thread runs instead is not known.
pub(crate) unsafe extern "C-unwind" fn sched_yield(caller: usize) -> c_int {
    if let Some(lane) = tls::lane()
        && lane.is_running()
    {
        lane.sites.add(caller, State::Spin, 0);
        alone::yields(lane);
    }
    // SAFETY: no arguments.
    unsafe { (real().sched_yield)() }
}

pub(crate) unsafe extern "C-unwind" fn barrier(barrier: Ptr, caller: usize) -> c_int {
    let pass = || {
        // SAFETY: the caller's barrier.
        wait(State::Barrier, caller, || unsafe {
            (real().pthread_barrier_wait)(barrier)
        })
    };
    let Some(lane) = tls::lane() else {
        return pass();
    };
    alone::arrives(lane);
    let result = pass();
    alone::passed(lane);
    result
}
