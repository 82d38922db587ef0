//! Cache misses by calling context and line, in the caches of `misses`.

use std::ops::Range;

use super::MISSES;
use super::costs::Costs;
use crate::cache::{FoundAt, Look, Tally};

/// Counts misses in the columns of the caches; with the line of each operation.
pub(super) struct Misses<'c>(pub(super) &'c mut Costs, pub(super) &'c [u32]);

impl Misses<'_> {
    /// Misses of so many of the smallest caches.
    #[inline]
    fn missed(&mut self, look: &Look, caches: usize, times: u64) {
        let line = self.1.get(look.op.index()).copied().unwrap_or(0);
        let columns = &mut self.0.at(look.who, line)[MISSES..];
        for cost in columns.iter_mut().take(caches) {
            *cost = cost.saturating_add(times);
        }
    }
}

impl Tally for Misses<'_> {
    #[inline]
    fn found(&mut self, look: &Look, found: FoundAt) {
        if found.full > 0 {
            self.missed(look, found.full, look.times);
        }
    }

    fn passed(&mut self, lines: Range<u64>, look: &Look) {
        let count = lines.end - lines.start;
        self.missed(look, usize::MAX, count.saturating_mul(look.times));
    }
}
