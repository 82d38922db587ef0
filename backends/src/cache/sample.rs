//! A preview of the fully associative curve from a sample of the lines: SHARDS (Waldspurger et al., "Efficient MRC
//! construction with SHARDS", FAST 2015), with a fixed rate and the adjustment of the paper for the share that was
//! drawn.
//!
//! A line is in the sample if a hash of its number is below a threshold, so either all its accesses are in the sample
//! or none. Among sampled lines, distances are on average the rate times the true ones.

use std::ops::Range;

use super::geometry::{Geometries, Geometry};
use super::line_ids::LineIds;
use super::lookups::{LineSink, touch};
use super::model::unknown;
use super::recency::RecencyGroups;

/// Estimates for fully associative caches.
#[derive(Debug)]
pub struct SampledModel {
    line_shift: u32,
    rate: f64,
    /// Twice the lines of the largest cache: among so many lines in a row there are as many in the sample as it holds.
    most: u64,
    threshold: u64,
    ids: LineIds,
    groups: RecencyGroups,
    /// For each size: the group of its capacity in sampled lines.
    group_of: Vec<usize>,
    /// Sampled look-ups by the smallest group that has the line; the last entry counts those that no group has.
    hits: Vec<u64>,
    accesses: u64,
    sampled: u64,
}

impl SampledModel {
    /// Caches of all sizes of `geometries`, whatever their ways, for a sample of about `rate` (0 to 1) of all lines.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates; the rate is between 0 and 1"
    )]
    pub fn new(geometries: &Geometries, rate: f64) -> Self {
        // A line at distance d hits if d is below the capacity, that is, below the next whole number.
        let capacity = |geometry: &Geometry| (geometry.lines as f64 * rate).ceil().max(1.0) as u64;
        let mut capacities: Vec<u64> = geometries.all.iter().map(capacity).collect();
        let sizes = capacities.clone();
        capacities.sort_unstable();
        capacities.dedup();
        let group = |size: &u64| capacities.partition_point(|known| known < size);
        Self {
            line_shift: geometries.line_shift,
            rate,
            most: 2 * geometries.all.iter().map(|at| at.lines).max().unwrap_or(0),
            threshold: (rate * u64::MAX as f64) as u64,
            ids: LineIds::default(),
            group_of: sizes.iter().map(group).collect(),
            hits: vec![0; capacities.len() + 1],
            groups: RecencyGroups::new(capacities),
            accesses: 0,
            sampled: 0,
        }
    }

    /// One access of `size` bytes at `address`.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        touch(&unknown(address, size), self.line_shift, 1, self);
    }

    #[inline]
    fn touch(&mut self, line: u64, times: u64) {
        self.accesses += times;
        if scatter(line) <= self.threshold {
            self.sampled += times;
            let id = self.ids.id(line);
            let none = self.hits.len() - 1;
            self.hits[self.groups.touch(id).unwrap_or(none)] += times;
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
        // A fair sample would have more (or fewer) look-ups; the difference belongs to the most used lines, which hit
        // in any case.
        let more = all * self.rate - self.sampled as f64;
        let estimate = |&group: &usize| {
            let hits = more + self.hits[..=group].iter().sum::<u64>() as f64;
            (all - hits / self.rate).clamp(0.0, all).round() as u64
        };
        self.group_of.iter().map(estimate).collect()
    }
}

impl LineSink for SampledModel {
    fn most(&self) -> u64 {
        self.most
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate of lines that are not negative"
    )]
    fn pass(&mut self, lines: Range<u64>, _: &taskgraph::Access, times: u64) {
        let count = (lines.end - lines.start).saturating_mul(times);
        self.accesses = self.accesses.saturating_add(count);
        let sampled = (count as f64 * self.rate).round() as u64;
        self.sampled = self.sampled.saturating_add(sampled);
        if let Some(misses) = self.hits.last_mut() {
            *misses = misses.saturating_add(sampled);
        }
    }

    #[inline]
    fn look_up(&mut self, line: u64, _: &taskgraph::Access, times: u64) {
        self.touch(line, times);
    }
}

/// A hash that spreads neighbouring lines (the finaliser of `SplitMix64`).
fn scatter(line: u64) -> u64 {
    let mut z = line.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
