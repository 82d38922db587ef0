//! Goes through tasks and reads them: those of a context that follow one another may come as one.

use anyhow::Result;
use taskgraph::{Batch, BlockCounts, ContextId, Mmap, Piece, Reader, Series, Walk};

use super::{Graph, InSeries, Moment, Reads, Task};

/// Takes what tasks do, in a pass by time.
pub(super) trait Takes {
    /// Which tasks may come as one.
    fn series(&self) -> InSeries;
    /// Up to when tasks of the context at this position may come as one with this one, ns; 0 if each is wanted.
    fn series_until(&mut self, context: u32, task: &Task<'_>) -> u64;
    /// A piece of a context's actions.
    ///
    /// # Errors
    /// What makes going on useless.
    fn piece(&mut self, at: &Moment, piece: &Piece<'_>) -> Result<()>;
    /// The context at this position has no more actions.
    fn context_ended(&mut self, context: (u32, ContextId));
}

/// Goes through tasks, of which some come as one.
pub(super) struct Tasks<'g> {
    walk: Walk<'g, Mmap>,
    /// The first of those that come as one.
    first: Option<Task<'g>>,
    /// Which may come as one.
    series: InSeries,
}

impl<'g> Tasks<'g> {
    pub(super) fn of(walk: Walk<'g, Mmap>, series: InSeries) -> Self {
        Self {
            walk,
            first: None,
            series,
        }
    }

    /// The next task, with those that come as one with it: `until` says up to when.
    pub(super) fn next(
        &mut self,
        until: impl FnOnce(&Task<'g>) -> u64,
    ) -> Result<Option<(&Task<'g>, Series)>> {
        let until = match (self.walk.next()?, self.series) {
            (Some(_), InSeries::None) => 0,
            (Some(task), _) => until(task),
            (None, _) => return Ok(None),
        };
        if until == 0 {
            let task = self.walk.last();
            return Ok(task.map(|task| (task, Series::of(task))));
        }
        match (&mut self.first, self.walk.last()) {
            (Some(first), Some(task)) => first.clone_from(task),
            (first, task) => *first = task.cloned(),
        }
        let series = self.walk.follow(until, self.series == InSeries::All);
        Ok(self.first.as_ref().zip(series))
    }
}

/// Reads the contents of tasks.
pub(super) struct Reading<'g> {
    reader: Reader<'g, Mmap>,
    /// Whether analyses need pieces, or counts.
    pieces: bool,
    counted: bool,
    /// How often the last task executed each block.
    pub(super) counts: BlockCounts,
}

impl<'g> Reading<'g> {
    /// Reads what any of some analyses reads.
    pub(super) fn new(graph: &'g Graph, frames: usize, any: impl Fn(Reads) -> bool) -> Self {
        let reader = Reader::new(graph, frames).with_nests();
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

    /// Calls `each` with the batches of tasks that come as one, if any analysis reads them. Counts the blocks of a task
    /// that comes alone.
    pub(super) fn task(
        &mut self,
        context: u32,
        task: &Task<'g>,
        series: &Series,
        mut each: impl FnMut(Moment, &Batch<'g>) -> Result<()>,
    ) -> Result<()> {
        if !self.pieces && !self.counted {
            return Ok(());
        }
        self.counts.clear();
        if task.spans().is_empty() && (series.tasks == 1 || series.actions == 0) {
            return Ok(());
        }
        if !self.pieces {
            self.reader.count_blocks(task, &mut self.counts)?;
            return Ok(());
        }
        let mut first = Moment::first_of(context, task, series);
        self.reader.open_series(task, series);
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
