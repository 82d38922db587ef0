//! How often a task executes each block: by path where that is enough, never operand by operand.

use crate::batch::Piece;
use crate::error::Result;
use crate::frame::Tallied;
use crate::graph::TaskGraph;
use crate::id::BlockId;
use crate::task::Task;

/// Executions of each block; keeps its memory from one task to the next.
#[derive(Debug, Default)]
pub struct BlockCounts {
    /// By block, and those that are not 0.
    counts: Vec<u64>,
    touched: Vec<BlockId>,
    tallied: Tallied,
}

impl BlockCounts {
    /// Nothing counted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The blocks executed and how often, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, u64)> + '_ {
        let count = |block: &BlockId| (*block, self.counts[block.index()]);
        self.touched.iter().map(count)
    }

    fn add(counts: &mut Vec<u64>, touched: &mut Vec<BlockId>, block: BlockId, times: u64) {
        if counts.len() <= block.index() {
            counts.resize(block.index() + 1, 0);
        }
        let count = &mut counts[block.index()];
        if *count == 0 && times > 0 {
            touched.push(block);
        }
        *count = count.saturating_add(times);
    }

    /// Adds the executions of a piece.
    pub fn add_piece(&mut self, piece: &Piece<'_>) {
        let (counts, touched) = (&mut self.counts, &mut self.touched);
        piece.for_each_times(|block, times| Self::add(counts, touched, block, times));
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        for block in self.touched.drain(..) {
            self.counts[block.index()] = 0;
        }
    }
}

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// Counts the executions of each block, in place of what was counted before.
    ///
    /// # Errors
    /// A damaged frame.
    pub fn count_blocks(&self, counts: &mut BlockCounts) -> Result<()> {
        counts.clear();
        let graph: &TaskGraph<D> = self.graph;
        let BlockCounts {
            counts,
            touched,
            tallied,
        } = counts;
        let mut add = |block, times| BlockCounts::add(counts, touched, block, times);
        tallied.begin(self.block_count());
        for span in self.spans() {
            let (frame, range) = graph.in_file(graph.frame(span))?;
            let score = graph.in_file(graph.score())?;
            graph.in_file(tallied.records(score, &frame, range, &mut add))?;
            graph.recycle(frame);
        }
        let score = graph.in_file(graph.score())?;
        tallied.paths(score, &mut add);
        Ok(())
    }
}
