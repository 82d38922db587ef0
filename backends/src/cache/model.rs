//! The caches of one address stream: every configuration simulated exactly, LRU, allocating on reads and writes.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::geometry::{Geometries, Geometry, Ways};
use super::recency::RecencyStack;
use super::sets::SetForest;

/// State of all configured caches.
#[derive(Debug)]
pub struct CacheModel {
    line_shift: u32,
    accesses: u64,
    full: Option<FullyAssociative>,
    sets: SetForest,
}

#[derive(Debug)]
struct FullyAssociative {
    stack: RecencyStack,
    /// Capacities in lines, ascending.
    capacities: Vec<usize>,
    /// `hits[i]`: accesses whose smallest hitting capacity is `capacities[i]`.
    hits: Vec<u64>,
    /// Lines ever looked up: those the stack does not know may only have been forgotten.
    seen: FxHashSet<u64>,
}

impl CacheModel {
    /// Empty caches.
    #[must_use]
    pub fn new(geometries: &Geometries) -> Self {
        let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
        let mut capacities = Vec::new();
        for geometry in &geometries.all {
            match geometry.ways {
                Ways::Set(ways) => {
                    let most = levels.entry(geometry.sets()).or_default();
                    *most = (*most).max(ways as usize);
                }
                Ways::Full => {
                    capacities.push(usize::try_from(geometry.lines).unwrap_or(usize::MAX))
                }
            }
        }
        capacities.sort_unstable();
        let full = capacities.last().map(|&largest| FullyAssociative {
            stack: RecencyStack::new(largest),
            hits: vec![0; capacities.len()],
            capacities: capacities.clone(),
            seen: FxHashSet::default(),
        });
        Self {
            line_shift: geometries.line_shift,
            accesses: 0,
            full,
            sets: SetForest::new(levels),
        }
    }

    /// One access of `size` bytes at `address`: every line it touches is looked up once. No bytes, no lines.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        if size == 0 {
            return;
        }
        let first = address >> self.line_shift;
        let last = address.saturating_add(size - 1) >> self.line_shift;
        for line in first..=last {
            self.touch(line);
        }
    }

    #[inline]
    fn touch(&mut self, line: u64) {
        self.accesses += 1;
        if let Some(full) = &mut self.full
            && full.touch(line) == Some(0)
        {
            // The line was the very last one touched: it is at the front of its set everywhere, and stays there.
            return self.sets.settle();
        }
        self.sets.access(line);
    }

    /// Lines looked up so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Lines looked up for the first time: misses of any cache. `None` unless a fully associative cache is modelled.
    #[must_use]
    pub fn cold(&self) -> Option<u64> {
        self.full.as_ref().map(|full| full.seen.len() as u64)
    }

    /// Misses of one of the configured caches.
    ///
    /// # Panics
    /// When `geometry` is not one the model was made with.
    #[must_use]
    pub fn misses(&self, geometry: &Geometry) -> u64 {
        let misses = match geometry.ways {
            Ways::Set(ways) => self
                .sets
                .misses(geometry.sets(), ways as usize, self.accesses),
            Ways::Full => self
                .full
                .as_ref()
                .and_then(|full| full.misses(geometry.lines, self.accesses)),
        };
        misses.expect("a geometry the model was made with")
    }
}

impl FullyAssociative {
    #[inline]
    fn touch(&mut self, line: u64) -> Option<usize> {
        let Some(distance) = self.stack.touch(line) else {
            self.seen.insert(line);
            return None;
        };
        let smallest = self
            .capacities
            .partition_point(|&capacity| capacity <= distance);
        if let Some(hits) = self.hits.get_mut(smallest) {
            *hits += 1;
        }
        Some(distance)
    }

    fn misses(&self, lines: u64, accesses: u64) -> Option<u64> {
        let at = self
            .capacities
            .iter()
            .position(|&capacity| u64::try_from(capacity) == Ok(lines))?;
        Some(accesses - self.hits[..=at].iter().sum::<u64>())
    }
}
