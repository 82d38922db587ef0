#![allow(unsafe_code, reason = "the signal mask is a system call")]
//! Blocking of all signals around the slow path, so that no handler and no cancellation ever finds
//! the runtime half way.

/// All signals are blocked while this lives, those the C library keeps for itself included (its own
/// functions would leave cancellation open).
#[derive(Debug)]
pub struct Blocked(u64);

const SET_BYTES: usize = 8;

impl Blocked {
    /// Blocks everything, remembers what was blocked before.
    #[must_use]
    pub fn new() -> Self {
        Blocked(set(u64::MAX))
    }
}

impl Blocked {
    /// What was blocked before.
    #[must_use]
    pub fn before(&self) -> u64 {
        self.0
    }

    /// Blocks exactly this.
    pub fn restore(mask: u64) {
        set(mask);
    }
}

impl Default for Blocked {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        set(self.0);
    }
}

fn set(mask: u64) -> u64 {
    let mut old = 0u64;
    // SAFETY: both pointers are to live 8-byte masks, the size the call is told.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut old,
            SET_BYTES,
        )
    };
    old
}

/// Whether a signal by which users end a program waits until it is no longer blocked.
#[must_use]
pub fn end_is_asked() -> bool {
    const ASKING: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
    let mut pending = 0u64;
    // SAFETY: the pointer is to a live 8-byte mask, the size the call is told.
    unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, SET_BYTES) };
    ASKING.iter().any(|signal| pending >> (signal - 1) & 1 != 0)
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

/// The thread cannot be cancelled while this lives: for the rare work (opening files, the end of the
/// trace) that calls functions of the C library where a cancellation may strike. The slow path makes
/// its system calls directly instead.
#[derive(Debug)]
pub struct Uncancellable(libc::c_int);

impl Uncancellable {
    /// Disables cancellation, remembers how it was.
    #[must_use]
    pub fn new() -> Self {
        const DISABLE: libc::c_int = 1;
        let mut old = 0;
        // SAFETY: the pointer is to a live integer; disabling never acts on a cancellation.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Uncancellable(old)
    }
}

impl Default for Uncancellable {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Uncancellable {
    fn drop(&mut self) {
        // SAFETY: restores what `new` found; null says the state now is not asked for.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

/// Runs `f` while signals are blocked: no handler of the program interrupts it, nor a thread that `f` makes.
pub fn unhandled<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: a set is plain data.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // Not those the C library keeps for itself: it waits for all threads to answer them.
    // SAFETY: the sets are live.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
    }
    let result = f();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}
