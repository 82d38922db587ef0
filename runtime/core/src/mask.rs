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
