//! Time stamps: the kernel's clocks, and the processor's with its frequency.

use std::ffi::c_int;
use std::time::Duration;

use crate::arch::ticks;
use crate::found;
use crate::kernel::{call, usage};

found! { static SCHED_GETCPU = sched_getcpu() -> c_int; }
found! { static CLOCK_GETTIME = clock_gettime(libc::clockid_t, *mut libc::timespec) -> c_int; }

/// The time of a clock in nanoseconds. A filter of the program's (seccomp) may refuse the system
/// call. The C library's own function reads the kernel's page in the process instead.
#[must_use]
pub fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if let Some(read) = CLOCK_GETTIME.known() {
        // SAFETY: the function takes a live timespec.
        unsafe { read(clock, &raw mut t) };
    } else {
        let clock = usize::try_from(clock).unwrap_or(0);
        let at = (&raw mut t).expose_provenance();
        // SAFETY: the pointer is to a live timespec.
        let _ = unsafe { call(libc::SYS_clock_gettime, [clock, at]) };
    }
    t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_nsec.unsigned_abs()
}

/// A time in another unit.
#[must_use]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measured time has fewer than 53 bits of meaning"
)]
pub fn scaled(time: u64, factor: f64) -> u64 {
    (time as f64 * factor) as u64
}

/// What the kernel says of the calling thread since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Time that it ran, in microseconds; that in the kernel is a part of it.
    pub all_us: u64,
    /// Time that it ran in the kernel, in microseconds.
    pub system_us: u64,
    /// Pages that the kernel had to give it.
    pub faults: u64,
    /// The number of the processor that it is on; the largest number if that is not known.
    pub processor: u16,
}

/// How long the calling thread has run. Its clock is exact. The times of its usage are not: while
/// it has the processor, they go on with the kernel's ticks, which may be 4 ms apart.
#[must_use]
pub fn ran() -> Ran {
    let (all_us, usage) = (nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID) / 1000, usage());
    let us = |t: libc::timeval| t.tv_sec.unsigned_abs() * 1_000_000 + t.tv_usec.unsigned_abs();
    Ran {
        all_us,
        system_us: us(usage.ru_stime).min(all_us),
        faults: usage.ru_minflt.unsigned_abs() + usage.ru_majflt.unsigned_abs(),
        processor: processor().unwrap_or(u16::MAX),
    }
}

/// The number of the processor that the calling thread is on, as the C library reads it from the
/// kernel's page in the process.
fn processor() -> Option<u16> {
    // SAFETY: the function has no arguments.
    SCHED_GETCPU.known().and_then(|number| u16::try_from(unsafe { number() }).ok())
}

/// A moment of the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Instant(u64);

impl Instant {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Instant(nanoseconds(libc::CLOCK_MONOTONIC))
    }

    /// The time since this moment.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(Self::now().0.saturating_sub(self.0))
    }
}

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
