//! Reads the contents of tasks for several analyses at once.

use anyhow::Result;
use taskgraph::{Batch, BlockCounts, Mmap, Reader};

use super::{Graph, Moment, Reads, Task};

pub(super) struct Reading<'g> {
    reader: Reader<'g, Mmap>,
    /// Whether analyses need pieces, or counts.
    pieces: bool,
    counted: bool,
    /// How often the last task executed each block.
    pub(super) counts: BlockCounts,
}

impl<'g> Reading<'g> {
    /// Reads what any of some analyses reads, and synchronisation that is no task if that is asked for.
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
            counted: any(Reads::Counts),
            counts: BlockCounts::new(),
        }
    }

    /// Calls `each` with the batches of a task, if any analysis reads them, and counts its blocks.
    pub(super) fn task(
        &mut self,
        context: u32,
        task: &Task<'g>,
        mut each: impl FnMut(Moment, &Batch<'g>) -> Result<()>,
    ) -> Result<()> {
        if !self.pieces && !self.counted {
            return Ok(());
        }
        self.counts.clear();
        if task.spans().is_empty() {
            return Ok(());
        }
        if !self.pieces {
            self.reader.count_blocks(task, &mut self.counts)?;
            return Ok(());
        }
        let mut first = Moment::first(context, task);
        self.reader.open(task);
        while let Some(batch) = self.reader.next()? {
            each(first, batch)?;
            for piece in batch.pieces() {
                first = first.later(piece.actions());
                if self.counted {
                    self.counts.add_piece(&piece);
                }
            }
        }
        Ok(())
    }
}
