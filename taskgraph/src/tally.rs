//! How often a task executes each block: by path where that is enough, never operand by operand.

use crate::batch::Piece;
use crate::id::BlockId;

/// Executions of each block; keeps its memory from one task to the next.
#[derive(Debug, Default)]
pub struct BlockCounts {
    /// By block, and those that are not 0.
    counts: Vec<u64>,
    touched: Vec<BlockId>,
}

impl BlockCounts {
    /// Nothing counted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The blocks executed and how often, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, u64)> + Clone + '_ {
        let count = |block: &BlockId| (*block, self.counts[block.index()]);
        self.touched.iter().map(count)
    }

    /// Adds executions of a block.
    #[inline]
    pub fn add(&mut self, block: BlockId, times: u64) {
        if self.counts.len() <= block.index() {
            self.counts.resize(block.index() + 1, 0);
        }
        let count = &mut self.counts[block.index()];
        if *count == 0 && times > 0 {
            self.touched.push(block);
        }
        *count = count.saturating_add(times);
    }

    /// Adds the executions of a piece.
    pub fn add_piece(&mut self, piece: &Piece<'_>) {
        piece.for_each_times(|block, times| self.add(block, times));
    }

    /// Adds all counts of another.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(block, times)| self.add(block, times));
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        for block in self.touched.drain(..) {
            self.counts[block.index()] = 0;
        }
    }
}
