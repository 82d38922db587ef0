//! Cache misses by calling context and line, in the caches of `misses`.

use std::ops::Range;

use taskgraph::{Access, Piece};

use super::costs::Costs;
use crate::cache::{CacheModel, Geometries, LineSink, Lines, LookUps, Sample};

/// The caches, and whose misses are counted.
#[derive(Debug)]
pub(super) struct Caches {
    look_ups: LookUps,
    model: CacheModel,
    sizes: usize,
}

/// The caches while one node of the tree accesses memory.
struct Sink<'c> {
    model: &'c mut CacheModel,
    sizes: usize,
    costs: &'c mut Costs,
    lines: &'c [u32],
    /// The column of the first cache.
    first: usize,
    node: u32,
}

impl Caches {
    /// Empty caches; all are fully associative.
    pub(super) fn new(geometries: &Geometries) -> Self {
        let lines = Lines {
            shift: geometries.line_shift,
            sample: Sample::ALL,
        };
        Self {
            look_ups: LookUps::new(lines),
            model: CacheModel::of(geometries, Sample::ALL),
            sizes: geometries.all.len(),
        }
    }

    /// A node of the tree makes the accesses of a piece; `lines` has the line of each operation. Repetitions are counted
    /// at once, because the next piece may be another node's.
    pub(super) fn piece(
        &mut self,
        node: u32,
        piece: &Piece<'_>,
        costs: &mut Costs,
        first: usize,
        lines: &[u32],
    ) {
        let mut sink = Sink {
            model: &mut self.model,
            sizes: self.sizes,
            costs,
            lines,
            first,
            node,
        };
        self.look_ups.piece(piece, &mut sink);
        self.look_ups.flush(&mut sink);
    }
}

impl Sink<'_> {
    /// Counts misses of all caches smaller than the one with this number.
    #[inline]
    fn missed(&mut self, access: &Access, smallest: usize, times: u64) {
        let line = self.lines.get(access.op.index()).copied().unwrap_or(0);
        let costs = self.costs.at(self.node, line);
        for cost in &mut costs[self.first..self.first + smallest.min(self.sizes)] {
            *cost = cost.saturating_add(times);
        }
    }
}

impl LineSink for Sink<'_> {
    fn most(&self) -> u64 {
        self.model.most()
    }

    fn pass(&mut self, lines: Range<u64>, access: &Access, times: u64) {
        let count = lines.end - lines.start;
        self.missed(access, self.sizes, count.saturating_mul(times));
        self.model.pass(lines, access, times);
    }

    #[inline]
    fn look_up(&mut self, line: u64, access: &Access, times: u64) {
        let found = self.model.touch(line, access, times);
        if found.full > 0 {
            self.missed(access, found.full, times);
        }
    }

    #[inline]
    fn holds(&self, lines: usize) -> bool {
        self.model.holds(lines)
    }

    #[inline]
    fn hit(&mut self, _: &Access, times: u64, beyond: u64) {
        self.model.hit(times, beyond);
    }
}
