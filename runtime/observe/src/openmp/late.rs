//! Callbacks that are registered when the program first uses what they report. Registering them
//! always would be slow: libomp calls those of critical sections for each lock too, and those of
//! task groups at each barrier and each wait for tasks.

use std::ffi::c_void;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst,
};

use contech_interpose::ompt::{SetCallback, ask, event};
use contech_interpose::{exports, found};

use super::tasks;
use crate::real::real;

/// States of a group of callbacks: not wanted yet; wanted (before libomp started, or after); being
/// registered; registered.
const UNUSED: u8 = 0;
const WANTED: u8 = 1;
const BUSY: u8 = 2;
const DONE: u8 = 3;

/// `ompt_set_callback`; null until libomp has started.
static SET: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// A group of callbacks that are registered late.
pub(super) struct Late {
    state: AtomicU8,
    register: fn(SetCallback),
}

/// The callbacks of critical, ordered and atomic sections and of nested locks.
pub(super) static MUTEXES: Late = Late::new(|set| {
    let reports =
        [event::MUTEX_ACQUIRED.to(tasks::acquired), event::MUTEX_ACQUIRE.to(tasks::acquire)];
    ask(set, &reports, |_, _| ());
});
/// Called when libomp has started: registers the callbacks that are already wanted.
pub(super) fn start(set: SetCallback, groups: [&Late; 2]) {
    SET.store(set as *mut c_void, SeqCst);
    for late in groups {
        if late.state.load(SeqCst) == WANTED {
            late.want();
        }
    }
}

impl Late {
    pub(super) const fn new(register: fn(SetCallback)) -> Self {
        Self { state: AtomicU8::new(UNUSED), register }
    }

    /// Registers the callbacks now, or as soon as libomp starts.
    #[inline]
    pub(super) fn want(&self) {
        if self.state.load(Acquire) != DONE {
            self.want_first();
        }
    }

    #[cold]
    #[inline(never)]
    fn want_first(&self) {
        let _ = self.state.compare_exchange(UNUSED, WANTED, SeqCst, SeqCst);
        let set = SET.load(SeqCst);
        if set.is_null() {
            return;
        }
        let first = self.state.compare_exchange(WANTED, BUSY, SeqCst, SeqCst);
        if first.is_ok() {
            // SAFETY: the pointer was a `SetCallback` when it was stored.
            let set = unsafe { std::mem::transmute::<*mut c_void, SetCallback>(set) };
            (self.register)(set);
            self.state.store(DONE, Release);
        }
        while self.state.load(Acquire) != DONE {
            // SAFETY: the function takes no arguments.
            unsafe { (real().sched_yield)() };
        }
    }
}

macro_rules! first {
    ($($name:ident, $real:ident, $slow:ident;)*) => {$(
        /// The function itself; until it is known, the observer's function that looks for it.
        static $real: AtomicPtr<c_void> = AtomicPtr::new($slow as *mut c_void);

        // The callbacks are registered before the first call goes on, so libomp reports that call
        // too.
        exports! {
            $name [through] = $real;
        }

        /// None of these functions has more than four arguments.
        unsafe extern "C-unwind" fn $slow(a: usize, b: usize, c: usize, d: usize) {
            MUTEXES.want();
            // It takes these arguments, or the first of them.
            found! { static FOUND = $name(usize, usize, usize, usize); }
            let real = FOUND.get();
            $real.store(real as *mut c_void, Relaxed);
            // SAFETY: the caller's arguments are passed on.
            unsafe { real(a, b, c, d) };
        }
    )*};
}

first! {
    __kmpc_critical, CRITICAL, critical;
    __kmpc_critical_with_hint, HINT, hint;
    __kmpc_ordered, ORDERED, ordered;
    __kmpc_atomic_start, ATOMIC, atomic;
    omp_set_nest_lock, NEST, nest;
    omp_set_nest_lock_, NEST_FORTRAN, nest_fortran;
    GOMP_critical_start, GNU_CRITICAL, gnu_critical;
    GOMP_critical_name_start, GNU_NAMED, gnu_named;
    GOMP_ordered_start, GNU_ORDERED, gnu_ordered;
    GOMP_atomic_start, GNU_ATOMIC, gnu_atomic;
}
