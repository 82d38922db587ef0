//! Pass 1, the sequential part: cuts each context's stream into tasks (contech.txt, section 4.2, algorithm 1).

use std::sync::Arc;

use contech_trace::event::{Arrival, EndReason, Event, SyncOp};
use taskgraph::{Counts, FrameRef, FrameSpan, GraphWriter, TaskKind};

use crate::contexts::{ContextState, Contexts};
use crate::draft::{Draft, DraftWriter};
use crate::encode::EncodedChunk;
use crate::error::{Error, Result};
use crate::log::Logs;
use crate::messages::Messages;
use crate::mpi;
use crate::notes::Notes;
use crate::place::Place;
use crate::regions::Regions;
use crate::rules::Events;
use crate::rules::atomic::{acquires, releases};
use crate::space::Space;
use crate::spill::Spill;
use crate::streams::{Record, Streams, TEAM_STREAMS, piece_after};

/// Where the results of pass 1 go.
#[derive(Debug)]
pub(crate) struct Cutter {
    name: String,
    pub(crate) contexts: Contexts,
    streams: Streams,
    pub(crate) logs: Logs,
    pub(crate) events: Events,
    pub(crate) notes: Notes,
    pub(crate) regions: Regions,
    pub(crate) has_barriers: bool,
    /// Bytes the runtime said it lost, or that could not be read.
    pub(crate) lost_bytes: u64,
    /// Without blocks (recorded in sync mode) work tasks have time only, and are kept although empty.
    pub(crate) keep_empty: bool,
    frames: Vec<FrameRef>,
    /// The chunk at hand is ignored.
    ignored: bool,
    /// What the numbers of the trace at hand become.
    pub(crate) space: Space,
    /// Messages and collective operations of MPI.
    pub(crate) messages: Messages,
}

impl Cutter {
    pub(crate) fn new(name: &str, spill: &Arc<Spill>, memory: usize) -> Self {
        Cutter {
            name: name.to_owned(),
            contexts: Contexts::default(),
            streams: Streams::default(),
            logs: Logs::new(spill, memory / 3),
            events: Events::new(spill, memory / 3 * 2),
            notes: Notes::default(),
            regions: Regions::default(),
            has_barriers: false,
            lost_bytes: 0,
            keep_empty: false,
            frames: Vec::new(),
            ignored: false,
            space: Space::default(),
            messages: Messages::new(spill, memory / 16),
        }
    }

    /// The first context of several traces: one task creates the first contexts of them all.
    pub(crate) fn root(&mut self) -> Result<Place> {
        let (state, _) = self.contexts.entry(0);
        (state.announced, state.started) = (true, true);
        (state.end_seen, state.ended) = (true, true);
        let draft = Draft {
            kind: TaskKind::Create,
            op: taskgraph::SyncOp::MpiRanks,
            ..Draft::default()
        };
        self.task(0, draft)
    }

    /// What comes from now on is of this trace, one of several.
    pub(crate) fn begin_trace(&mut self, name: &str, trace: u16) {
        name.clone_into(&mut self.name);
        self.events.set_trace(trace);
        self.regions.set_trace(trace);
        self.space = Space::after(&self.contexts.numbers(), trace);
        self.contexts.spaces.push(self.space);
        self.streams = Streams::default();
    }

    /// Takes the next chunk of the file, or the next part of a long one.
    pub(crate) fn chunk(
        &mut self,
        mut chunk: EncodedChunk,
        writer: &mut GraphWriter,
    ) -> Result<()> {
        self.contexts.retire();
        self.space.translate(&mut chunk);
        if !chunk.continued {
            self.ignored = !self.begin(&chunk)?;
        }
        if self.ignored {
            return Ok(());
        }
        let context = chunk.context;
        if let Some((error, bytes)) = &chunk.fault {
            self.lost_bytes += bytes;
            self.notes.damage("records could not be read", || {
                format!(
                    "chunk {} of context {context} at byte {}: {error}",
                    chunk.seq, chunk.offset
                )
            });
        }
        self.frames.clear();
        for frame in chunk.frames {
            self.frames.push(writer.put_frame(frame)?);
        }
        let mut spans = chunk.spans.iter();
        let mut spans_seen = 0;
        for (i, segment) in chunk.segments.iter().enumerate() {
            for span in spans.by_ref().take(segment.spans_end - spans_seen) {
                let frame = self.frames.get(span.frame).copied();
                let frame = frame.ok_or_else(|| Error::internal("a span without a frame"))?;
                let (first_record, records) = (span.first_record, span.records);
                self.feed(Record::Span(FrameSpan {
                    frame,
                    first_record,
                    records,
                }))?;
            }
            spans_seen = segment.spans_end;
            if segment.counts != Counts::default() {
                self.feed(Record::Counts(segment.counts))?;
            }
            match chunk.events.get(i) {
                Some(Event::Switch {
                    context,
                    piece,
                    how,
                    at,
                }) => self.switch(*context, *piece, *how, unwrap_ticks(*at, chunk.first))?,
                Some(event) => {
                    self.feed(Record::Event(*event, chunk.first))?;
                    if matches!(event, Event::ContextEnd { .. }) {
                        self.streams.ended();
                    }
                }
                None => {}
            }
        }
        if self.streams.holding.is_some() {
            return Ok(());
        }
        let Some(state) = self.contexts.get_mut(self.streams.context) else {
            return Ok(());
        };
        state.last = state.last.max(state.clock);
        // A context that has ended is over then, not when its buffer was handed over.
        let ended = matches!(chunk.events.last(), Some(Event::ContextEnd { .. }));
        if !ended || state.open.span.is_some() {
            state.last = state.last.max(chunk.last);
        }
        Ok(())
    }

    /// A record of the context at hand.
    fn feed(&mut self, record: Record) -> Result<()> {
        match self.streams.holding {
            Some(piece) => {
                self.streams.hold(piece, record);
                Ok(())
            }
            None => self.apply(self.streams.context, record),
        }
    }

    fn apply(&mut self, context: u32, record: Record) -> Result<()> {
        match record {
            Record::Span(span) => self.span(context, span),
            Record::Counts(counts) => {
                let (state, _) = self.contexts.entry(context);
                state.open.counts = state.open.counts.plus(counts);
                Ok(())
            }
            Record::Event(event, chunk_first) => self.event(context, chunk_first, &event),
            Record::Leave(at) => self.leave(context, at),
            Record::Arrive(how, at) => self.arrive(context, how, at),
        }
    }

    /// What follows in the stream belongs to another context.
    fn switch(&mut self, context: u32, piece: u32, how: Arrival, at: u64) -> Result<()> {
        let stays = how == Arrival::Stays;
        if !stays && self.contexts.is_known(self.streams.context) {
            self.feed(Record::Leave(at))?;
        }
        (self.streams.context, self.streams.holding) = (context, None);
        if context >= TEAM_STREAMS {
            return Ok(());
        }
        if piece > 0 {
            let (state, _) = self.contexts.entry(context);
            let next = if state.in_piece && stays {
                state.piece
            } else if state.in_piece {
                0
            } else {
                piece_after(state.piece)
            };
            if piece != next {
                self.streams.holding = Some((context, piece));
            } else {
                (state.piece, state.in_piece) = (piece, true);
            }
        }
        if stays {
            return Ok(());
        }
        self.feed(Record::Arrive(how, at))
    }

    fn arrive(&mut self, context: u32, how: Arrival, at: u64) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        let away = state.away.take();
        match how {
            Arrival::Begins => {
                if state.started || state.places > 0 {
                    self.notes
                        .damage("a context start is in a wrong place", || {
                            format!("of context {context}")
                        });
                    return Ok(());
                }
                (state.started, state.entered) = (true, true);
                (state.clock, state.first, state.last) = (at, at, at);
            }
            Arrival::Resumes => state.shift += away.map_or(0, |left| at.saturating_sub(left)),
            Arrival::Waits | Arrival::Stays => {}
        }
        Ok(())
    }

    fn leave(&mut self, context: u32, at: u64) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        state.away = Some(at);
        if !state.end_seen {
            state.last = state.last.max(at);
        }
        if !std::mem::take(&mut state.in_piece) {
            return Ok(());
        }
        let next = (context, piece_after(state.piece));
        if let Some(records) = self.streams.release(next) {
            self.read_held(next, records)?;
        }
        Ok(())
    }

    fn read_held(&mut self, (context, piece): (u32, u32), records: Vec<Record>) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        (state.piece, state.in_piece) = (piece, true);
        for record in records {
            self.apply(context, record)?;
        }
        Ok(())
    }

    /// A chunk begins; false when it is to be ignored.
    fn begin(&mut self, chunk: &EncodedChunk) -> Result<bool> {
        let context = chunk.context;
        let next_chunk = self.streams.next_chunk(context);
        if chunk.seq < next_chunk {
            self.notes.remark("repeated chunks were ignored", || {
                format!(
                    "chunk {} of context {context} at byte {}",
                    chunk.seq, chunk.offset
                )
            });
            return Ok(false);
        }
        // Where a gap ends the data, as far as is known: in the context that was at hand before it.
        let before = if next_chunk > 0 {
            self.streams.context_of(context)
        } else {
            context
        };
        self.streams.begin(context, chunk.seq);
        let missing = chunk.seq > next_chunk;
        if missing {
            let (from, to) = (next_chunk, chunk.seq);
            self.notes.damage("chunks of a context are missing", || {
                format!("{from} to {} of context {context}", to - 1)
            });
        }
        if missing || chunk.fault.is_some() {
            self.end_before_gap(before, chunk.first)?;
        }
        if context >= TEAM_STREAMS {
            return Ok(true);
        }
        let (state, new) = self.contexts.entry(context);
        if new {
            (state.clock, state.first, state.last) = (chunk.first, chunk.first, chunk.first);
            state.announced = context == self.space.first();
        }
        self.logs
            .append(context, |out| DraftWriter::put_chunk(out, chunk.offset))?;
        Ok(true)
    }

    /// The task before a gap ends where its data ends.
    fn end_before_gap(&mut self, context: u32, after: u64) -> Result<()> {
        let Some(state) = self.contexts.get_mut(context) else {
            return Ok(());
        };
        let last = state.last;
        let (name, logs) = (&self.name, &mut self.logs);
        let mut piece = Piece {
            context,
            name,
            state,
            logs,
        };
        piece.end_work(last, self.keep_empty)?;
        piece.state.clock = piece.state.clock.max(after);
        Ok(())
    }

    /// The time within work: it ends there, and more of it begins `taken` later.
    fn time(&mut self, context: u32, at: u64, taken: u64) -> Result<()> {
        let keep_empty = self.keep_empty;
        let (state, _) = self.contexts.entry(context);
        if state.open.span.is_none() {
            return Ok(());
        }
        let (name, logs) = (&self.name, &mut self.logs);
        let mut piece = Piece {
            context,
            name,
            state,
            logs,
        };
        piece.end_work(at, keep_empty)?;
        piece.state.shift = 0;
        piece.state.clock += taken;
        Ok(())
    }

    fn span(&mut self, context: u32, span: FrameSpan) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        if let Some(full) = state.open.span.replace(span) {
            self.logs
                .append(context, |out| DraftWriter::put_span(out, &full))?;
        }
        Ok(())
    }

    fn event(&mut self, context: u32, chunk_first: u64, event: &Event) -> Result<()> {
        let keep_empty = self.keep_empty;
        let (state, _) = self.contexts.entry(context);
        let full = |ticks| unwrap_ticks(ticks, chunk_first);
        match *event {
            Event::Sync {
                op,
                object,
                ticket,
                aux,
                before,
                duration,
            } => {
                if op == SyncOp::AtomicSpun {
                    return Ok(());
                }
                let start = full(before);
                let draft = Draft {
                    kind: kind(op, aux),
                    op: operation(op, aux),
                    object: self.space.object(op, object),
                    start,
                    end: start.saturating_add(duration),
                    ..Draft::default()
                };
                return self.sync(context, op, object, ticket, aux, draft);
            }
            Event::Delay { before, duration } => {
                let start = full(before);
                let draft = Draft {
                    kind: TaskKind::Sync,
                    op: taskgraph::SyncOp::Delay,
                    start,
                    end: start.saturating_add(duration),
                    ..Draft::default()
                };
                return self.task(context, draft).map(|_| ());
            }
            Event::ContextStart {
                context: own,
                announced,
                at,
                ..
            } => {
                if own != context || state.started || state.places > 0 {
                    self.notes
                        .damage("a context start is in a wrong place", || {
                            format!("of context {own}, in context {context}")
                        });
                    return Ok(());
                }
                (state.started, state.announced) = (true, state.announced | announced);
                (state.clock, state.first) = (full(at), full(at));
                if !announced && context != self.space.first() {
                    self.notes
                        .remark("threads appeared whose creation was not seen", || {
                            format!("context {context}")
                        });
                }
            }
            Event::ContextEnd { reason, at } => {
                let at = full(at);
                state.end_seen = true;
                state.idle = !state.started && state.places == 0 && state.open.span.is_none();
                state.ended = matches!(reason, EndReason::Finished | EndReason::Exec)
                    || context == self.space.first();
                state.last = state.last.max(at);
                if reason == EndReason::Signal {
                    self.notes.remark("a signal ended the program", String::new);
                }
                let (name, logs) = (&self.name, &mut self.logs);
                Piece {
                    context,
                    name,
                    state,
                    logs,
                }
                .end_work(at, keep_empty)?;
            }
            Event::Lost { bytes } => {
                self.lost_bytes += bytes;
                self.notes.damage("the runtime lost records", || {
                    format!("{bytes} bytes of context {context}")
                });
            }
            Event::Roi { begin, at } => {
                let (word, at) = (if begin { "begins" } else { "ends" }, full(at));
                self.regions.mark(at, begin);
                self.notes.remark("the region of interest is marked", || {
                    format!("it first {word} at tick {at} in context {context}")
                });
            }
            Event::Time { before, taken } => return self.time(context, full(before), taken),
            // Taken out of the stream before; actions, which the encoder has.
            Event::Switch { .. }
            | Event::Alloc { .. }
            | Event::Free { .. }
            | Event::Map { .. }
            | Event::Fresh { .. }
            | Event::Unmap { .. } => {}
        }
        Ok(())
    }

    fn sync(
        &mut self,
        context: u32,
        op: SyncOp,
        object: u64,
        ticket: u64,
        aux: u64,
        draft: Draft,
    ) -> Result<()> {
        let times = (draft.start, draft.end);
        let draft_is_barrier = draft.kind == TaskKind::Barrier;
        let mark = matches!(
            op,
            SyncOp::ObjectInit | SyncOp::ObjectDestroy | SyncOp::TaskgroupBegin
        );
        let at = if mark {
            let (state, _) = self.contexts.entry(context);
            Place::new(context, state.places)
        } else {
            self.task(context, draft)?
        };
        self.has_barriers |= draft_is_barrier;
        if op.is_mpi() {
            return self.messages.push(op, (object, ticket, aux), at, times);
        }
        if op == SyncOp::Fulfill
            && let Ok(task) = u32::try_from(object)
        {
            self.contexts.fulfilled(task, at);
        }
        if op.is_atomic() || op == SyncOp::Fence {
            return self.atomic(op, object, ticket, aux, at);
        }
        self.events.push(op, object, ticket, aux, at)
    }

    /// An atomic operation or a fence: relaxed loads say nothing to the rules but through fences.
    fn atomic(&mut self, op: SyncOp, object: u64, ticket: u64, aux: u64, at: Place) -> Result<()> {
        let order = aux & contech_trace::abi::ATOMIC_ORDER;
        let (state, _) = self.contexts.entry(at.context());
        if op == SyncOp::Fence {
            for (op, object, ticket, order, at) in state.fences.fence(order, at) {
                self.events.push(op, object, ticket, order, at)?;
            }
            return Ok(());
        }
        let order = state.fences.order(op, object, ticket, order);
        let orders = op == SyncOp::AtomicStore || acquires(order) || releases(order);
        if orders {
            self.events.push(op, object, ticket, order, at)?;
        }
        Ok(())
    }

    /// Ends the work before, appends a task.
    fn task(&mut self, context: u32, mut draft: Draft) -> Result<Place> {
        let keep_empty = self.keep_empty;
        let (state, _) = self.contexts.entry(context);
        let (name, logs) = (&self.name, &mut self.logs);
        let mut piece = Piece {
            context,
            name,
            state,
            logs,
        };
        piece.end_work(draft.start, keep_empty)?;
        let state = &mut *piece.state;
        state.shift = 0;
        if draft.start < state.clock {
            let back = state.clock - draft.start;
            self.notes
                .remark("the clock went backwards; times were corrected", || {
                    format!("by {back} ticks in context {context}")
                });
            draft.start = state.clock;
        }
        draft.end = draft.end.max(draft.start);
        state.clock = draft.end;
        let place = piece.next_place()?;
        let writer = &mut piece.state.writer;
        piece
            .logs
            .append(context, |out| writer.put_sync(out, &draft))?;
        Ok(place)
    }

    /// Ends all contexts where their data ends.
    pub(crate) fn finish(&mut self) -> Result<()> {
        // The run starts in context 0: a graph has 0:0 even when nothing of it was recorded.
        let first = self.space.first();
        let (_, unseen) = self.contexts.entry(first);
        if unseen {
            // No damage by itself (a program in sync mode may do nothing to record); lost chunks and a
            // missing end are told where they are found.
            self.notes
                .remark("nothing was recorded of the first context", String::new);
        }
        while let Some((piece, records)) = self.streams.release_any() {
            self.notes.damage(
                "parts of a task that went from thread to thread are missing",
                || format!("before piece {} of context {}", piece.1, piece.0),
            );
            self.read_held(piece, records)?;
        }
        for context in self.contexts.numbers() {
            self.contexts.retire();
            if !self.space.holds(context) {
                continue;
            }
            let (state, _) = self.contexts.entry(context);
            let last = state.last;
            let (name, logs) = (&self.name, &mut self.logs);
            Piece {
                context,
                name,
                state,
                logs,
            }
            .end_work(last, false)?;
            let state_entered = state.entered;
            let (started, end_seen, ended) = (state.started, state.end_seen, state.ended);
            let idle = state.idle;
            if unseen && context == first {
                continue;
            }
            if context >= TEAM_STREAMS {
                self.notes
                    .remark("OpenMP threads ran code outside of any task", || {
                        format!("context {context}")
                    });
                continue;
            }
            if state_entered && !end_seen {
                self.notes
                    .remark("tasks had not ended when the program ended", || {
                        format!("context {context}")
                    });
                continue;
            }
            if idle {
                self.notes
                    .remark("threads had not begun when the program ended", || {
                        format!("context {context}")
                    });
                continue;
            }
            if !started {
                self.notes.damage("the start of a context is missing", || {
                    format!("context {context}")
                });
            }
            if !end_seen {
                self.notes.damage("the end of a context is missing", || {
                    format!("context {context}")
                });
            } else if !ended {
                self.notes
                    .remark("threads still ran when the program ended", || {
                        format!("context {context}")
                    });
            }
        }
        Ok(())
    }
}

/// One context being written.
struct Piece<'a> {
    context: u32,
    name: &'a str,
    state: &'a mut ContextState,
    logs: &'a mut Logs,
}

impl Piece<'_> {
    fn next_place(&mut self) -> Result<Place> {
        let place = Place::new(self.context, self.state.places);
        self.state.places =
            self.state
                .places
                .checked_add(1)
                .ok_or_else(|| Error::TooManyTasks {
                    file: self.name.to_owned(),
                    context: self.context,
                })?;
        Ok(place)
    }

    /// Ends the work task that grows, if it has actions or is the context's first task.
    fn end_work(&mut self, at: u64, keep_empty: bool) -> Result<()> {
        let end = at.max(self.state.clock);
        // What its thread did elsewhere meanwhile is no work of this context.
        let start = (self.state.clock + self.state.shift).min(end);
        let kept = keep_empty && end > start;
        if self.state.open.span.is_none() && self.state.places > 0 && !kept {
            return Ok(());
        }
        self.next_place()?;
        let open = std::mem::take(&mut self.state.open);
        self.state.clock = end;
        let writer = &mut self.state.writer;
        self.logs.append(self.context, |out| {
            if let Some(span) = &open.span {
                DraftWriter::put_span(out, span);
            }
            writer.put_work(out, start, end, &open.counts);
        })
    }
}

/// The full tick count of a 48-bit one: the nearest to the time of its chunk.
fn unwrap_ticks(ticks: u64, near: u64) -> u64 {
    const WRAP: u64 = 1 << 48;
    let mut full = near & !(WRAP - 1) | ticks;
    if full + WRAP / 2 < near {
        full += WRAP;
    } else if full > near + WRAP / 2 && full >= WRAP {
        full -= WRAP;
    }
    full
}

fn kind(op: SyncOp, aux: u64) -> TaskKind {
    match op {
        SyncOp::MpiMeet if mpi::is_barrier(aux) => TaskKind::Barrier,
        SyncOp::ThreadCreate => TaskKind::Create,
        SyncOp::ThreadJoin => TaskKind::Join,
        SyncOp::BarrierWait => TaskKind::Barrier,
        SyncOp::TeamCreate | SyncOp::TaskCreate => TaskKind::Create,
        SyncOp::TeamJoin
        | SyncOp::TaskWait
        | SyncOp::TaskJoin
        | SyncOp::TaskgroupEnd
        | SyncOp::TasksJoin => TaskKind::Join,
        _ => TaskKind::Sync,
    }
}

fn operation(op: SyncOp, aux: u64) -> taskgraph::SyncOp {
    use taskgraph::SyncOp as To;
    match op {
        SyncOp::ThreadCreate => To::ThreadCreate,
        SyncOp::ThreadJoin => To::ThreadJoin,
        SyncOp::MutexLock => To::MutexLock,
        SyncOp::MutexUnlock => To::MutexUnlock,
        SyncOp::RwRead => To::RwRead,
        SyncOp::RwWrite => To::RwWrite,
        SyncOp::RwUnlock => To::RwUnlock,
        SyncOp::SpinLock => To::SpinLock,
        SyncOp::SpinUnlock => To::SpinUnlock,
        SyncOp::CondRelease => To::CondRelease,
        SyncOp::CondWake => To::CondWake,
        SyncOp::CondTimeout => To::CondTimeout,
        SyncOp::CondReacquire => To::CondReacquire,
        SyncOp::CondSignal => To::CondSignal,
        SyncOp::CondBroadcast => To::CondBroadcast,
        SyncOp::SemWait => To::SemWait,
        SyncOp::SemPost => To::SemPost,
        SyncOp::OnceRun => To::OnceRun,
        SyncOp::OncePass => To::OncePass,
        SyncOp::BarrierWait => To::Barrier,
        // Corrected in pass 2, where the kind of the object is known.
        SyncOp::TryFail => To::MutexTryFail,
        SyncOp::Fork => To::Fork,
        SyncOp::AtomicLoad => To::AtomicLoad,
        SyncOp::AtomicStore => To::AtomicStore,
        SyncOp::AtomicRmw => To::AtomicRmw,
        SyncOp::AtomicFail => To::AtomicFail,
        SyncOp::Fence => To::Fence,
        SyncOp::FutexWait => To::FutexWait,
        SyncOp::FutexTimeout => To::FutexTimeout,
        SyncOp::FutexWake => To::FutexWake,
        SyncOp::TeamCreate => To::ParallelBegin,
        SyncOp::TeamJoin => To::ParallelEnd,
        SyncOp::TaskCreate => To::TaskCreate,
        SyncOp::TaskWait => To::TaskWait,
        SyncOp::TaskJoin => To::TaskJoin,
        SyncOp::TaskgroupEnd => To::TaskgroupEnd,
        SyncOp::TasksJoin => To::TasksJoin,
        SyncOp::Fulfill => To::Fulfill,
        SyncOp::OmpLock => To::OmpLock,
        SyncOp::OmpUnlock => To::OmpUnlock,
        SyncOp::CriticalEnter => To::CriticalEnter,
        SyncOp::CriticalExit => To::CriticalExit,
        SyncOp::OrderedEnter => To::OrderedEnter,
        SyncOp::OrderedExit => To::OrderedExit,
        SyncOp::Reduction => To::Reduction,
        SyncOp::DoacrossPost => To::DoacrossPost,
        SyncOp::DoacrossWait => To::DoacrossWait,
        SyncOp::WorkEnd => To::WorkEnd,
        SyncOp::MpiSend => To::MpiSend,
        SyncOp::MpiRecv => To::MpiRecv,
        SyncOp::MpiWait => To::MpiWait,
        SyncOp::MpiMark => mpi::mark(aux),
        SyncOp::MpiMeet | SyncOp::MpiEnd => mpi::collective(aux),
        SyncOp::MpiBegin => To::MpiBegin,
        SyncOp::Depend => crate::openmp::dependence(aux),
        SyncOp::Work => crate::openmp::work(aux),
        SyncOp::ObjectInit
        | SyncOp::ObjectDestroy
        | SyncOp::TaskgroupBegin
        | SyncOp::AtomicSpun => To::Other,
    }
}
