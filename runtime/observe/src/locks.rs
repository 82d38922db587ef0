//! Locks: tried first, so that one that is free costs no reading of the clock; waiting begins when that fails.

use std::ffi::c_int;

use contech_observation::State;

use crate::real::{Ptr, Time, real};
use crate::waits::wait;

/// `thrd_busy` of threads.h.
const C11_BUSY: c_int = 1;

macro_rules! locks {
    ($($name:ident($real:ident, $try:ident, $busy:expr, $state:ident $(, $arg:ident: $ty:ty)*);)*) => {$(
        pub(crate) unsafe extern "C-unwind" fn $name(lock: Ptr, $($arg: $ty,)* caller: usize) -> c_int {
            let real = real();
            // SAFETY: the caller's lock.
            let result = unsafe { (real.$try)(lock) };
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
