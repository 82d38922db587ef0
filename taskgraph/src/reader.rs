//! Reads tasks batch by batch.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use crate::batch::{Batch, Piece};
use crate::error::Result;
use crate::frame::{DecodedFrame, Emission, Emitter, count};
use crate::graph::TaskGraph;
use crate::id::ContextId;
use crate::op::Access;
use crate::record::FrameSpan;
use crate::tally::BlockCounts;
use crate::task::Task;

/// Reads tasks batch by batch, and keeps decoded frames and memory from one task to the next.
#[derive(Debug)]
pub struct Reader<'g, D> {
    graph: &'g TaskGraph<D>,
    /// The frames that were read last, with their places. A frame's index is its context modulo the number of frames.
    recent: Vec<Option<(u64, Arc<DecodedFrame>)>>,
    at: usize,
    /// The task being read, its next span, and whether the emitter is in the span before.
    task: Option<Task<'g, D>>,
    span: usize,
    inside: bool,
    /// Only executions are wanted, no accesses.
    counting: bool,
    /// What the tasks of a context need, by the same index.
    emissions: Vec<Option<(ContextId, Emission<'g>)>>,
    emitter: Box<Emitter>,
}

impl<'g, D: AsRef<[u8]>> Reader<'g, D> {
    /// A reader that keeps `frames` frames, for as many contexts whose tasks alternate. It keeps at least one.
    #[must_use]
    pub fn new(graph: &'g TaskGraph<D>, frames: usize) -> Self {
        Self::with(graph, frames, Box::default())
    }

    fn with(graph: &'g TaskGraph<D>, frames: usize, emitter: Box<Emitter>) -> Self {
        let mut recent = Vec::new();
        recent.resize_with(frames.max(1), || None);
        Self {
            graph,
            recent,
            at: 0,
            task: None,
            span: 0,
            inside: false,
            counting: false,
            emissions: vec![None; frames.max(1)],
            emitter,
        }
    }

    /// Goes to the start of a task.
    pub fn open(&mut self, task: &Task<'g, D>) {
        self.at = task.id().context.index() % self.recent.len();
        (self.span, self.inside) = (0, false);
        self.emitter.begin(task.block_count());
        self.task = Some(task.clone());
    }

    /// Replaces the contents of `batch` by what comes next. Returns false when the task is over.
    ///
    /// # Errors
    /// The frame is damaged; the batch has what comes before.
    pub fn next(&mut self, batch: &mut Batch<'g>) -> Result<bool> {
        batch.clear();
        let read = self.fill(batch);
        batch.close();
        self.graph.in_file(read)?;
        Ok(!batch.is_empty())
    }

    fn fill(&mut self, batch: &mut Batch<'g>) -> Result<()> {
        let Some(task) = &self.task else {
            return Ok(());
        };
        let context = task.id().context;
        let known = &mut self.emissions[self.at];
        let e = match *known {
            Some((known, e)) if known == context => e,
            _ => {
                let mut e = self.graph.emission(context)?;
                e.counting = self.counting;
                known.insert((context, e)).1
            }
        };
        batch.source = Some(e);
        while let Some(task) = &self.task {
            if !self.inside {
                let Some(span) = task.spans().get(self.span).copied() else {
                    self.task = None;
                    break;
                };
                self.span += 1;
                self.enter(&span)?;
            }
            let Some((_, frame)) = &self.recent[self.at] else {
                break;
            };
            self.inside = self.emitter.fill(e, frame, batch)?;
            if batch.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn enter(&mut self, span: &FrameSpan) -> Result<()> {
        let range = self.hold(span)?;
        if let Some((_, frame)) = &self.recent[self.at] {
            self.emitter.start(frame, range);
            self.inside = true;
        }
        Ok(())
    }

    /// Gets the frame of a span; returns the records of the span.
    fn hold(&mut self, span: &FrameSpan) -> Result<Range<usize>> {
        let place = &mut self.recent[self.at];
        if let Some((at, frame)) = place
            && *at == span.frame.0
        {
            return TaskGraph::<D>::records(frame, span);
        }
        if let Some((_, old)) = place.take() {
            self.graph.recycle(old);
        }
        let (frame, range) = self.graph.frame(span)?;
        // A part of a frame serves no other span.
        let is_whole = frame.len() == frame.whole();
        let at = if is_whole { span.frame.0 } else { u64::MAX };
        *place = Some((at, frame));
        Ok(range)
    }

    /// [`Task::count_blocks`], with the frames that the reader keeps.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_blocks(&mut self, task: &Task<'g, D>, counts: &mut BlockCounts) -> Result<()> {
        counts.clear();
        // A short task is mostly the work to get at its records.
        if let [span] = task.spans() {
            self.at = task.id().context.index() % self.recent.len();
            let counted = self.count_records(span, counts);
            if self.graph.in_file(counted)? {
                return Ok(());
            }
            counts.clear();
        }
        task.batches(true, |batch| {
            batch.pieces().for_each(|piece| counts.add_piece(&piece));
        })
    }

    /// Counts the executions of blocks in a span, if they do not depend on the values of its records. Returns false
    /// if they do.
    fn count_records(&mut self, span: &FrameSpan, counts: &mut BlockCounts) -> Result<bool> {
        let how = (self.graph.templates()?, self.graph.score()?);
        let records = self.hold(span)?;
        let Some((_, frame)) = &self.recent[self.at] else {
            return Ok(false);
        };
        count(frame, records, how, |block, times| {
            counts.add(block, times);
        })
    }
}

thread_local! {
    /// Memory that is not in use.
    static SPARE: Cell<Option<(Box<Emitter>, Batch<'static>)>> = const { Cell::new(None) };
}

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// Calls `f` with what the task does in program order, some thousand accesses at a time.
    ///
    /// ```
    /// # use taskgraph::MemOp;
    /// use taskgraph::Piece;
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let body = b.block("main", "main.c", 3, &[MemOp::load(8)]);
    /// # let main = b.context("main");
    /// # b.work(main, 0, 100, |w| (0..100_000).for_each(|i| w.block(body, &[0x1000 + 8 * i])));
    /// # let graph = b.build()?;
    /// # let task = graph.task("0:0".parse().unwrap())?;
    /// let mut lines = 0;
    /// task.for_each_batch(|batch| {
    ///     for piece in batch.pieces() {
    ///         if let Piece::Blocks(blocks) = piece {
    ///             let addresses = blocks.accesses().addresses();
    ///             lines += addresses.iter().filter(|a| *a % 64 == 0).count();
    ///         }
    ///     }
    /// })?;
    /// assert_eq!(lines, 12_500);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    ///
    /// # Errors
    /// A damaged frame; `f` has then seen what comes before it.
    pub fn for_each_batch(&self, f: impl FnMut(&Batch<'_>)) -> Result<()> {
        self.batches(false, f)
    }

    /// Calls `f` with what the task does; with `counting`, executions are without accesses.
    fn batches(&self, counting: bool, mut f: impl FnMut(&Batch<'_>)) -> Result<()> {
        let (emitter, batch) = SPARE.take().unwrap_or_default();
        let (mut reader, mut batch) = (Reader::with(self.graph, 1, emitter), batch.emptied());
        reader.counting = counting;
        reader.open(self);
        let done = loop {
            let more = reader.next(&mut batch);
            if !batch.is_empty() {
                f(&batch);
            }
            match more {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        if let Some((_, frame)) = reader.recent[0].take() {
            self.graph.recycle(frame);
        }
        SPARE.set(Some((reader.emitter, batch.emptied())));
        done
    }

    /// Counts the executions of each block, in place of what was counted before.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_blocks(&self, counts: &mut BlockCounts) -> Result<()> {
        let (emitter, batch) = SPARE.take().unwrap_or_default();
        let mut reader = Reader::with(self.graph, 1, emitter);
        let counted = reader.count_blocks(self, counts);
        if let Some((_, frame)) = reader.recent[0].take() {
            self.graph.recycle(frame);
        }
        SPARE.set(Some((reader.emitter, batch)));
        counted
    }

    /// Calls `f` for each memory access in program order.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn for_each_access(&self, mut f: impl FnMut(Access)) -> Result<()> {
        self.for_each_batch(|batch| {
            for piece in batch.pieces() {
                match piece {
                    Piece::Blocks(blocks) => blocks.accesses().iter().for_each(&mut f),
                    Piece::Run(run) => run.for_each_access(&mut f),
                    Piece::Nest(_) | Piece::Action(_) => {}
                }
            }
        })
    }
}
