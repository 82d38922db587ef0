//! Estimates from a sample of the lines: SHARDS (Waldspurger et al., "Efficient MRC construction
//! with SHARDS", FAST 2015), with a fixed rate.
//!
//! A line is in the sample if a hash of its number is below a threshold, so either all its accesses
//! are in the sample or none. Among sampled lines, distances are on average the rate times the true
//! ones, so a cache is modelled with the rate times its lines. The misses of all lines are those of
//! the sample divided by the rate.

use taskgraph::Access;

use crate::analysis::{lines, lines_of};

/// One of so many lines is always in the sample of a report. A cache of 32K then has 16 of them.
const FEWEST: u64 = 32;
/// A cache with room for fewer sampled lines than this is modelled roughly: what it holds depends
/// on whether one more hot line is in the sample.
const ROUGH: f64 = 16.0;

/// A sample of the lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    rate: f64,
    threshold: u64,
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates of numbers that are not negative"
)]
impl Sample {
    /// All lines, which makes every number exact.
    pub const ALL: Self = Self { rate: 1.0, threshold: u64::MAX };

    /// About this share (0 to 1) of all lines.
    #[must_use]
    pub fn new(rate: f64) -> Self {
        Self { rate, threshold: (rate * u64::MAX as f64) as u64 }
    }

    /// For the report of a run with so many accesses: all lines, or so few that about `most`
    /// accesses are left, but at least one line in 32.
    #[must_use]
    pub fn within(accesses: u64, most: u64) -> Self {
        let mut parts = 1;
        while parts < FEWEST && accesses / parts > most {
            parts *= 2;
        }
        Self::new(1.0 / parts as f64)
    }

    /// The share of the lines; `None` for all of them.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self != Self::ALL).then_some(self.rate)
    }

    /// Whether a line is in the sample.
    #[inline]
    pub(crate) fn holds(self, line: u64) -> bool {
        self.threshold == u64::MAX || scatter(line) <= self.threshold
    }

    /// The sampled lines in a cache of so many lines.
    pub(super) fn capacity(self, lines: u64) -> u64 {
        match self.rate() {
            // A line at distance d hits if d is below the capacity, that is, below the next whole
            // number.
            Some(rate) => (lines as f64 * rate).ceil().max(1.0) as u64,
            None => lines,
        }
    }

    /// What a number in the sample says about all lines.
    pub(crate) fn whole(self, number: u64) -> u64 {
        match self.rate() {
            Some(rate) => (number as f64 / rate).round() as u64,
            None => number,
        }
    }

    /// The smallest number of lines of a cache that is not modelled roughly.
    #[must_use]
    pub fn rough(self) -> u64 {
        self.rate().map_or(1, |rate| (ROUGH / rate).ceil() as u64)
    }

    /// The fewest and the most sampled lines that a cache which holds so many of them may hold: two
    /// standard errors.
    pub(super) fn around(self, capacity: u64) -> [u64; 2] {
        let off = (2.0 * (capacity as f64 * (1.0 - self.rate)).sqrt()).ceil() as u64;
        [capacity.saturating_sub(off).max(1), capacity.saturating_add(off)]
    }

    /// How many lines an access touches that are in the sample.
    #[inline]
    pub(super) fn lines_of(self, access: &Access, shift: u32) -> usize {
        if self.threshold == u64::MAX {
            return lines_of(access, shift);
        }
        let lines = lines(access.addr, access.size, shift);
        lines.filter(|line| self.holds(*line)).count()
    }
}

/// A hash that spreads neighbouring lines (the finaliser of `SplitMix64`).
#[inline]
fn scatter(line: u64) -> u64 {
    let mut z = line.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
