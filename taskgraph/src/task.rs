//! A task of a graph and its actions.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::action::{Action, BlockExec};
use crate::batch::Piece;
use crate::error::Result;
use crate::frame::{Counts, Ends, Nests, Played, Player};
use crate::graph::TaskGraph;
use crate::id::{BlockId, ExecutorId, TaskId};
use crate::page::TaskPage;
use crate::record::{FrameSpan, TaskRecord};
use crate::sample::AFTER_EVENT;
use crate::space::prefix;
use crate::{SyncOp, TaskKind};

/// A task. It is cheap to hold and to copy; its actions are decoded on demand.
#[derive(Debug)]
pub struct Task<'g, D> {
    pub(crate) graph: &'g TaskGraph<D>,
    page: Arc<TaskPage>,
    at: usize,
}

impl<D> Clone for Task<'_, D> {
    fn clone(&self) -> Self {
        Self { graph: self.graph, page: Arc::clone(&self.page), at: self.at }
    }

    /// Neighbours have their page in common, which then is counted once.
    fn clone_from(&mut self, other: &Self) {
        match Arc::ptr_eq(&self.page, &other.page) {
            true => self.at = other.at,
            false => *self = other.clone(),
        }
    }
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Any task by its id. This takes a search in the page index and, if the page is not in the
    /// cache, the decoding of a page.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchTask`](crate::ErrorKind::NoSuchTask), or damage.
    pub fn task(&self, id: TaskId) -> Result<Task<'_, D>> {
        self.in_file(self.find_task(id))
    }

    fn find_task(&self, id: TaskId) -> Result<Task<'_, D>> {
        let (page, at) = self.place(id)?;
        Ok(Task::new(self, page, at))
    }
}

impl<'g, D: AsRef<[u8]>> Task<'g, D> {
    /// Task `at` of a page; the caller has checked that it exists.
    pub(crate) fn new(graph: &'g TaskGraph<D>, page: Arc<TaskPage>, at: usize) -> Self {
        Self { graph, page, at }
    }

    /// Goes on to the task after this one in the page, if that is the one.
    #[inline]
    pub(crate) fn step_to(&mut self, id: TaskId) -> bool {
        let found = self.page.id(self.at + 1) == Some(id);
        self.at += usize::from(found);
        found
    }

    /// Goes to a task, if it is in the page.
    pub(crate) fn find(&mut self, id: TaskId) -> bool {
        let found = self.page.find(id);
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// Its spans, as a range of [`Task::span_at`].
    pub(crate) fn places_of_spans(&self) -> Range<usize> {
        self.page.spans_of(self.at..self.at + 1)
    }

    /// A span of any task of the page.
    #[inline]
    pub(crate) fn span_at(&self, at: usize) -> Option<&FrameSpan> {
        self.page.span_at(at)
    }

    /// What it executes and accesses.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        self.page.totals(self.at)
    }

    /// The graph it is in.
    #[must_use]
    pub fn graph(&self) -> &'g TaskGraph<D> {
        self.graph
    }

    /// Another task of the graph, as [`TaskGraph::task`]. It takes little time if the other is near
    /// this one.
    ///
    /// # Errors
    /// As [`TaskGraph::task`].
    pub fn other(&self, id: TaskId) -> Result<Self> {
        let mut other = self.clone();
        other.go_to(id)?;
        Ok(other)
    }

    /// Becomes another task of the graph, as [`Task::other`]. It stays what it is on an error.
    ///
    /// # Errors
    /// As [`TaskGraph::task`].
    pub fn go_to(&mut self, id: TaskId) -> Result<()> {
        let own = self.id();
        let at = match id.seq.checked_sub(own.seq) {
            Some(after) => self.at.checked_add(after as usize),
            None => self.at.checked_sub((own.seq - id.seq) as usize),
        };
        match at.filter(|&at| self.page.id(at) == Some(id)) {
            Some(at) => self.at = at,
            None if self.find(id) => {}
            None => *self = self.graph.task(id)?,
        }
        Ok(())
    }

    /// The id of the task.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.page.id(self.at).unwrap_or_default()
    }

    /// The executor: the thread that executed it. It executes one task at a time, and the tasks of
    /// one context may have several. A task that stands for several contexts (a barrier) has the
    /// executor of the context that it is in.
    #[must_use]
    pub fn executor(&self) -> ExecutorId {
        self.page.executor(self.at)
    }

    /// Whether it is the last task of its context.
    #[must_use]
    pub fn is_last(&self) -> bool {
        let id = self.id();
        let next = self.page.id(self.at + 1);
        next.is_none_or(|next| next.context != id.context)
            && id.seq.checked_add(1) == Some(self.graph.task_count(id.context))
    }

    /// The kind of the task.
    #[must_use]
    pub fn kind(&self) -> TaskKind {
        self.page.kind(self.at).0
    }

    /// The operation of the task; [`SyncOp::None`] for work.
    #[must_use]
    pub fn op(&self) -> SyncOp {
        self.page.kind(self.at).1
    }

    /// Address of the synchronisation object; for Create and Join the number of the child context;
    /// 0 for work.
    #[must_use]
    pub fn object(&self) -> u64 {
        self.page.object(self.at)
    }

    /// Start in nanoseconds since the start of the run.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.page.times(self.at).0
    }

    /// End in nanoseconds since the start of the run.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.page.times(self.at).1
    }

    /// Nanoseconds from start to end.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.end_ns().saturating_sub(self.start_ns())
    }

    /// Executions of basic blocks.
    #[must_use]
    pub fn block_count(&self) -> u64 {
        self.counts().blocks
    }

    /// Whether the graph has all the blocks that the task executes, and no sample of them.
    #[must_use]
    pub fn has_all_code(&self) -> bool {
        self.block_count() < AFTER_EVENT.into() || self.graph().sample().is_none()
    }

    /// Reads + writes.
    #[must_use]
    pub fn access_count(&self) -> u64 {
        self.read_count().saturating_add(self.write_count())
    }

    /// Reads.
    #[must_use]
    pub fn read_count(&self) -> u64 {
        self.counts().reads
    }

    /// Writes.
    #[must_use]
    pub fn write_count(&self) -> u64 {
        self.counts().writes
    }

    /// Bytes read and written.
    #[must_use]
    pub fn bytes_accessed(&self) -> u64 {
        self.counts().bytes
    }

    /// Actions: executions of basic blocks, allocations, frees and mappings.
    #[must_use]
    pub fn action_count(&self) -> u64 {
        let totals = self.counts();
        totals.blocks.saturating_add(totals.others)
    }

    /// The stored predecessors, sorted. They do not include the task before this one in its
    /// context.
    ///
    /// # Errors
    /// Damage (none today: the predecessors are stored with the task).
    pub fn dependencies(&self) -> Result<Vec<TaskId>> {
        Ok(self.stored_dependencies().to_vec())
    }

    /// [`Task::dependencies`] without a copy.
    #[must_use]
    pub fn stored_dependencies(&self) -> &[TaskId] {
        self.page.edges(self.at)
    }

    /// The stored successors, sorted: not the one after it in its context.
    ///
    /// # Errors
    /// Damage of an edge page.
    pub fn dependents(&self) -> Result<Vec<TaskId>> {
        self.graph.in_file(self.graph.dependents(&self.page, self.at))
    }

    /// Whether it has stored successors, without reading them.
    ///
    /// # Errors
    /// As [`Task::dependents`].
    pub fn is_awaited(&self) -> Result<bool> {
        let place = self.graph.place_of_dependents(&self.page, self.at);
        self.graph.in_file(place.map(|place| place.is_some()))
    }

    /// All predecessors, sorted: the stored ones and the one before it in its context.
    ///
    /// # Errors
    /// As [`Task::dependencies`].
    pub fn predecessors(&self) -> Result<Vec<TaskId>> {
        Ok(with_neighbour(self.dependencies()?, self.id().previous()))
    }

    /// All successors, sorted: the stored ones and the one after it in its context.
    ///
    /// # Errors
    /// As [`Task::dependents`].
    pub fn successors(&self) -> Result<Vec<TaskId>> {
        let id = self.id();
        let tasks = self.graph.task_count(id.context);
        let next = id.seq.checked_add(1).filter(|&seq| seq < tasks);
        Ok(with_neighbour(self.dependents()?, next.map(|seq| TaskId::new(id.context, seq))))
    }

    /// Where its actions are.
    #[must_use]
    pub fn spans(&self) -> &[FrameSpan] {
        self.page.spans(self.at)
    }

    /// The task in the form in which it was written.
    #[must_use]
    pub fn record(&self) -> TaskRecord {
        TaskRecord {
            id: self.id(),
            executor: self.executor(),
            kind: self.kind(),
            op: self.op(),
            object: self.object(),
            start_ns: self.start_ns(),
            end_ns: self.end_ns(),
            frames: self.spans().to_vec(),
            counts: *self.counts(),
        }
    }

    /// Calls `f` for each action in program order.
    ///
    /// # Errors
    /// A damaged frame; `f` has then seen the actions before it.
    pub fn for_each_action(&self, f: impl FnMut(Action<'_>)) -> Result<()> {
        self.each_from((0, 0), always(f))
    }

    /// As [`Task::for_each_action`], until `f` says that it has seen enough.
    ///
    /// # Errors
    /// As [`Task::for_each_action`].
    pub fn try_for_each_action(&self, f: impl FnMut(Action<'_>) -> ControlFlow<()>) -> Result<()> {
        self.each_from((0, 0), f)
    }

    /// Calls `f` for the last actions in program order: all that at least this many records of the
    /// file stand for. A record stands for one action or for several.
    ///
    /// # Errors
    /// As [`Task::for_each_action`].
    pub fn for_last_actions(&self, records: usize, f: impl FnMut(Action<'_>)) -> Result<()> {
        self.each_from(self.before_end(records)?, always(f))
    }

    /// Calls `f` for each action from a record on, until it says so.
    fn each_from(
        &self,
        from: (usize, usize),
        mut f: impl FnMut(Action<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let info = self.graph.info();
        self.play_from(from, Nests::Bare, |played, operands| {
            if let Played::Block(id) = played {
                return f(Action::Block(BlockExec::new(info, id, operands)));
            }
            match Piece::of(info, played, operands) {
                Some(Piece::Run(run)) => run.try_for_each_block(|block| f(Action::Block(block))),
                Some(Piece::Nest(nest)) => {
                    let mut going = ControlFlow::Continue(());
                    nest.for_each_block(|block| {
                        if going.is_continue() {
                            going = f(Action::Block(BlockExec::new(info, block, &[])));
                        }
                    });
                    going
                }
                Some(Piece::Action(action)) => f(action),
                Some(Piece::Blocks(_)) | None => ControlFlow::Continue(()),
            }
        })
    }

    /// Calls `f` with what a player plays from a record on, and its operands, until it says so.
    pub(crate) fn play_from(
        &self,
        (first, skipped): (usize, usize),
        nests: Nests,
        mut f: impl FnMut(Played<'g>, &[u64]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut going = ControlFlow::Continue(());
        let mut player = Player::new(self.block_count(), nests);
        let space = self.graph.space_of(self.id().context);
        let mut spans = self.spans().iter().enumerate().skip(first);
        let done = spans.try_for_each(|(at, span)| {
            if going.is_break() {
                return Ok(());
            }
            let (frame, mut range) = self.graph.frame(span)?;
            let score = self.graph.score()?;
            range.start += if at == first { skipped } else { 0 };
            player.start(&frame, range);
            while going.is_continue()
                && let Some(mut played) = player.next(score, &frame)?
            {
                if space > 0 {
                    let operands = &mut player.operands;
                    prefix(self.graph.info(), &mut played, operands, space);
                }
                going = f(played, &player.operands);
            }
            self.graph.recycle(frame);
            Ok(())
        });
        self.graph.in_file(done)
    }

    /// The span and the record in it from which at least this many records are left, and which can
    /// be played without those before: a path may go on with what is known since the latest one
    /// that begins its function.
    fn before_end(&self, records: usize) -> Result<(usize, usize)> {
        let mut left = records;
        for (at, span) in self.spans().iter().enumerate().rev() {
            let own = span.records as usize;
            if own < left {
                left -= own;
                continue;
            }
            let (frame, range) = self.graph.in_file(self.graph.frame(span))?;
            let score = self.graph.in_file(self.graph.score())?;
            let begins = |record: &usize| frame.begins(*record, score) == Some(true);
            let latest = range.end - left;
            let start = match (latest..range.end).find_map(|at| frame.begins(at, score)) {
                Some(false) => (range.start..latest).rev().find(begins).unwrap_or(range.start),
                // No path goes on with what was before.
                Some(true) | None => latest,
            };
            let skipped = start - range.start;
            self.graph.recycle(frame);
            return Ok((at, skipped));
        }
        Ok((0, 0))
    }

    /// Calls `f` for each execution of a block in program order.
    ///
    /// # Errors
    /// As [`Task::for_each_action`].
    pub fn for_each_block(&self, mut f: impl FnMut(&BlockExec<'_>)) -> Result<()> {
        self.for_each_action(|action| {
            if let Action::Block(block) = action {
                f(&block);
            }
        })
    }
}

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// The last block that the task executes; `None` if it executes none. At most its last records
    /// are played.
    ///
    /// # Errors
    /// As [`Task::for_each_action`].
    pub fn last_block(&self) -> Result<Option<BlockId>> {
        if let Some(known) = self.ends_with()? {
            return Ok(Some(known));
        }
        let info = self.graph.info();
        let (mut last, mut records) = (None, 1);
        loop {
            let from = self.before_end(records)?;
            self.play_from(from, Nests::Counted, |played, operands| {
                let block = match played {
                    Played::Block(id) => Some(id),
                    _ => Piece::of(info, played, operands).and_then(|piece| piece.last_block()),
                };
                last = block.or(last);
                ControlFlow::Continue(())
            })?;
            if last.is_some() || from == (0, 0) {
                return Ok(last);
            }
            records *= 64;
        }
    }

    /// The block that the task's last record with a block ends with, if that is known without
    /// playing it.
    fn ends_with(&self) -> Result<Option<BlockId>> {
        for span in self.spans().iter().rev() {
            let (frame, range) = self.graph.in_file(self.graph.frame(span))?;
            let score = self.graph.in_file(self.graph.score())?;
            let mut ends = range.rev().map(|at| frame.ends_with(at, score));
            let found = ends.find(|ends| !matches!(ends, Ends::Before));
            self.graph.recycle(frame);
            match found {
                Some(Ends::With(block)) => return Ok(Some(block)),
                Some(_) => return Ok(None),
                None => {}
            }
        }
        Ok(None)
    }
}

fn with_neighbour(mut ids: Vec<TaskId>, neighbour: Option<TaskId>) -> Vec<TaskId> {
    if let Some(id) = neighbour
        && let Err(at) = ids.binary_search(&id)
    {
        ids.insert(at, id);
    }
    ids
}

/// What calls `f` and never has seen enough.
fn always(mut f: impl FnMut(Action<'_>)) -> impl FnMut(Action<'_>) -> ControlFlow<()> {
    move |action| {
        f(action);
        ControlFlow::Continue(())
    }
}
