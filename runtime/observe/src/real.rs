//! The functions this library stands in front of.

use std::ffi::{c_int, c_uint};

use contech_guest::real_functions;
pub(crate) use contech_guest::threads::Ptr;
use contech_guest::threads::{Body, Body11};
use libc::{sigaction, timespec};

/// A point in time, or a span.
pub(crate) type Time = *const timespec;
real_functions! {
    pthread_create: (*mut usize, Ptr, Body, Ptr) -> c_int;
    pthread_join: (usize, *mut Ptr) -> c_int;
    pthread_tryjoin_np: (usize, *mut Ptr) -> c_int;
    pthread_timedjoin_np: (usize, *mut Ptr, Time) -> c_int;
    pthread_clockjoin_np: (usize, *mut Ptr, c_int, Time) -> c_int;
    pthread_detach: (usize) -> c_int;
    thrd_create: (*mut usize, Body11, Ptr) -> c_int;
    thrd_join: (usize, *mut c_int) -> c_int;
    thrd_detach: (usize) -> c_int;

    pthread_mutex_lock: (Ptr) -> c_int;
    pthread_mutex_trylock: (Ptr) -> c_int;
    pthread_mutex_unlock: (Ptr) -> c_int;
    pthread_mutex_timedlock: (Ptr, Time) -> c_int;
    pthread_mutex_clocklock: (Ptr, c_int, Time) -> c_int;
    pthread_rwlock_rdlock: (Ptr) -> c_int;
    pthread_rwlock_tryrdlock: (Ptr) -> c_int;
    pthread_rwlock_timedrdlock: (Ptr, Time) -> c_int;
    pthread_rwlock_clockrdlock: (Ptr, c_int, Time) -> c_int;
    pthread_rwlock_wrlock: (Ptr) -> c_int;
    pthread_rwlock_trywrlock: (Ptr) -> c_int;
    pthread_rwlock_timedwrlock: (Ptr, Time) -> c_int;
    pthread_rwlock_clockwrlock: (Ptr, c_int, Time) -> c_int;
    pthread_spin_lock: (Ptr) -> c_int;
    pthread_spin_trylock: (Ptr) -> c_int;
    mtx_lock: (Ptr) -> c_int;
    mtx_trylock: (Ptr) -> c_int;
    mtx_timedlock: (Ptr, Time) -> c_int;

    // An older version of these, for programs of another age, has conditions of another layout.
    pthread_cond_wait @ "GLIBC_2.3.2": (Ptr, Ptr) -> c_int;
    pthread_cond_timedwait @ "GLIBC_2.3.2": (Ptr, Ptr, Time) -> c_int;
    pthread_cond_clockwait: (Ptr, Ptr, c_int, Time) -> c_int;
    cnd_wait: (Ptr, Ptr) -> c_int;
    cnd_timedwait: (Ptr, Ptr, Time) -> c_int;
    pthread_barrier_wait: (Ptr) -> c_int;
    sem_wait: (Ptr) -> c_int;
    sem_trywait: (Ptr) -> c_int;
    sem_timedwait: (Ptr, Time) -> c_int;
    sem_clockwait: (Ptr, c_int, Time) -> c_int;
    nanosleep: (Time, *mut timespec) -> c_int;
    clock_nanosleep: (c_int, c_int, Time, *mut timespec) -> c_int;
    usleep: (c_uint) -> c_int;
    sleep: (c_uint) -> c_uint;
    sched_yield: () -> c_int;
    poll: (Ptr, usize, c_int) -> c_int;
    epoll_wait: (c_int, Ptr, c_int, c_int) -> c_int;
    select: (c_int, Ptr, Ptr, Ptr, Ptr) -> c_int;
    thrd_sleep: (Time, *mut timespec) -> c_int;

    sigaction: (c_int, *const sigaction, *mut sigaction) -> c_int;
    signal: (c_int, usize) -> usize;
    _exit: (c_int) -> !;
}
