//! Observed time: the processor's clock, which stands still outside of the region of interest.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use contech_interpose::arch::{in_order, ticks};
use contech_interpose::clock::Clock;

/// Number of ticks that are not observed time.
static OFFSET: AtomicU64 = AtomicU64::new(0);
/// The observed time at which the clock stands still; 0 while it runs.
static FROZEN: AtomicU64 = AtomicU64::new(0);
/// Observed time at which the observation began.
static ZERO: AtomicU64 = AtomicU64::new(0);
/// Incremented when the first region of interest begins, because measurements from before it are
/// dropped.
static EPOCH: AtomicU32 = AtomicU32::new(0);
static CALIBRATION: OnceLock<Clock> = OnceLock::new();

pub(crate) fn start() {
    let clock = CALIBRATION.get_or_init(Clock::start);
    ZERO.store(clock.start_ticks(), Relaxed);
}

/// Observed time in ticks.
#[inline]
pub(crate) fn now() -> u64 {
    match FROZEN.load(Acquire) {
        0 => ticks().wrapping_sub(OFFSET.load(Relaxed)),
        frozen => frozen,
    }
}

/// Observed time in ticks, read after all earlier instructions have finished: a plain read of the
/// counter may happen before a slow instruction that precedes it.
#[inline]
pub(crate) fn now_in_order() -> u64 {
    in_order();
    let now = now();
    in_order();
    now
}

/// Observed time when the observation began.
#[inline]
pub(crate) fn zero() -> u64 {
    ZERO.load(Relaxed)
}

/// 1 if a region of interest has begun, 0 before.
#[inline]
pub(crate) fn epoch() -> u32 {
    EPOCH.load(Acquire)
}

/// Lets observed time run when a region of interest begins; whether it is the first region.
pub(crate) fn resume() -> bool {
    let frozen = FROZEN.load(Relaxed);
    if frozen != 0 {
        OFFSET.store(ticks().wrapping_sub(frozen), Relaxed);
        FROZEN.store(0, Release);
    }
    let first = EPOCH.load(Relaxed) == 0;
    if first {
        ZERO.store(now(), Relaxed);
        EPOCH.store(1, Release);
    }
    first
}

/// Stops observed time when a region of interest ends.
pub(crate) fn pause() {
    FROZEN.store(now(), Release);
}

pub(crate) fn ns_per_tick() -> f64 {
    CALIBRATION.get().map_or(1.0, Clock::ns_per_tick)
}
