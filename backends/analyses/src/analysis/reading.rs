//! Reads the contents of tasks for several analyses at once.

use anyhow::Result;
use rayon::prelude::*;
use taskgraph::{Batch, BlockCounts, FrameSpan, Mmap, Reader};

use super::{Graph, Moment, Reads, Task};

/// A task of so many spans is counted by several threads, each of which takes so many spans at a
/// time.
const LONG: usize = 32;
const AT_A_TIME: usize = 8;

/// How often some spans of a task, or parts of them, execute each block.
pub(crate) fn count_spans(task: &Task<'_>, spans: &[FrameSpan]) -> Result<BlockCounts> {
    let count = |spans: &[FrameSpan]| -> Result<BlockCounts> {
        let (mut sum, mut one) = (BlockCounts::new(), BlockCounts::new());
        for span in spans.iter().filter(|span| span.records > 0) {
            task.count_blocks_in(*span, &mut one)?;
            sum.merge(&one);
        }
        Ok(sum)
    };
    let add = |mut sum: BlockCounts, more: BlockCounts| {
        sum.merge(&more);
        Ok(sum)
    };
    let parts = spans.par_chunks(AT_A_TIME).map(count);
    parts.try_reduce(BlockCounts::new, add)
}

pub(super) struct Reading<'g> {
    reader: Reader<'g, Mmap>,
    /// Whether analyses need pieces.
    pieces: bool,
    /// How often the last task executed each block.
    pub(super) counts: BlockCounts,
}

impl<'g> Reading<'g> {
    /// Reads what any of some analyses reads, and synchronisation that is no task if that is asked
    /// for.
    pub(super) fn new(
        graph: &'g Graph,
        frames: usize,
        any: impl Fn(Reads) -> bool,
        synchronisation: bool,
    ) -> Self {
        let reader = Reader::new(graph, frames).with_nests();
        let reader = match synchronisation {
            true => reader,
            false => reader.without_synchronisation(),
        };
        Self {
            reader: match any(Reads::Pieces) {
                true => reader,
                false => reader.without_accesses(),
            },
            pieces: [Reads::Pieces, Reads::Executions].into_iter().any(&any),
            counts: BlockCounts::new(),
        }
    }

    /// Calls `each` with the batches of a task, if any analysis reads them, and counts its blocks
    /// if that is asked for.
    pub(super) fn task(
        &mut self,
        context: u32,
        (task, counted): (&Task<'g>, bool),
        mut each: impl FnMut(Moment, &Batch<'g>) -> Result<()>,
    ) -> Result<()> {
        self.counts.clear();
        if !(self.pieces || counted) || task.spans().is_empty() {
            return Ok(());
        }
        if !self.pieces {
            if task.spans().len() < LONG {
                self.reader.count_blocks(task, &mut self.counts)?;
            } else {
                self.counts = count_spans(task, task.spans())?;
            }
            return Ok(());
        }
        let mut first = Moment::first(context, task);
        self.reader.open(task);
        while let Some(batch) = self.reader.next()? {
            each(first, batch)?;
            for piece in batch.pieces() {
                first = first.later(piece.actions());
                if counted {
                    self.counts.add_piece(&piece);
                }
            }
        }
        Ok(())
    }
}
