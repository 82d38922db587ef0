//! Time stamps: the processor's clock, and its frequency.

use std::time::Duration;

use crate::arch::ticks;
use crate::kernel::nanoseconds;

/// The processor's clock and the monotonic clock (ns) at the same moment: the tightest pair of a
/// few tries.
fn pair() -> (u64, u64) {
    let sample = || {
        let before = ticks();
        let ns = nanoseconds(libc::CLOCK_MONOTONIC_RAW);
        let after = ticks();
        (after.wrapping_sub(before), (before.midpoint(after), ns))
    };
    let tries = std::iter::repeat_with(sample).take(7);
    tries.fold(sample(), |best, next| if next.0 < best.0 { next } else { best }).1
}

/// The zero of a trace's ticks.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
    monotonic_ns: u64,
    unix_ns: u64,
}

impl Clock {
    /// A clock whose zero is now.
    #[must_use]
    pub fn start() -> Self {
        let (start, monotonic_ns) = pair();
        Clock { start, monotonic_ns, unix_ns: nanoseconds(libc::CLOCK_REALTIME) }
    }

    /// Ticks since the start.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        // The counter of another core may be a few ticks behind.
        ticks().saturating_sub(self.start)
    }

    /// The processor's clock at the start.
    #[must_use]
    pub fn start_ticks(&self) -> u64 {
        self.start
    }

    /// Wall clock at the start, ns since 1970.
    #[must_use]
    pub fn start_unix_ns(&self) -> u64 {
        self.unix_ns
    }

    /// About how many ticks `time` is.
    #[must_use]
    pub fn ticks(&self, time: Duration) -> u64 {
        let ticks = u128::from(self.measured_hz()) * time.as_nanos() / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Nanoseconds of a tick, measured since the start.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn ns_per_tick(&self) -> f64 {
        match self.measured_hz() {
            0 => 1.0,
            hz => 1e9 / hz as f64,
        }
    }

    /// Frequency in Hz, measured since the start; it is more exact the longer the run is.
    #[must_use]
    pub fn measured_hz(&self) -> u64 {
        let (now, ns) = pair();
        let ticks = u128::from(now.saturating_sub(self.start));
        let elapsed = u128::from(ns.saturating_sub(self.monotonic_ns)).max(1);
        u64::try_from(ticks * 1_000_000_000 / elapsed).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_count_up_from_the_start() {
        let clock = Clock::start();
        let a = clock.now();
        let b = clock.now();
        assert!(a <= b);
        assert!(clock.start_unix_ns() > 1_600_000_000_000_000_000);
    }
}
