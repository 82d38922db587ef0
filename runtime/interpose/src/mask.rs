#![allow(unsafe_code, reason = "the signal mask is a system call")]
//! Blocks all signals around the slow path, so that no handler and no cancellation interrupts the
//! runtime halfway.

use crate::kernel::call;

/// All signals are blocked while this value lives, including those that the C library keeps for
/// itself. (The C library's own functions do not block these, and so would leave cancellation
/// open.)
#[derive(Debug)]
pub struct Blocked(u64);

const SET_BYTES: usize = 8;
/// The signals 32 and 33, which the C library keeps for itself.
const LIBRARY: u64 = 0b11 << 31;

impl Blocked {
    /// Blocks all signals and remembers the mask from before.
    #[must_use]
    pub fn new() -> Self {
        Blocked(set(u64::MAX))
    }

    /// The mask from before.
    #[must_use]
    pub fn before(&self) -> u64 {
        self.0
    }

    /// Blocks exactly the signals in `mask`.
    pub fn restore(mask: u64) {
        set(mask);
    }

    /// Leaves the program's signals blocked. Those of the C library open, because it waits for all
    /// threads to answer them.
    pub fn keep(self) {
        set(!LIBRARY);
        std::mem::forget(self);
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        set(self.0);
    }
}

fn set(mask: u64) -> u64 {
    const SET_MASK: usize = libc::SIG_SETMASK as usize;
    let mut old = 0u64;
    let (new_at, old_at) =
        ((&raw const mask).expose_provenance(), (&raw mut old).expose_provenance());
    // SAFETY: both pointers are to live 8-byte masks, the size the call is told.
    let _ = unsafe { call(libc::SYS_rt_sigprocmask, [SET_MASK, new_at, old_at, SET_BYTES]) };
    old
}

/// Whether a signal with which users end a program is pending, because it is blocked.
#[must_use]
pub fn end_is_asked() -> bool {
    const ASKING: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
    let mut pending = 0u64;
    // SAFETY: the pointer is to a live 8-byte mask, the size the call is told.
    let _ = unsafe {
        call(libc::SYS_rt_sigpending, [(&raw mut pending).expose_provenance(), SET_BYTES])
    };
    ASKING.iter().any(|signal| pending >> (signal - 1) & 1 != 0)
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

/// The thread cannot be cancelled while this value lives. It is for rare work (opening files, the
/// end of the trace) that calls functions of the C library in which a cancellation may happen. The
/// slow path makes its system calls directly instead.
#[derive(Debug)]
pub struct Uncancellable(libc::c_int);

impl Uncancellable {
    /// Disables cancellation and remembers the state from before.
    #[must_use]
    pub fn new() -> Self {
        const DISABLE: libc::c_int = 1;
        let mut old = 0;
        // SAFETY: the pointer is to a live integer; disabling never acts on a cancellation.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Uncancellable(old)
    }
}

impl Drop for Uncancellable {
    fn drop(&mut self) {
        // SAFETY: the call restores the state that `new` found; null means that the current state
        // is not wanted.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

/// Runs `f` while signals are blocked, so that no handler of the program interrupts `f` or a thread
/// that `f` creates.
pub fn unhandled<R>(f: impl FnOnce() -> R) -> R {
    // The signals that the C library keeps for itself stay open, because it waits for all threads
    // to answer them.
    let _blocked = Blocked(set(!LIBRARY));
    f()
}
