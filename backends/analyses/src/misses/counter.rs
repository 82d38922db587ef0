//! Counts of look-ups by instruction and by allocation site, by the smallest cache that hit.

use std::sync::Arc;

use taskgraph::{Action, OpId, Piece, StaticInfo};

use crate::cache::{
    CacheModel, Geometries, Geometry, Look, LookUps, LookedUp, Sample, Tally, Ways,
};
use crate::heap::{Allocation, Calls, Heap, Origin, Sites, Span};

/// A processor fetches a line ahead if it is at most this many lines from the one that the
/// instruction missed before.
const NEAR: u64 = 32;

/// The state of the analysis.
#[derive(Debug)]
pub struct Counter {
    look_ups: LookUps,
    counts: Counts,
    calls: Calls,
    info: Arc<StaticInfo>,
}

/// What is counted.
#[derive(Debug)]
struct Counts {
    line_shift: u32,
    sample: Sample,
    /// The smallest cache that counts, by what fully associative caches find; empty if sets tell.
    by_full: Vec<usize>,
    /// Counters per instruction or site: one per cache, one for lines that no cache holds any more,
    /// and one for lines that are new.
    width: usize,
    /// Look-ups by instruction, then by the smallest cache that hit.
    by_op: Vec<u64>,
    /// The part of `by_op` that no processor fetches ahead, see [`Lookups::far`].
    far: Vec<u64>,
    /// By instruction: the line that it missed last.
    last_missed: Vec<u64>,
    /// [`NEAR`] for neighbours among the lines of the sample, which are farther apart.
    near: u64,
    /// The same by site, hits in the smallest cache left out.
    by_site: Vec<u64>,
    /// The same for memory that no allocation holds.
    unowned: Vec<u64>,
    heap: Heap,
    sites: Sites,
    /// By instruction: where its last look-up found its memory, and the version of the heap then.
    hints: Vec<(Span, u64)>,
}

impl Counter {
    /// Empty caches and counts for the program's instructions; all geometries have the same ways and are
    /// sorted by size. With a sample of the lines they are full. `others` are modelled, too, and do
    /// not count.
    pub(super) fn new(
        geometries: &Geometries,
        others: &[Geometry],
        sample: Sample,
        info: Arc<StaticInfo>,
    ) -> Self {
        let ops = info.ops.len();
        let own = &geometries.all;
        let width = own.len() + 2;
        let mut all = geometries.clone();
        let others = others.iter().filter(|other| !own.contains(other));
        all.all.extend(others);
        let is_full = |at: &&Geometry| at.ways == Ways::Full;
        let mut full: Vec<u64> = all.all.iter().filter(is_full).map(|at| at.size).collect();
        full.sort_unstable();
        let smallest = |size: &u64| own.partition_point(|at| at.size < *size);
        let by_full = full.iter().map(smallest).chain([own.len(), own.len() + 1]);
        let by_full = by_full.filter(|_| own.iter().all(|at| at.ways == Ways::Full));
        Self {
            look_ups: LookUps::new(CacheModel::of(&all, sample)),
            counts: Counts {
                line_shift: geometries.line_shift,
                sample,
                by_full: by_full.collect(),
                width,
                by_op: vec![0; ops * width],
                far: vec![0; ops * width],
                last_missed: vec![0; ops],
                near: sample.whole(NEAR),
                by_site: Vec::new(),
                unowned: vec![0; width],
                heap: Heap::default(),
                sites: Sites::default(),
                hints: vec![(Span::default(), 0); ops],
            },
            calls: Calls::default(),
            info,
        }
    }

    /// Takes in a piece of what the context at this position does.
    pub(super) fn piece(&mut self, context: u32, piece: &Piece<'_>) {
        match piece {
            Piece::Action(action) => {
                self.look_ups.flush(&mut self.counts);
                let origin = || self.calls.origin(&self.info, context, 0);
                self.counts.action(origin, action);
            }
            _ => self.look_ups.piece(piece, 0, &mut self.counts),
        }
        self.calls.note(&self.info, context, piece);
    }

    /// Counts what was put off; call it after the last piece.
    pub(super) fn seal(&mut self) {
        self.look_ups.flush(&mut self.counts);
    }

    /// The caches.
    pub(crate) fn model(&self) -> &CacheModel {
        &self.look_ups.model
    }

    /// Look-ups of each instruction.
    pub(super) fn instructions(&self) -> impl Iterator<Item = Lookups> + '_ {
        let all = self.counts.rows(&self.counts.by_op);
        let far = self.counts.rows(&self.counts.far);
        all.zip(far).map(|(counts, far)| Lookups { far: far.misses, ..counts })
    }

    /// Misses of the smallest cache by site, then of memory no allocation holds.
    pub(super) fn memory(&self) -> (impl Iterator<Item = Lookups> + '_, Lookups) {
        let mut unowned = self.counts.rows(&self.counts.unowned);
        let unowned = unowned.next().unwrap_or_default();
        (self.counts.rows(&self.counts.by_site), unowned)
    }

    /// The allocation sites.
    pub(super) fn sites(&self) -> &Sites {
        &self.counts.sites
    }
}

impl Tally for Counts {
    #[inline]
    fn hit(&mut self, op: OpId, times: u64) {
        if let Some(count) = self.by_op.get_mut(op.index() * self.width) {
            *count += times;
        }
    }

    #[inline]
    fn found(&mut self, look: &Look, found: LookedUp) {
        let smallest = self.by_full.get(found.full).copied();
        let smallest = smallest.unwrap_or_else(|| found.sets.min(self.width - 2));
        let (op, times) = (look.op.index(), look.times);
        if let Some(count) = self.by_op.get_mut(op * self.width + smallest) {
            *count += times;
        }
        if smallest > 0 {
            let line = look.addr >> self.line_shift;
            if let Some(last) = self.last_missed.get_mut(op) {
                let apart = line.abs_diff(std::mem::replace(last, line));
                let near = (1..=self.near).contains(&apart);
                if !near && smallest < self.width - 1 {
                    self.far[op * self.width + smallest] += times;
                }
            }
            self.missed(look, smallest);
        }
    }
}

impl Counts {
    /// Counts of all lines.
    fn rows<'t>(&'t self, counts: &'t [u64]) -> impl Iterator<Item = Lookups> + 't {
        let sample = self.sample;
        let rows = counts.chunks_exact(self.width);
        rows.map(move |counts| Lookups::of(counts, sample))
    }

    /// Anything but an execution; an allocation has an origin.
    fn action(&mut self, origin: impl FnOnce() -> Origin, action: &Action<'_>) {
        match *action {
            Action::Alloc { addr, size, .. } => {
                let site = self.sites.allocated(origin(), size);
                self.by_site.resize(self.sites.len() * self.width, 0);
                self.heap.allocate(Allocation { start: addr, size, site, tag: 0 });
            }
            Action::Free { addr } => _ = self.heap.free(addr),
            _ => {}
        }
    }

    /// The smallest cache missed.
    #[inline]
    fn missed(&mut self, look: &Look, smallest: usize) {
        let Some((span, version)) = self.hints.get_mut(look.op.index()) else {
            return;
        };
        if *version != self.heap.version() || !(span.start..span.end).contains(&look.addr) {
            (*span, *version) = (self.heap.find(look.addr), self.heap.version());
        }
        match span.site {
            Some(site) => self.by_site[site as usize * self.width + smallest] += look.times,
            None => self.unowned[smallest] += look.times,
        }
    }
}

/// Look-ups of something, and how many of them missed in each cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lookups {
    /// Lines looked up.
    pub(super) accesses: u64,
    /// Lines not found, by cache in ascending size.
    pub(super) misses: Vec<u64>,
    /// The part of the misses, by cache, of lines that were looked up before and are not near the
    /// line that the same instruction missed before; only for instructions.
    pub(super) far: Vec<u64>,
    /// Lines looked up for the first time. Only fully associative caches tell.
    pub(super) first: u64,
}

impl Lookups {
    fn of(counts: &[u64], sample: Sample) -> Self {
        let accesses: u64 = counts.iter().sum();
        let mut left = accesses;
        let misses = counts[..counts.len() - 2].iter().map(|hits| {
            left -= hits;
            sample.whole(left)
        });
        Self {
            accesses: sample.whole(accesses),
            misses: misses.collect(),
            far: Vec::new(),
            first: sample.whole(counts.last().copied().unwrap_or(0)),
        }
    }

    /// Adds those of something else.
    pub(super) fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.first += other.first;
        for (sums, more) in [(&mut self.misses, &other.misses), (&mut self.far, &other.far)] {
            sums.resize(more.len(), 0);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
}
