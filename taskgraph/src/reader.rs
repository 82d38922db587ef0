//! Reads tasks batch by batch.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::action::Action;
use crate::batch::{Batch, Piece};
use crate::error::Result;
use crate::frame::{Counting, DecodedFrame, Emission, Emitter, Nests, Other};
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
    /// By context modulo their number.
    places: Vec<Place<'g>>,
    at: usize,
    /// The task that is being read, or was read last, and the spans of its page that are still to
    /// be read.
    task: Option<Task<'g, D>>,
    spans: Range<usize>,
    inside: Inside,
    /// Only executions are wanted, no accesses.
    counting: bool,
    /// Synchronisation that is no task is left out.
    silent: bool,
    /// Nests whose blocks have operands come as one.
    nests: bool,
    emitter: Emitter,
}

/// How far a task is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Begin,
    /// Before the next span.
    Between,
    /// The emitter is in the span before.
    Span,
    End,
}

/// What is kept of a context.
#[derive(Debug, Default)]
struct Place<'g> {
    /// The frame that was read last, with its place.
    frame: Option<(u64, Arc<DecodedFrame>)>,
    /// What the tasks of the context need.
    emission: Option<(ContextId, Emission<'g>)>,
    batch: Batch<'g>,
}

impl<'g, D: AsRef<[u8]>> Reader<'g, D> {
    /// A reader that keeps `frames` frames, for as many contexts whose tasks alternate. It keeps at
    /// least one.
    #[must_use]
    pub fn new(graph: &'g TaskGraph<D>, frames: usize) -> Self {
        let mut places = Vec::new();
        places.resize_with(frames.max(1), Place::default);
        Self {
            graph,
            places,
            at: 0,
            task: None,
            spans: 0..0,
            inside: Inside::End,
            counting: false,
            silent: false,
            nests: false,
            emitter: Emitter::default(),
        }
    }

    /// The same, but executions of blocks are without their accesses.
    #[must_use]
    pub fn without_accesses(mut self) -> Self {
        self.counting = true;
        self
    }

    /// The same, but without synchronisation that is no task
    /// ([`Action::Sync`](crate::Action::Sync)). So executions on both sides of it come as one
    /// piece, and pieces are of fewer actions than the task has.
    #[must_use]
    pub fn without_synchronisation(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The same, but loops in loops come as one piece ([`Piece::Nest`]) even if their blocks access
    /// memory, where that is enough to know the accesses.
    #[must_use]
    pub fn with_nests(mut self) -> Self {
        self.nests = true;
        self
    }

    /// Goes to the start of a task.
    pub fn open(&mut self, task: &Task<'g, D>) {
        self.go_to(task, task.places_of_spans());
    }

    /// Goes to a part of a task: only these of its [`Task::spans`] are read.
    pub fn open_spans(&mut self, task: &Task<'g, D>, spans: Range<usize>) {
        let all = task.places_of_spans();
        let at = |place: usize| all.end.min(all.start.saturating_add(place));
        self.go_to(task, at(spans.start)..at(spans.end));
    }

    fn go_to(&mut self, task: &Task<'g, D>, spans: Range<usize>) {
        self.at = task.id().context.index() % self.places.len();
        match &mut self.task {
            Some(own) => own.clone_from(task),
            None => self.task = Some(task.clone()),
        }
        self.inside = match spans.is_empty() {
            true => Inside::End,
            false => Inside::Begin,
        };
        self.spans = spans;
        self.places[self.at].batch.clear();
    }

    /// What was read last.
    #[must_use]
    #[inline]
    pub fn batch(&self) -> &Batch<'g> {
        &self.places[self.at].batch
    }

    /// Reads what comes next; `None` when the task is over.
    ///
    /// # Errors
    /// The frame is damaged; [`Reader::batch`] has what comes before.
    #[allow(clippy::should_implement_trait, reason = "it lends, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<&Batch<'g>>> {
        self.places[self.at].batch.clear();
        if self.inside != Inside::End {
            let read = self.fill();
            self.graph.in_file(read)?;
        }
        Ok(Some(self.batch()).filter(|batch| !batch.is_empty()))
    }

    /// Fills the empty batch.
    fn fill(&mut self) -> Result<()> {
        let Some(task) = &self.task else {
            return Ok(());
        };
        let context = task.id().context;
        let known = &mut self.places[self.at].emission;
        let e = match *known {
            Some((known, e)) if known == context => e,
            _ => {
                let mut e = self.graph.emission(context)?;
                (e.counting, e.silent) = (self.counting, self.silent);
                known.insert((context, e)).1
            }
        };
        self.places[self.at].batch.source = Some(e);
        let read = self.go_on(e);
        self.places[self.at].batch.close();
        self.flush(e);
        read
    }

    /// Reads the task until it is over or the batch is full.
    fn go_on(&mut self, e: Emission<'g>) -> Result<()> {
        // The nests that come as one.
        let nests = match (self.counting, self.nests) {
            (true, _) => Nests::Counted,
            (false, true) => Nests::Moving,
            (false, false) => Nests::Bare,
        };
        while let Some(task) = &self.task {
            if self.inside == Inside::Begin {
                self.emitter.begin(task.block_count(), nests);
            }
            if self.inside != Inside::Span {
                let Some(span) = next_span(task, &mut self.spans) else {
                    self.inside = Inside::End;
                    break;
                };
                self.flush(e);
                let records = self.hold(&span)?;
                if let Some((_, frame)) = &self.places[self.at].frame {
                    self.emitter.start(frame, records);
                }
            }
            let place = &mut self.places[self.at];
            let Some((_, frame)) = &place.frame else {
                break;
            };
            self.inside = match self.emitter.fill(e, frame, &mut place.batch)? {
                true => Inside::Span,
                false => Inside::Between,
            };
            if place.batch.is_full() {
                break;
            }
        }
        Ok(())
    }

    /// Writes the accesses of the records so far.
    fn flush(&mut self, e: Emission<'g>) {
        let place = &mut self.places[self.at];
        if let Some((_, frame)) = &place.frame {
            self.emitter.flush(e, frame, &mut place.batch);
        }
    }

    /// Gets the frame of a span; returns the records of the span.
    fn hold(&mut self, span: &FrameSpan) -> Result<Range<usize>> {
        let place = &mut self.places[self.at].frame;
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

    /// [`Task::count_blocks`], with the frames that the reader keeps. Nothing more is read of a task
    /// that was opened before.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_blocks(&mut self, task: &Task<'g, D>, counts: &mut BlockCounts) -> Result<()> {
        counts.clear();
        self.at = task.id().context.index() % self.places.len();
        for span in task.spans() {
            self.count_in(task, span, counts, None)?;
        }
        Ok(())
    }

    /// Adds the executions of blocks in a part of a task. Calls `other` with each action that
    /// executes none.
    fn count_in(
        &mut self,
        task: &Task<'g, D>,
        part: &FrameSpan,
        counts: &mut BlockCounts,
        other: Option<Other<'_>>,
    ) -> Result<()> {
        let graph = self.graph;
        self.inside = Inside::End;
        let e = graph.emission(task.id().context)?;
        let how = Counting { e, blocks: task.block_count() };
        let counted = self.hold(part).and_then(|records| {
            let frame = self.places[self.at].frame.as_ref();
            let emitter = &mut self.emitter;
            frame.map_or(Ok(()), |(_, frame)| how.add(frame, records, counts, other, emitter))
        });
        graph.in_file(counted)
    }
}

/// The next span, with those that go on where it ends.
fn next_span<D: AsRef<[u8]>>(task: &Task<'_, D>, spans: &mut Range<usize>) -> Option<FrameSpan> {
    let mut span = *task.span_at(spans.next()?)?;
    while spans.start < spans.end
        && let Some(next) = task.span_at(spans.start)
        && span.join(next)
    {
        spans.start += 1;
    }
    Some(span)
}

impl<D> Drop for Reader<'_, D> {
    fn drop(&mut self) {
        for (_, frame) in self.places.iter_mut().filter_map(|place| place.frame.take()) {
            self.graph.recycle(frame);
        }
    }
}

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// Counts the executions of blocks in some records of one of the task's [`Task::spans`].
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_blocks_in(&self, part: FrameSpan, counts: &mut BlockCounts) -> Result<()> {
        counts.clear();
        Reader::new(self.graph(), 1).count_in(self, &part, counts, None)
    }

    /// Calls `f` with each action that executes no block, in order, until `f` says that it has seen
    /// enough. No block is decoded for it.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn for_each_other(
        &self,
        mut f: impl FnMut(&Action<'static>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut reader = Reader::new(self.graph(), 1);
        let mut going = Ok(ControlFlow::Continue(()));
        for span in self.spans() {
            going = reader.hold(span).map(|records| {
                let frame = reader.places[0].frame.as_ref();
                let mut others = frame.into_iter().flat_map(|(_, frame)| frame.others_in(&records));
                others.try_for_each(&mut f)
            });
            if !matches!(going, Ok(ControlFlow::Continue(()))) {
                break;
            }
        }
        self.graph().in_file(going.map(drop))
    }

    /// Calls `f` with each action that executes no block, in order, and with how often the blocks
    /// before it were executed, since the last call or since the task began; and at the end once
    /// more, without an action. Stops when `f` says so.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_between(
        &self,
        mut f: impl FnMut(&BlockCounts, Option<&Action<'static>>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut counts = BlockCounts::new();
        let mut reader = Reader::new(self.graph(), 1);
        let mut going = ControlFlow::Continue(());
        let mut counted = Ok(());
        // What is left of a frame's part after a stop is decoded all the same.
        for span in self.spans() {
            let mut other = |counts: &mut BlockCounts, action: &Action<'static>| {
                if going.is_continue() {
                    going = f(counts, Some(action));
                }
                counts.clear();
            };
            counted = reader.count_in(self, span, &mut counts, Some(&mut other));
            if counted.is_err() || going.is_break() {
                break;
            }
        }
        if going.is_continue() {
            let _ = f(&counts, None);
        }
        counted
    }

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
    pub fn for_each_batch(&self, mut f: impl FnMut(&Batch<'_>)) -> Result<()> {
        let mut reader = Reader::new(self.graph(), 1);
        reader.open(self);
        loop {
            match reader.next() {
                Ok(Some(batch)) => f(batch),
                Ok(None) => return Ok(()),
                Err(e) => {
                    f(reader.batch());
                    return Err(e);
                }
            }
        }
    }

    /// Counts the executions of each block, in place of what was counted before.
    ///
    /// # Errors
    /// As [`Task::for_each_batch`].
    pub fn count_blocks(&self, counts: &mut BlockCounts) -> Result<()> {
        Reader::new(self.graph(), 1).count_blocks(self, counts)
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
