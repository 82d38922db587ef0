//! A preview of the fully associative curve from a sample of the lines: SHARDS (Waldspurger et al., "Efficient MRC
//! construction with SHARDS", FAST 2015), with a fixed rate and their adjustment for the share that was drawn.
//!
//! A line is in the sample when a hash of its number is below a threshold, so all its accesses are or none. Among
//! sampled lines, distances are the rate times the true ones on average.

use super::geometry::Geometries;
use super::recency::RecencyStack;

/// Estimates for fully associative caches.
#[derive(Debug)]
pub struct SampledModel {
    line_shift: u32,
    rate: f64,
    threshold: u64,
    stack: RecencyStack,
    /// Capacities in sampled lines, ascending as the sizes.
    capacities: Vec<f64>,
    /// `hits[i]`: sampled look-ups whose smallest hitting capacity is `capacities[i]`.
    hits: Vec<u64>,
    accesses: u64,
    sampled: u64,
}

impl SampledModel {
    /// Caches of all sizes of `geometries`, whatever their ways, from about `rate` (0 to 1) of all lines.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates; the rate is between 0 and 1"
    )]
    pub fn new(geometries: &Geometries, rate: f64) -> Self {
        let capacities: Vec<f64> = geometries
            .all
            .iter()
            .map(|geometry| geometry.lines as f64 * rate)
            .collect();
        let largest = capacities.iter().copied().fold(1.0, f64::max);
        Self {
            line_shift: geometries.line_shift,
            rate,
            threshold: (rate * u64::MAX as f64) as u64,
            stack: RecencyStack::new(largest.ceil() as usize),
            hits: vec![0; capacities.len()],
            capacities,
            accesses: 0,
            sampled: 0,
        }
    }

    /// One access of `size` bytes at `address`.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        if size == 0 {
            return;
        }
        let last = address.saturating_add(size - 1) >> self.line_shift;
        for line in address >> self.line_shift..=last {
            self.accesses += 1;
            if scatter(line) <= self.threshold {
                self.touch(line);
            }
        }
    }

    fn touch(&mut self, line: u64) {
        self.sampled += 1;
        let Some(distance) = self.stack.touch(line) else {
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let distance = distance as f64;
        let smallest = self
            .capacities
            .partition_point(|&capacity| capacity <= distance);
        if let Some(hits) = self.hits.get_mut(smallest) {
            *hits += 1;
        }
    }

    /// Lines looked up so far, sampled or not.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Estimated misses of each size, in the order of the geometries.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates, clamped to what is possible"
    )]
    pub fn misses(&self) -> Vec<u64> {
        let all = self.accesses as f64;
        // Look-ups that a fair sample would have had more (or less) belong to the most used lines, which hit anyhow.
        let mut hits = all * self.rate - self.sampled as f64;
        let estimate = |&more: &u64| {
            hits += more as f64;
            (all - hits / self.rate).clamp(0.0, all).round() as u64
        };
        self.hits.iter().map(estimate).collect()
    }
}

/// A hash that spreads neighbouring lines (the finaliser of `SplitMix64`).
fn scatter(line: u64) -> u64 {
    let mut z = line.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
