//! The caches of one stream of addresses: every configuration is simulated exactly, with LRU
//! replacement and allocation on reads and writes, or estimated from a sample of the lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taskgraph::OpId;

use super::geometry::{Geometries, Geometry, Ways};
use super::line_ids::LineIds;
use super::look::{Lines, Look, LookedUp, Tally};
use super::recency::RecencyGroups;
use super::sample::Sample;
use super::sets::SetForest;

/// State of all configured caches.
#[derive(Debug)]
pub struct CacheModel {
    lines: Lines,
    /// Look-ups, and those among them that are not of the first line of an access.
    accesses: u64,
    beyond: u64,
    /// The line looked up last, and how often it was looked up again directly afterwards; such
    /// look-ups hit in every cache and change nothing.
    last: u64,
    repeated: u64,
    /// The fewest ways of any cache.
    fewest: u64,
    ids: LineIds,
    /// Look-ups that no cache has seen yet.
    looks: Vec<Look>,
    full: Option<FullyAssociative>,
    sets: SetForest,
    /// What the look-ups found in the fully associative caches, and in those of sets.
    found: [Vec<usize>; 2],
}

/// The look-ups that go through the caches together.
const BATCH: usize = 4096;
/// So many are worth a second thread.
const MANY: usize = 512;

#[derive(Debug)]
struct FullyAssociative {
    groups: RecencyGroups,
    /// Capacities in lines, ascending, and for each the smallest size that has as many lines. What
    /// follows stands for look-ups that hit in no cache. With a sample, there are other capacities
    /// beside those of the sizes.
    capacities: Vec<u64>,
    sizes: Vec<usize>,
    /// `hits[i]`: look-ups whose smallest hitting capacity is `capacities[i]`. The last entries
    /// count look-ups that hit in no cache: of lines that were looked up before, and of new ones.
    /// Of a sample, these are the numbers of [`PARTS`] parts, which tell how much chance is in
    /// them.
    hits: Vec<u64>,
    /// New lines and the times of their look-ups, if they are noted.
    first: Option<Vec<(u64, u64)>>,
}

/// What a stretch of the run does to caches of which it does not know what they held before it: the
/// look-ups that found their lines new, and all lines by their last look-up. Everything else in it
/// finds what it finds whatever was before (PARDA: Niu et al., "PARDA: A fast parallel reuse
/// distance analysis algorithm", 2012).
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stretch {
    first: Vec<(u64, u64)>,
    last: Vec<u64>,
}

impl Stretch {
    /// Look-ups that found their lines new.
    pub(crate) fn new_lines(&self) -> u64 {
        self.first.iter().map(|(_, times)| times).sum()
    }
}

/// Parts of a sample, by a hash of the line.
const PARTS: usize = 16;

impl CacheModel {
    /// Empty caches.
    #[must_use]
    pub fn new(geometries: &Geometries) -> Self {
        Self::of(geometries, Sample::ALL)
    }

    /// Empty caches for a sample of the lines; unless these are all, the caches must be fully
    /// associative.
    #[must_use]
    pub fn of(geometries: &Geometries, sample: Sample) -> Self {
        Self::make(geometries, sample, false)
    }

    /// Caches of all lines for a stretch of the run.
    pub(crate) fn of_stretch(geometries: &Geometries) -> Self {
        Self::make(geometries, Sample::ALL, true)
    }

    fn make(geometries: &Geometries, sample: Sample, stretch: bool) -> Self {
        let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
        let mut capacities = Vec::new();
        for geometry in &geometries.all {
            match geometry.ways {
                Ways::Set(ways) => {
                    let most = levels.entry(geometry.sets()).or_default();
                    *most = (*most).max(ways as usize);
                }
                Ways::Full => capacities.push(sample.capacity(geometry.lines)),
            }
        }
        capacities.sort_unstable();
        let own = capacities.clone();
        if sample != Sample::ALL {
            capacities.extend(own.iter().flat_map(|&lines| sample.around(lines)));
            capacities.sort_unstable();
        }
        capacities.dedup();
        let smallest = capacities.iter().map(|&lines| own.partition_point(|&own| own < lines));
        let sizes = smallest.chain([own.len(), own.len() + 1]).collect();
        let ways = |geometry: &Geometry| match geometry.ways {
            Ways::Set(ways) => u64::from(ways),
            Ways::Full => sample.capacity(geometry.lines),
        };
        let fewest = geometries.all.iter().map(ways).min().unwrap_or(0);
        let parts = if sample == Sample::ALL { 1 } else { PARTS };
        let full = FullyAssociative {
            groups: RecencyGroups::new(capacities.clone()),
            hits: vec![0; parts * (capacities.len() + 2)],
            capacities,
            sizes,
            first: stretch.then(Vec::new),
        };
        let full = Some(full).filter(|full| stretch || !full.capacities.is_empty());
        Self {
            lines: Lines { shift: geometries.line_shift, sample },
            accesses: 0,
            beyond: 0,
            // No line has this number, because lines have at least 4 bytes.
            last: u64::MAX,
            repeated: 0,
            fewest,
            ids: LineIds::default(),
            looks: Vec::with_capacity(BATCH),
            full,
            sets: SetForest::new(levels),
            found: Default::default(),
        }
    }

    /// Which lines are looked up.
    #[inline]
    pub(super) fn lines(&self) -> Lines {
        self.lines
    }

    /// A look-up of a line, the first one of its access unless it is `beyond`.
    #[inline]
    pub(super) fn look_up(&mut self, look: Look, beyond: bool, tally: &mut impl Tally) {
        self.accesses += look.times;
        self.beyond += if beyond { look.times } else { 0 };
        let line = look.addr >> self.lines.shift;
        if line == self.last {
            self.repeated += look.times;
            return tally.hit(look.op, look.times);
        }
        self.last = line;
        let id = self.ids.id(line);
        self.looks.push(Look { id, ..look });
        if self.looks.len() == BATCH {
            self.settle(tally);
        }
    }

    /// The caches see the look-ups that they have not seen.
    pub(super) fn settle(&mut self, tally: &mut impl Tally) {
        let (shift, looks) = (self.lines.shift, &self.looks[..]);
        let [in_full, in_sets] = &mut self.found;
        let mut sets = || {
            look_up(looks, in_sets, |look| {
                self.sets.touch(look.addr >> shift, look.id, look.times)
            });
        };
        let mut full = || {
            look_up(looks, in_full, |look| match &mut self.full {
                Some(full) => full.touch(look.addr >> shift, look.id, look.times),
                None => 0,
            });
        };
        if looks.len() < MANY {
            sets();
            full();
        } else {
            rayon::join(sets, full);
        }
        for ((look, &full), &sets) in looks.iter().zip(&*in_full).zip(&*in_sets) {
            tally.found(look, LookedUp { full, sets });
        }
        self.looks.clear();
    }

    /// Whether the latest `lines` different lines are in every cache, whichever they are.
    #[inline]
    pub(super) fn holds(&self, lines: usize) -> bool {
        lines as u64 <= self.fewest
    }

    /// Counts look-ups that hit in every cache and change nothing.
    #[inline]
    pub(super) fn hit(&mut self, times: u64, beyond: u64) {
        self.accesses += times;
        self.repeated += times;
        self.beyond += beyond;
    }

    /// Lines looked up so far, of the sample if there is one.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses
    }

    /// Lines looked up by a run with so many accesses. With a sample, most of this number is exact:
    /// each access looks up one line, and only further lines are estimated.
    pub(crate) fn looked_up(&self, accesses: u64) -> u64 {
        match self.lines.sample {
            Sample::ALL => self.accesses,
            sample => accesses.saturating_add(sample.whole(self.beyond)),
        }
    }

    /// By how many misses the estimate for one of the caches may be off, the roughly modelled
    /// caches left out: two standard errors, from how much the parts of the sample differ, and the
    /// change of the misses up to the largest and the smallest cache that the sampled lines may
    /// stand for. 0 if all lines are modelled.
    pub(crate) fn error(&self, geometries: &Geometries) -> f64 {
        let sample = self.lines.sample;
        let (Some(full), Some(rate)) = (&self.full, sample.rate()) else {
            return 0.0;
        };
        let misses = |capacity| {
            let parts = full.misses(capacity).into_iter().flatten();
            parts.map(|part| part as f64).sum::<f64>()
        };
        let fine = geometries.all.iter().filter(|at| at.lines >= sample.rough());
        let errors = fine.map(|at| {
            let capacity = sample.capacity(at.lines);
            let chance = 2.0 * full.deviation(capacity) * (1.0 - rate).sqrt();
            let [most, least] = sample.around(capacity).map(misses);
            let own = misses(capacity);
            (chance + (most - own).max(own - least)) / rate
        });
        errors.fold(0.0, f64::max)
    }

    /// What the caches of a stretch must know of what was before; `None` of other caches.
    pub(crate) fn stretch(&mut self) -> Option<Stretch> {
        let full = self.full.as_mut()?;
        let first = full.first.take()?;
        let mut lines = vec![0; full.groups.places()];
        for (line, id) in self.ids.all() {
            if let Some(place) = lines.get_mut(id as usize) {
                *place = line;
            }
        }
        Some(Stretch { first, last: full.groups.by_age().map(|id| lines[id as usize]).collect() })
    }

    /// A stretch goes on where the caches are. Counts only the look-ups that found their lines new
    /// in it.
    pub(crate) fn follow(&mut self, stretch: &Stretch) {
        let shift = self.lines.shift;
        let last = stretch.last.iter().map(|&line| (line, 0));
        for (line, times) in stretch.first.iter().copied().chain(last) {
            let look = Look { addr: line << shift, times, id: 0, op: OpId::default(), who: 0 };
            self.look_up(look, false, &mut ());
        }
        self.settle(&mut ());
    }

    /// Lines looked up for the first time, which miss in any cache. `None` unless a fully
    /// associative cache of all lines is modelled.
    #[must_use]
    pub fn cold(&self) -> Option<u64> {
        let full = self.full.as_ref().filter(|_| self.lines.sample == Sample::ALL)?;
        Some(full.groups.lines())
    }

    /// Misses of one of the configured caches, of all lines.
    ///
    /// # Panics
    /// When `geometry` is not one the model was made with.
    #[must_use]
    pub fn misses(&self, geometry: &Geometry) -> u64 {
        let touches = self.accesses - self.repeated;
        let sample = self.lines.sample;
        let misses = match geometry.ways {
            Ways::Set(ways) => self.sets.misses(geometry.sets(), ways as usize, touches),
            Ways::Full => self.full.as_ref().and_then(|full| {
                let parts = full.misses(sample.capacity(geometry.lines))?;
                Some(sample.whole(parts.fold(0, u64::saturating_add)))
            }),
        };
        misses.expect("a geometry the model was made with")
    }
}

/// Looks lines up, and notes what each finds.
fn look_up(looks: &[Look], found: &mut Vec<usize>, touch: impl FnMut(&Look) -> usize) {
    found.clear();
    found.extend(looks.iter().map(touch));
}

impl FullyAssociative {
    #[inline]
    fn touch(&mut self, line: u64, id: u32, times: u64) -> usize {
        let width = self.capacities.len() + 2;
        let smallest = self.groups.touch(id).unwrap_or_else(|| {
            let first = self.first.as_mut();
            first.into_iter().for_each(|first| first.push((line, times)));
            width - 1
        });
        let mut at = smallest;
        if self.hits.len() > width {
            // This is Fibonacci hashing. The sample is chosen by another hash.
            let part = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PARTS.ilog2());
            at += usize::try_from(part).unwrap_or(0) * width;
        }
        self.hits[at] += times;
        self.sizes[smallest]
    }

    /// The misses of a cache in each part of the sample.
    fn misses(&self, capacity: u64) -> Option<impl Iterator<Item = u64>> {
        let at = self.capacities.iter().position(|&known| known == capacity)?;
        let parts = self.hits.chunks_exact(self.capacities.len() + 2);
        Some(parts.map(move |hits| hits[at + 1..].iter().fold(0, |sum, n| n.saturating_add(sum))))
    }

    /// The standard deviation of the misses of a cache in the sample.
    fn deviation(&self, capacity: u64) -> f64 {
        let parts: Vec<f64> =
            self.misses(capacity).into_iter().flatten().map(|n| n as f64).collect();
        let n = parts.len().max(2) as f64;
        let mean = parts.iter().sum::<f64>() / n;
        let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
        (squares * n / (n - 1.0)).sqrt()
    }
}
