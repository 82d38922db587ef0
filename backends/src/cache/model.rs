//! The caches of one stream of addresses: every configuration is simulated exactly, with LRU replacement and
//! allocation on reads and writes.

use std::collections::BTreeMap;
use std::ops::Range;

use taskgraph::{Access, OpId};

use super::geometry::{Geometries, Geometry, Ways};
use super::line_ids::LineIds;
use super::lookups::{LineSink, touch};
use super::recency::RecencyGroups;
use super::sets::SetForest;

/// State of all configured caches.
#[derive(Debug)]
pub struct CacheModel {
    line_shift: u32,
    accesses: u64,
    /// The line looked up last, and how often it was looked up again directly afterwards; such look-ups hit in every
    /// cache and change nothing.
    last: u64,
    repeated: u64,
    /// The fewest ways of any cache.
    fewest: u64,
    /// The most lines of any cache.
    most: u64,
    ids: LineIds,
    full: Option<FullyAssociative>,
    sets: SetForest,
}

#[derive(Debug)]
struct FullyAssociative {
    groups: RecencyGroups,
    /// Capacities in lines, ascending.
    capacities: Vec<u64>,
    /// `hits[i]`: look-ups whose smallest hitting capacity is `capacities[i]`. The last entries count look-ups that
    /// hit in no cache: of lines that were looked up before, and of new ones.
    hits: Vec<u64>,
    /// Lines that were only counted.
    passed: Vec<Range<u64>>,
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Index of the smallest fully associative cache that had the line, or their number if none had it, or one more
    /// if the line is new; 0 if there are none.
    pub(crate) full: usize,
    /// Index of the first number of sets whose cache had it; `usize::MAX` when none had.
    pub(crate) sets: usize,
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
                Ways::Full => capacities.push(geometry.lines),
            }
        }
        capacities.sort_unstable();
        capacities.dedup();
        let ways = |geometry: &Geometry| match geometry.ways {
            Ways::Set(ways) => u64::from(ways),
            Ways::Full => geometry.lines,
        };
        let fewest = geometries.all.iter().map(ways).min().unwrap_or(0);
        let most = geometries.all.iter().map(|geometry| geometry.lines).max();
        let full = (!capacities.is_empty()).then(|| FullyAssociative {
            groups: RecencyGroups::new(capacities.clone()),
            hits: vec![0; capacities.len() + 2],
            capacities,
            passed: Vec::new(),
        });
        Self {
            line_shift: geometries.line_shift,
            accesses: 0,
            // No line has this number, because lines have at least 4 bytes.
            last: u64::MAX,
            repeated: 0,
            fewest,
            most: most.unwrap_or(0),
            ids: LineIds::default(),
            full,
            sets: SetForest::new(levels),
        }
    }

    /// One access of `size` bytes at `address`: it looks up every line that it touches once, and none for 0 bytes.
    #[inline]
    pub fn access(&mut self, address: u64, size: u64) {
        touch(&unknown(address, size), self.line_shift, 1, self);
    }

    /// A look-up that counts `times` times.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, times: u64) -> Found {
        self.accesses += times;
        if line == self.last {
            self.repeated += times;
            return Found { full: 0, sets: 0 };
        }
        self.last = line;
        let id = self.ids.id(line);
        let full = self.full.as_mut().map_or(0, |full| full.touch(id, times));
        let sets = self.sets.touch(line, id, times);
        Found { full, sets }
    }

    /// Whether the latest `lines` different lines are in every cache, whichever they are.
    #[inline]
    pub(crate) fn holds(&self, lines: usize) -> bool {
        lines as u64 <= self.fewest
    }

    /// Counts look-ups that hit in every cache and change nothing.
    #[inline]
    pub(crate) fn hit(&mut self, times: u64) {
        self.accesses += times;
        self.repeated += times;
    }

    /// Lines looked up so far.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Lines looked up for the first time, which miss in any cache. `None` unless a fully associative cache is
    /// modelled.
    #[must_use]
    pub fn cold(&self) -> Option<u64> {
        let full = self.full.as_ref()?;
        let passed = merged(&full.passed);
        let looked_up = |lines: &Range<u64>| {
            let known = self.ids.known(lines.clone());
            known.filter(|&id| full.groups.knows(id)).count() as u64
        };
        let only_counted = passed
            .iter()
            .map(|lines| lines.end - lines.start - looked_up(lines));
        Some(full.groups.lines() + only_counted.sum::<u64>())
    }

    /// Misses of one of the configured caches.
    ///
    /// # Panics
    /// When `geometry` is not one the model was made with.
    #[must_use]
    pub fn misses(&self, geometry: &Geometry) -> u64 {
        let touches = self.accesses - self.repeated;
        let misses = match geometry.ways {
            Ways::Set(ways) => self.sets.misses(geometry.sets(), ways as usize, touches),
            Ways::Full => self
                .full
                .as_ref()
                .and_then(|full| full.misses(geometry.lines, touches)),
        };
        misses.expect("a geometry the model was made with")
    }
}

/// An access of an instruction that does not matter.
pub(super) fn unknown(addr: u64, size: u64) -> Access {
    Access {
        addr,
        size,
        write: false,
        op: OpId::default(),
    }
}

/// The same lines, each in one range.
fn merged(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

impl LineSink for CacheModel {
    fn most(&self) -> u64 {
        self.most
    }

    fn pass(&mut self, lines: Range<u64>, _: &Access, times: u64) {
        let count = (lines.end - lines.start).saturating_mul(times);
        self.accesses = self.accesses.saturating_add(count);
        if let Some(full) = &mut self.full {
            let misses = &mut full.hits[full.capacities.len()];
            *misses = misses.saturating_add(count);
            if full.passed.last() != Some(&lines) {
                full.passed.push(lines);
            }
        }
    }

    #[inline]
    fn look_up(&mut self, line: u64, _: &Access, times: u64) {
        self.touch(line, times);
    }

    #[inline]
    fn holds(&self, lines: usize) -> bool {
        self.holds(lines)
    }

    #[inline]
    fn hit(&mut self, _: &Access, times: u64) {
        self.hit(times);
    }
}

impl FullyAssociative {
    #[inline]
    fn touch(&mut self, id: u32, times: u64) -> usize {
        let smallest = self.groups.touch(id).unwrap_or(self.capacities.len() + 1);
        self.hits[smallest] += times;
        smallest
    }

    fn misses(&self, lines: u64, touches: u64) -> Option<u64> {
        let at = self.capacities.iter().position(|&known| known == lines)?;
        Some(touches - self.hits[..=at].iter().sum::<u64>())
    }
}
