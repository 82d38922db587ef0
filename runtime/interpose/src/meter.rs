//! Measures the time in which other programs had the processor, which is not the measured program's
//! time.
//!
//! The measure is the thread's own CPU time, which is dear to read (three system calls). So
//! [`Meter::read`] is for intervals that are long compared with a reading. For an interval in which
//! the thread gave up the processor itself (it waited) it gives zero, unless its user knows these
//! waits ([`Meter::waited`]).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::arch::ticks;
use crate::clock::nanoseconds;
use crate::kernel::sleeps;

/// Ticks, about 30 microseconds. No other program runs within a shorter interval.
pub const LONG: u64 = 90_000;
/// The processor may be given up so often in a wait that is known.
const TIMES: u64 = 2;
/// A shorter interruption in nanoseconds is only the inexactness of the clocks.
const SHORTEST: u64 = 3_000;

/// A thread's clocks when they were last read; zero if they never were. Only the thread that owns
/// the meter uses it.
#[derive(Debug, Default)]
pub struct Meter {
    ticks: AtomicU64,
    wall: AtomicU64,
    cpu: AtomicU64,
    waits: AtomicU64,
    /// Number and ticks of the waits since then that are known.
    known: AtomicU64,
    known_ticks: AtomicU64,
}

#[derive(Clone, Copy)]
struct Reading {
    ticks: u64,
    wall: u64,
    cpu: u64,
    waits: u64,
}

impl Meter {
    /// Notes a wait, which is no time of other programs.
    pub fn waited(&self, ticks: u64) {
        let add = |sum: &AtomicU64, more| sum.store(sum.load(Relaxed) + more, Relaxed);
        add(&self.known, 1);
        add(&self.known_ticks, ticks);
    }

    /// Reads the clocks. Returns the ticks since the last reading in which the thread was ready but
    /// did not run.
    pub fn read(&self) -> u64 {
        self.stolen(Reading::now())
    }

    /// Ticks since the last reading in which the thread was ready, but did not run.
    fn stolen(&self, now: Reading) -> u64 {
        let since = Reading {
            ticks: now.ticks.saturating_sub(self.ticks.swap(now.ticks, Relaxed)),
            wall: now.wall.saturating_sub(self.wall.swap(now.wall, Relaxed)),
            cpu: now.cpu.saturating_sub(self.cpu.swap(now.cpu, Relaxed)),
            waits: now.waits.wrapping_sub(self.waits.swap(now.waits, Relaxed)),
        };
        let known = self.known.swap(0, Relaxed);
        let known_ticks = self.known_ticks.swap(0, Relaxed);
        let away = since.wall.saturating_sub(since.cpu);
        // The first reading covers the time since the machine started, when the program did not
        // exist.
        if since.waits > TIMES * known || since.ticks == now.ticks || away < SHORTEST {
            return 0;
        }
        let ticks = |ns: u64| {
            let ticks = u128::from(ns) * u128::from(since.ticks) / u128::from(since.wall.max(1));
            u64::try_from(ticks).unwrap_or(0)
        };
        let stolen = ticks(away).saturating_sub(known_ticks);
        if stolen < ticks(SHORTEST) { 0 } else { stolen }
    }
}

impl Reading {
    fn now() -> Self {
        Reading {
            ticks: ticks(),
            wall: nanoseconds(libc::CLOCK_MONOTONIC),
            cpu: nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID),
            waits: sleeps(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ticks: u64, wall: u64, cpu: u64, waits: u64) -> Reading {
        Reading { ticks, wall, cpu, waits }
    }

    #[test]
    fn what_others_took_is_told_from_waiting_and_from_inexact_clocks() {
        let meter = Meter::default();
        assert_eq!(meter.stolen(reading(3_000, 1_000, 10, 5)), 0, "the first");
        let interrupted = reading(3_000_000 + 3_000, 1_001_000, 400_010, 5);
        assert_eq!(meter.stolen(interrupted), 1_800_000);
        let waited = reading(6_003_000, 2_001_000, 500_010, 6);
        assert_eq!(meter.stolen(waited), 0);
        let inexact = reading(9_003_000, 3_001_000, 1_499_000, 6);
        assert_eq!(meter.stolen(inexact), 0);
        meter.waited(1_200_000);
        let also = reading(12_003_000, 4_001_000, 1_899_000, 8);
        assert_eq!(meter.stolen(also), 600_000);
        meter.waited(2_400_000);
        let only = reading(15_003_000, 5_001_000, 2_099_000, 9);
        assert_eq!(meter.stolen(only), 0);
    }
}
