//! The cycle counter, and what reading it and running a hook cost.
#![allow(unsafe_code, reason = "an instruction")]

use std::time::Instant;

/// Cycles since the processor started, at the frequency of the time stamp counter.
#[inline]
pub(crate) fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it reads a register only.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Cycles and time at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    cycles: u64,
    time: Instant,
}

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        Self {
            cycles: cycles(),
            time: Instant::now(),
        }
    }

    /// Nanoseconds of a cycle, from then to now.
    pub(crate) fn ns_per_cycle(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a ratio")]
        let passed = cycles().saturating_sub(self.cycles) as f64;
        if passed == 0.0 {
            return 1.0;
        }
        self.time.elapsed().as_secs_f64() * 1e9 / passed
    }
}
