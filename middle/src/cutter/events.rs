//! What each event becomes: a task, an entry for the rules of pass 2, or a note.

use contech_trace::event::{EndReason, Event, Recorded, SyncOp};
use taskgraph::{FrameSpan, TaskKind};

use super::{Cutter, unwrap_ticks};
use crate::draft::Draft;
use crate::encode::shown;
use crate::error::Result;
use crate::fences::{acquires, releases};
use crate::gaps::may_miss;
use crate::place::Place;

impl Cutter {
    /// `own` is the event's record.
    pub(super) fn event(
        &mut self,
        context: u32,
        chunk_first: u64,
        event: &Event,
        own: Option<FrameSpan>,
    ) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        let full = |ticks| unwrap_ticks(ticks, chunk_first);
        match *event {
            Event::Sync { op, object, ticket, aux, before, duration } => {
                let times = Some((full(before), duration));
                return self.sync(context, (op, object, ticket, aux), times, own);
            }
            Event::Untimed { op, object, ticket, aux } => {
                return self.sync(context, (op, object, ticket, aux), None, own);
            }
            Event::Delay { before, duration } => {
                let start = full(before);
                let draft = Draft {
                    kind: TaskKind::Sync,
                    op: SyncOp::Delay,
                    start,
                    end: start.saturating_add(duration),
                    ..Draft::default()
                };
                return self.task(context, draft, None).map(|_| ());
            }
            Event::ContextStart { context: own, announced, at, tid, .. } => {
                if own != context || state.started || state.places > 0 {
                    self.notes.damage("a context start is in a wrong place", || {
                        format!("of context {own}, in context {context}")
                    });
                    return Ok(());
                }
                (state.started, state.announced) = (true, state.announced | announced);
                self.executors.thread(state.executor, tid);
                (state.clock, state.first) = (full(at), full(at));
                if !announced && context != self.space.first() {
                    self.notes.remark("threads appeared whose creation was not seen", || {
                        format!("context {context}")
                    });
                }
            }
            Event::ContextEnd { reason, at } => return self.context_end(context, reason, full(at)),
            Event::Lost { bytes } => {
                self.lost_bytes += bytes;
                self.notes.damage("the runtime lost records", || lost(bytes, context));
            }
            Event::Roi { begin, at } => {
                let (word, at) = (if begin { "begins" } else { "ends" }, full(at));
                self.regions.mark(at, begin);
                self.notes.remark("the region of interest is marked", || {
                    format!("it first {word} at tick {at} in context {context}")
                });
            }
            // What is recorded and what is not are different tasks.
            Event::Accesses { at, recorded } => {
                if state.open.span.is_some() || recorded == Recorded::Yes {
                    state.gate = Some(full(at));
                }
            }
            // The work that grows is shorter by that. It stays one task.
            Event::Stolen { taken } => state.shift = state.shift.saturating_add(taken),
            // Switches and positions were taken out of the stream before, the decoder repeats, and
            // the encoder has the actions.
            Event::Switch { .. }
            | Event::Position { .. }
            | Event::Again { .. }
            | Event::Alloc { .. }
            | Event::Free { .. }
            | Event::Map { .. }
            | Event::Fresh { .. }
            | Event::Unmap { .. } => {}
        }
        Ok(())
    }

    /// Ends the context at hand.
    fn context_end(&mut self, context: u32, reason: EndReason, at: u64) -> Result<()> {
        self.end_gap(context, at)?;
        self.cut_at_gate(context, at)?;
        let keep_empty = self.keeps_empty();
        let (state, _) = self.contexts.entry(context);
        state.end_seen = true;
        state.idle = !state.started && state.places == 0 && state.open.span.is_none();
        state.ended = matches!(reason, EndReason::Finished | EndReason::Exec)
            || context == self.space.first();
        state.left = reason == EndReason::Left;
        state.last = state.last.max(at);
        if reason == EndReason::Signal {
            self.notes.fact("a signal ended the program");
        }
        self.end_work(context, at, keep_empty).map(drop)
    }

    /// Takes a synchronisation, with its begin and duration unless its time is open.
    fn sync(
        &mut self,
        context: u32,
        (op, object, ticket, aux): (SyncOp, u64, u64, u64),
        times: Option<(u64, u64)>,
        own: Option<FrameSpan>,
    ) -> Result<()> {
        if op == SyncOp::AtomicSpun {
            return Ok(());
        }
        let (start, duration) = times.unwrap_or((self.contexts.entry(context).0.clock, 0));
        self.now = self.now.max(start);
        let end = start.saturating_add(duration);
        if may_miss(op) && self.gaps.have(self.now) && self.gaps.have(self.now.max(end)) {
            return self.begin_gap(context, self.now);
        }
        let draft = Draft {
            kind: op.kind(),
            op: shown(op, aux),
            object: self.space.object(op, object),
            start,
            end,
            open: times.is_none(),
            ..Draft::default()
        };
        let times = (draft.start, draft.end);
        let at = if op.is_mark() {
            let (state, _) = self.contexts.entry(context);
            Place::new(context, state.places)
        } else {
            self.task(context, draft, own)?
        };
        if op == SyncOp::Ring {
            self.contexts.entry(context).0.rings = true;
        }
        self.has_actions |= own.is_some();
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

    /// Passes on an atomic operation or a fence. Relaxed loads reach the rules only through fences.
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

    /// Ends the work before the place where blocks begin or end to be recorded, at `before` the
    /// latest: a thread may come to that place after it took the time of its next event.
    pub(super) fn cut_at_gate(&mut self, context: u32, before: u64) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        let Some(at) = state.gate.take() else {
            return Ok(());
        };
        self.end_work(context, at.min(before), true).map(drop)
    }

    /// Ends the work before, and appends a task. `own` is the record that stands for it where it is
    /// an action.
    pub(super) fn task(
        &mut self,
        context: u32,
        mut draft: Draft,
        own: Option<FrameSpan>,
    ) -> Result<Place> {
        self.end_gap(context, draft.start)?;
        if self.gaps.any() {
            draft.start = draft.start.max(self.contexts.entry(context).0.clock);
        }
        self.cut_at_gate(context, draft.start)?;
        if draft.open {
            self.put_work(context, None, false)?;
        } else {
            self.end_work(context, draft.start, self.keeps_empty())?;
            self.contexts.entry(context).0.shift = 0;
        }
        let (state, _) = self.contexts.entry(context);
        if draft.start < state.clock {
            let back = state.clock - draft.start;
            self.notes.remark("the clock went backwards; times were corrected", || {
                format!("by {back} ticks in context {context}")
            });
            draft.start = state.clock;
        }
        draft.end = draft.end.max(draft.start);
        draft.executor = state.executor;
        state.clock = draft.end;
        let place = self.next_place(context)?;
        let writer = &mut self.contexts.entry(context).0.writer;
        self.logs.append(context, |out| writer.put_sync(out, &draft, own.as_ref()))?;
        if self.gaps.have(draft.end) {
            self.begin_gap(context, draft.end)?;
        }
        Ok(place)
    }
}

/// How much is missing, if that is known.
fn lost(bytes: u64, context: u32) -> String {
    match bytes {
        0 => format!("of context {context}, how many is not known"),
        bytes => format!("{bytes} bytes of context {context}"),
    }
}
