//! The functions this library stands in front of, as the next object in line defines them.

use std::ffi::{c_char, c_int, c_uint};

pub(crate) use contech_guest::lookup::next;
use contech_guest::real_functions;
pub(crate) use contech_guest::threads::Ptr;
use contech_guest::threads::{Body, Body11};
use libc::{sigaction, siginfo_t, timespec};

/// A point in time.
pub(crate) type Time = *const timespec;
/// A list of strings ended by null.
pub(crate) type Strings = *const *const c_char;
/// Handler that takes information.
pub(crate) type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, Ptr);

real_functions! {
    pthread_create: (*mut usize, Ptr, Body, Ptr) -> c_int;
    pthread_join: (usize, *mut Ptr) -> c_int;
    pthread_tryjoin_np: (usize, *mut Ptr) -> c_int;
    pthread_timedjoin_np: (usize, *mut Ptr, Time) -> c_int;
    pthread_clockjoin_np: (usize, *mut Ptr, c_int, Time) -> c_int;
    pthread_detach: (usize) -> c_int;
    pthread_exit: (Ptr) -> !;
    pthread_setcanceltype: (c_int, *mut c_int) -> c_int;

    pthread_mutex_init: (Ptr, Ptr) -> c_int;
    pthread_mutex_destroy: (Ptr) -> c_int;
    pthread_mutex_lock: (Ptr) -> c_int;
    pthread_mutex_trylock: (Ptr) -> c_int;
    pthread_mutex_timedlock: (Ptr, Time) -> c_int;
    pthread_mutex_clocklock: (Ptr, c_int, Time) -> c_int;
    pthread_mutex_unlock: (Ptr) -> c_int;

    pthread_rwlock_init: (Ptr, Ptr) -> c_int;
    pthread_rwlock_destroy: (Ptr) -> c_int;
    pthread_rwlock_rdlock: (Ptr) -> c_int;
    pthread_rwlock_tryrdlock: (Ptr) -> c_int;
    pthread_rwlock_timedrdlock: (Ptr, Time) -> c_int;
    pthread_rwlock_clockrdlock: (Ptr, c_int, Time) -> c_int;
    pthread_rwlock_wrlock: (Ptr) -> c_int;
    pthread_rwlock_trywrlock: (Ptr) -> c_int;
    pthread_rwlock_timedwrlock: (Ptr, Time) -> c_int;
    pthread_rwlock_clockwrlock: (Ptr, c_int, Time) -> c_int;
    pthread_rwlock_unlock: (Ptr) -> c_int;

    pthread_spin_init: (Ptr, c_int) -> c_int;
    pthread_spin_destroy: (Ptr) -> c_int;
    pthread_spin_lock: (Ptr) -> c_int;
    pthread_spin_trylock: (Ptr) -> c_int;
    pthread_spin_unlock: (Ptr) -> c_int;

    // An older version of these, for programs of another age, has conditions of another layout.
    pthread_cond_init @ "GLIBC_2.3.2": (Ptr, Ptr) -> c_int;
    pthread_cond_destroy @ "GLIBC_2.3.2": (Ptr) -> c_int;
    pthread_cond_wait @ "GLIBC_2.3.2": (Ptr, Ptr) -> c_int;
    pthread_cond_timedwait @ "GLIBC_2.3.2": (Ptr, Ptr, Time) -> c_int;
    pthread_cond_clockwait: (Ptr, Ptr, c_int, Time) -> c_int;
    pthread_cond_signal @ "GLIBC_2.3.2": (Ptr) -> c_int;
    pthread_cond_broadcast @ "GLIBC_2.3.2": (Ptr) -> c_int;

    pthread_barrier_init: (Ptr, Ptr, c_uint) -> c_int;
    pthread_barrier_destroy: (Ptr) -> c_int;
    pthread_barrier_wait: (Ptr) -> c_int;

    sem_init: (Ptr, c_int, c_uint) -> c_int;
    sem_destroy: (Ptr) -> c_int;
    sem_wait: (Ptr) -> c_int;
    sem_trywait: (Ptr) -> c_int;
    sem_timedwait: (Ptr, Time) -> c_int;
    sem_clockwait: (Ptr, c_int, Time) -> c_int;
    sem_post: (Ptr) -> c_int;

    pthread_once: (Ptr, unsafe extern "C-unwind" fn()) -> c_int;

    thrd_create: (*mut usize, Body11, Ptr) -> c_int;
    thrd_join: (usize, *mut c_int) -> c_int;
    thrd_detach: (usize) -> c_int;
    thrd_exit: (c_int) -> !;
    mtx_init: (Ptr, c_int) -> c_int;
    mtx_destroy: (Ptr);
    mtx_lock: (Ptr) -> c_int;
    mtx_trylock: (Ptr) -> c_int;
    mtx_timedlock: (Ptr, Time) -> c_int;
    mtx_unlock: (Ptr) -> c_int;
    cnd_init: (Ptr) -> c_int;
    cnd_destroy: (Ptr);
    cnd_wait: (Ptr, Ptr) -> c_int;
    cnd_timedwait: (Ptr, Ptr, Time) -> c_int;
    cnd_signal: (Ptr) -> c_int;
    cnd_broadcast: (Ptr) -> c_int;
    call_once: (Ptr, unsafe extern "C-unwind" fn());

    malloc: (usize) -> Ptr;
    calloc: (usize, usize) -> Ptr;
    realloc: (Ptr, usize) -> Ptr;
    reallocarray: (Ptr, usize, usize) -> Ptr;
    free: (Ptr);
    posix_memalign: (*mut Ptr, usize, usize) -> c_int;
    aligned_alloc: (usize, usize) -> Ptr;
    memalign: (usize, usize) -> Ptr;
    valloc: (usize) -> Ptr;

    sigaction: (c_int, *const sigaction, *mut sigaction) -> c_int;
    fork: () -> c_int;
    _exit: (c_int) -> !;
    execve: (*const c_char, Strings, Strings) -> c_int;
    execv: (*const c_char, Strings) -> c_int;
    execvp: (*const c_char, Strings) -> c_int;
    execvpe: (*const c_char, Strings, Strings) -> c_int;
    fexecve: (c_int, Strings, Strings) -> c_int;
    execveat: (c_int, *const c_char, Strings, Strings, c_int) -> c_int;
    execl: () -> c_int;
    execlp: () -> c_int;
    execle: () -> c_int;
    longjmp: () -> c_int;
    _longjmp: () -> c_int;
    siglongjmp: () -> c_int;
    __longjmp_chk: () -> c_int;
}
