//! Cache misses by calling context and line, in the caches of `misses`.

use super::MISSES;
use super::costs::Costs;
use crate::cache::{Look, LookedUp, Tally};

/// Counts misses in the columns of the caches; with the line of each operation.
pub(super) struct Misses<'c>(pub(super) &'c mut Costs, pub(super) &'c [u32]);

impl Tally for Misses<'_> {
    #[inline]
    fn found(&mut self, look: &Look, found: LookedUp) {
        if found.full == 0 {
            return;
        }
        let line = self.1.get(look.op.index()).copied().unwrap_or(0);
        let columns = &mut self.0.at(look.who, line)[MISSES..];
        for cost in columns.iter_mut().take(found.full) {
            *cost = cost.saturating_add(look.times);
        }
    }
}
