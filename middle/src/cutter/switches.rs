//! Which context the records of a chunk belong to, and what a switch, a piece of a context or a gap
//! means.

use contech_trace::event::{Arrival, Event, NOWHERE};

use super::Cutter;
use crate::draft::DraftWriter;
use crate::encode::EncodedChunk;
use crate::error::Result;
use crate::streams::{At, Held, Record, TEAM_STREAMS, piece_after};

impl Cutter {
    /// Takes a record of the context at hand.
    pub(super) fn feed(&mut self, record: Record, at: At) -> Result<()> {
        if self.streams.context == NOWHERE {
            // What is lost may be where the thread came back.
            if let Record::Event(Event::Lost { bytes }, _) = record {
                self.lost_bytes += bytes;
                self.notes.damage("the runtime lost records", || "in a library".into());
            }
            return Ok(());
        }
        match self.streams.holding {
            Some(piece) => {
                self.streams.hold(piece, record, at);
                Ok(())
            }
            None => self.apply(self.streams.context, record, at),
        }
    }

    fn apply(&mut self, context: u32, record: Record, at: At) -> Result<()> {
        match record {
            Record::Span(_) | Record::Counts(_) if self.contexts.entry(context).0.gap.is_some() => {
                Ok(())
            }
            Record::Span(span) => {
                self.cut_at_gate(context, u64::MAX)?;
                self.span(context, span)
            }
            Record::Counts(counts) => {
                let (state, _) = self.contexts.entry(context);
                state.open.counts = state.open.counts.plus(counts);
                Ok(())
            }
            Record::Event(event, own) => {
                self.without = at.1;
                self.event(context, at.0, &event, own)
            }
            Record::Leave(at) => self.leave(context, at),
            Record::Arrive(how, at) => self.arrive(context, how, at),
        }
    }

    /// Says that what follows in the stream belongs to another context.
    pub(super) fn switch(&mut self, context: u32, piece: u32, how: Arrival, at: u64) -> Result<()> {
        let stays = how == Arrival::Stays;
        if !stays && self.contexts.is_known(self.streams.context) {
            self.feed(Record::Leave(at), (at, false))?;
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
        if self.streams.holding.is_none() {
            self.executed_by(context, self.streams.stream)?;
        }
        if stays {
            return Ok(());
        }
        self.feed(Record::Arrive(how, at), (at, false))
    }

    /// The thread of this stream goes on with the context. What another one did of it is a task of
    /// its own, until that one left it.
    fn executed_by(&mut self, context: u32, stream: u32) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        if state.executor == stream {
            return Ok(());
        }
        if state.started || state.places > 0 || state.open.span.is_some() {
            let at = state.away.unwrap_or(state.last);
            self.cut_at_gate(context, at)?;
            if self.end_work(context, at, self.keeps_empty())? {
                self.contexts.entry(context).0.shift = 0;
            }
        }
        self.contexts.entry(context).0.executor = stream;
        Ok(())
    }

    fn arrive(&mut self, context: u32, how: Arrival, at: u64) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        let away = state.away.take();
        match how {
            Arrival::Begins => {
                if state.started || state.places > 0 {
                    self.notes.damage("a context start is in a wrong place", || {
                        format!("of context {context}")
                    });
                    return Ok(());
                }
                (state.started, state.entered) = (true, true);
                (state.clock, state.first, state.last) = (at, at, at);
            }
            Arrival::Resumes => {
                let elsewhere = away.map_or(0, |left| at.saturating_sub(left));
                state.shift = state.shift.saturating_add(elsewhere);
            }
            Arrival::Waits | Arrival::Stays => {}
        }
        Ok(())
    }

    fn leave(&mut self, context: u32, at: u64) -> Result<()> {
        self.end_gap(context, at)?;
        let (state, _) = self.contexts.entry(context);
        state.away = Some(at);
        if !state.end_seen {
            state.last = state.last.max(at);
        }
        if !std::mem::take(&mut state.in_piece) {
            return Ok(());
        }
        let next = (context, piece_after(state.piece));
        if let Some(held) = self.streams.release(next) {
            self.read_held(next, held)?;
        }
        Ok(())
    }

    pub(super) fn read_held(
        &mut self,
        (context, piece): (u32, u32),
        (stream, records): Held,
    ) -> Result<()> {
        self.executed_by(context, stream)?;
        let (state, _) = self.contexts.entry(context);
        (state.piece, state.in_piece) = (piece, true);
        for (record, at) in records {
            self.apply(context, record, at)?;
        }
        Ok(())
    }

    /// Begins a chunk. Returns false if the chunk is to be ignored.
    pub(super) fn begin(&mut self, chunk: &EncodedChunk) -> Result<bool> {
        let context = chunk.context;
        let next_chunk = self.streams.next_chunk(context);
        if chunk.seq < next_chunk {
            self.notes.remark("repeated chunks were ignored", || {
                format!("chunk {} of context {context} at byte {}", chunk.seq, chunk.offset)
            });
            return Ok(false);
        }
        // The gap ends the data of the context that was at hand before it, as far as is known.
        let before = if next_chunk > 0 { self.streams.context_of(context) } else { context };
        self.streams.begin(context, chunk.seq);
        self.executors.note(context);
        let missing = chunk.seq > next_chunk;
        if missing {
            let (from, to) = (next_chunk, chunk.seq);
            self.notes.damage("chunks of a context are missing", || {
                format!("{from} to {} of context {context}", to - 1)
            });
        }
        // If a chunk goes on with a function, the gap lies behind what could be read.
        if missing || chunk.fault.is_some() && !chunk.goes_on {
            self.end_at_gap(before, chunk.first)?;
        }
        if context >= TEAM_STREAMS {
            return Ok(true);
        }
        let (state, new) = self.contexts.entry(context);
        if new {
            (state.clock, state.first, state.last) = (chunk.first, chunk.first, chunk.first);
            state.announced = context == self.space.first();
        }
        self.logs.append(context, |out| DraftWriter::put_chunk(out, chunk.offset))?;
        Ok(true)
    }

    /// Ends the task before a gap where its data ends.
    pub(super) fn end_at_gap(&mut self, context: u32, after: u64) -> Result<()> {
        let Some(state) = self.contexts.get_mut(context) else {
            return Ok(());
        };
        let last = state.last;
        self.end_work(context, last, self.keep_empty)?;
        let (state, _) = self.contexts.entry(context);
        state.clock = state.clock.max(after);
        Ok(())
    }
}
