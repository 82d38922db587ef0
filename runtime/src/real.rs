//! The functions this library stands in front of, as the next object in line defines them.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering::Acquire, Ordering::Release};

use contech_runtime_core::mask::Blocked;
use contech_runtime_core::notice;
use libc::{sigaction, siginfo_t, timespec};

/// Any pointer of the program's.
pub(crate) type Ptr = *mut c_void;
/// A point in time.
pub(crate) type Time = *const timespec;
/// A list of strings ended by null.
pub(crate) type Strings = *const *const c_char;
/// Body of a thread.
pub(crate) type Body = unsafe extern "C-unwind" fn(Ptr) -> Ptr;
/// Body of a C11 thread.
pub(crate) type Body11 = unsafe extern "C-unwind" fn(Ptr) -> c_int;
/// Handler that takes information.
pub(crate) type Handler = unsafe extern "C-unwind" fn(c_int, *mut siginfo_t, Ptr);

macro_rules! real_functions {
    ($($name:ident $(= $symbol:literal)? $(@ $version:literal)? : ($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The real functions, by name. A function the process does not have says so when it is called.
        pub(crate) struct Real { $(pub(crate) $name: unsafe extern "C-unwind" fn($($arg),*) $(-> $ret)?,)* }

        fn resolve_all() -> Real {
            Real { $($name: {
                let symbol = real_functions!(@symbol $name $($symbol)?);
                let found = find(symbol, real_functions!(@version $($version)?));
                // SAFETY: the symbol's C prototype is this type; `missing` takes and returns nothing,
                // and does not return at all.
                unsafe { std::mem::transmute::<Ptr, unsafe extern "C-unwind" fn($($arg),*) $(-> $ret)?>(found) }
            },)* }
        }
    };
    (@symbol $name:ident) => { concat!(stringify!($name), "\0") };
    (@symbol $name:ident $symbol:literal) => { concat!($symbol, "\0") };
    (@version) => { None };
    (@version $version:literal) => { Some(concat!($version, "\0")) };
}

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

const UNKNOWN: u8 = 0;
const RESOLVING: u8 = 1;
const READY: u8 = 2;

struct Table(UnsafeCell<MaybeUninit<Real>>);

// SAFETY: written once, by the thread that moved `STATE` from unknown to resolving, and read only once
// it is ready.
unsafe impl Sync for Table {}

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
static TABLE: Table = Table(UnsafeCell::new(MaybeUninit::uninit()));

/// The real functions.
#[inline(always)]
pub(crate) fn real() -> &'static Real {
    if STATE.load(Acquire) != READY {
        resolve();
    }
    // SAFETY: ready means written, for good.
    unsafe { (*TABLE.0.get()).assume_init_ref() }
}

/// The real functions, unless they are being looked up just now, perhaps by this very thread.
#[inline(always)]
pub(crate) fn real_if_ready() -> Option<&'static Real> {
    match STATE.load(Acquire) {
        RESOLVING => None,
        _ => Some(real()),
    }
}

#[cold]
fn resolve() {
    let _blocked = Blocked::new();
    match STATE.compare_exchange(UNKNOWN, RESOLVING, Acquire, Acquire) {
        Ok(_) => {
            let table = resolve_all();
            // SAFETY: this thread alone is resolving.
            unsafe { (*TABLE.0.get()).write(table) };
            STATE.store(READY, Release);
        }
        // Another thread is at it (this one would be in `dlsym`, which calls allocation functions
        // only, and those ask `real_if_ready`).
        Err(_) => {
            while STATE.load(Acquire) != READY {
                std::thread::yield_now();
            }
        }
    }
}

/// The next definition after this library's; in a plain program that uses an instrumented library, the
/// C library comes before this one, and is asked by name; [`missing`] where there is none.
fn find(symbol: &str, version: Option<&str>) -> Ptr {
    let name = symbol.as_ptr().cast::<c_char>();
    // SAFETY: the name is a C string; nothing is loaded that is not there already.
    let c_library =
        unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    for place in [libc::RTLD_NEXT, c_library] {
        if place.is_null() {
            continue;
        }
        if let Some(version) = version {
            // SAFETY: both strings end in a zero byte; the place is a handle or a pseudo-handle.
            let found = unsafe { libc::dlvsym(place, name, version.as_ptr().cast()) };
            if !found.is_null() {
                return found;
            }
        }
        // SAFETY: as above.
        let found = unsafe { libc::dlsym(place, name) };
        if !found.is_null() {
            return found;
        }
    }
    missing as *const () as Ptr
}

/// A function by name from the objects after this one, for those that come and go with a library.
pub(crate) fn next(symbol: &CStr) -> Ptr {
    // SAFETY: the name is a C string.
    unsafe { libc::dlsym(libc::RTLD_NEXT, symbol.as_ptr()) }
}

extern "C" fn missing() -> ! {
    notice::say("the program called a function that its C library does not have");
    // SAFETY: ends the process, as calling a function that is not there would.
    unsafe { libc::abort() }
}
