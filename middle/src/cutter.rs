//! Pass 1, the sequential part: cuts each context's stream into tasks (contech.txt, section 4.2,
//! algorithm 1).

use std::sync::Arc;

use contech_trace::event::{Event, Recorded};
use rustc_hash::FxHashMap;
use taskgraph::{FrameRef, FrameSpan, GraphWriter, TaskKind};

use self::positions::Position;
use crate::contexts::Contexts;
use crate::draft::Draft;
use crate::encode::EncodedChunk;
use crate::error::{Error, Result};
use crate::executors::Streamed;
use crate::gaps::Gaps;
use crate::log::Logs;
use crate::messages::Messages;
use crate::notes::Notes;
use crate::place::Place;
use crate::regions::{Regions, Windows};
use crate::rules::Events;
use crate::space::Space;
use crate::spill::Spill;
use crate::streams::{Record, Streams};

mod end;
mod events;
mod gap;
mod positions;
mod switches;
mod work;

/// Cuts streams into tasks, and sends the results of pass 1 on.
#[derive(Debug)]
pub(crate) struct Cutter {
    name: String,
    pub(crate) contexts: Contexts,
    streams: Streams,
    pub(crate) logs: Logs,
    pub(crate) events: Events,
    pub(crate) executors: Streamed,
    pub(crate) positions: Vec<Position>,
    pub(crate) notes: Notes,
    pub(crate) regions: Regions,
    /// There are tasks that are actions if they order nothing with other contexts.
    pub(crate) has_actions: bool,
    /// Bytes that the runtime said it lost, or that could not be read.
    pub(crate) lost_bytes: u64,
    /// In a trace without blocks (recorded in sync mode) work tasks have nothing but time, so they
    /// are kept although they are empty.
    pub(crate) keep_empty: bool,
    /// The record at hand comes from a part of its stream without blocks.
    pub(crate) without: bool,
    pub(crate) windows: Windows,
    /// Where the frames are, by the numbers that drafts have for them; 0 for frames that have not
    /// ended.
    pub(crate) frames: Vec<FrameRef>,
    /// For each stream, the frame that goes on in the next chunk.
    open: FxHashMap<u32, FrameRef>,
    /// The chunk at hand is ignored.
    ignored: bool,
    pub(crate) gaps: Gaps,
    /// The latest time that is known in the chunk at hand.
    now: u64,
    /// How the numbers of the trace that is being read become numbers of the graph.
    pub(crate) space: Space,
    pub(crate) messages: Messages,
}

impl Cutter {
    pub(crate) fn new(name: &str, spill: &Arc<Spill>, memory: usize) -> Self {
        Cutter {
            name: name.to_owned(),
            contexts: Contexts::default(),
            streams: Streams::default(),
            logs: Logs::new(spill, memory / 2),
            events: Events::new(spill, memory / 2),
            executors: Streamed::default(),
            positions: Vec::new(),
            notes: Notes::default(),
            regions: Regions::default(),
            has_actions: false,
            lost_bytes: 0,
            keep_empty: false,
            without: false,
            windows: Windows::default(),
            frames: Vec::new(),
            open: FxHashMap::default(),
            ignored: false,
            gaps: Gaps::default(),
            now: 0,
            space: Space::default(),
            messages: Messages::new(spill, memory / 16),
        }
    }

    /// Makes the first context of several traces. One task of it creates the first contexts of all
    /// traces.
    pub(crate) fn root(&mut self) -> Result<Place> {
        let (state, _) = self.contexts.entry(0);
        (state.announced, state.started) = (true, true);
        (state.end_seen, state.ended) = (true, true);
        self.executors.note(0);
        let draft =
            Draft { kind: TaskKind::Create, op: taskgraph::SyncOp::MpiRanks, ..Draft::default() };
        self.task(0, draft, None)
    }

    /// Says that everything from now on is of trace `trace`, one of several.
    pub(crate) fn begin_trace(&mut self, name: &str, trace: u16) {
        name.clone_into(&mut self.name);
        self.events.set_trace(trace);
        self.regions.set_trace(trace);
        self.windows.set_trace(trace);
        self.space = Space::after(&self.contexts.numbers(), trace);
        self.contexts.spaces.push(self.space);
        self.streams = Streams::default();
    }

    /// Takes the frame that is left at the end of a stream.
    pub(crate) fn last(&mut self, mut chunk: EncodedChunk, writer: &mut GraphWriter) -> Result<()> {
        self.space.translate(&mut chunk);
        self.frames(&mut chunk, writer)
    }

    /// Takes the next chunk of the file, or the next part of a long chunk.
    pub(crate) fn chunk(
        &mut self,
        mut chunk: EncodedChunk,
        writer: &mut GraphWriter,
    ) -> Result<()> {
        self.contexts.retire();
        self.space.translate(&mut chunk);
        self.frames(&mut chunk, writer)?;
        if !chunk.continued {
            self.ignored = !self.begin(&chunk)?;
        }
        if self.ignored {
            return Ok(());
        }
        let (context, first) = (chunk.context, chunk.first);
        if let Some((error, bytes)) = &chunk.fault {
            self.lost_bytes += bytes;
            self.notes.damage("records could not be read", || {
                format!(
                    "chunk {} of context {context} at byte {}: {error}",
                    chunk.seq, chunk.offset
                )
            });
        }
        self.now = first;
        // A context that has ended is over at its end event, not when its buffer was handed over.
        let ended = matches!(chunk.events().next_back(), Some(Event::ContextEnd { .. }));
        for record in chunk.records {
            match record {
                Record::Event(event, own) => self.comes((context, first), event, own)?,
                record => self.feed(record, (first, false))?,
            }
        }
        self.windows.goes_on(context, chunk.last);
        if self.streams.holding.is_some() {
            return Ok(());
        }
        let Some(state) = self.contexts.get_mut(self.streams.context) else {
            return Ok(());
        };
        state.last = state.last.max(state.clock);
        if !ended || state.open.span.is_some() {
            state.last = state.last.max(chunk.last);
        }
        if chunk.fault.is_some() && (chunk.goes_on || chunk.continued) {
            self.end_at_gap(self.streams.context, chunk.last)?;
        }
        Ok(())
    }

    /// Takes an event of a stream whose chunk began at tick `first`, with the event's record.
    fn comes(
        &mut self,
        (stream, first): (u32, u64),
        event: Event,
        own: Option<FrameSpan>,
    ) -> Result<()> {
        match event {
            Event::Switch { context, piece, how, at } => {
                self.switch(context, piece, how, unwrap_ticks(at, first))?;
            }
            Event::Accesses { recorded, at } => {
                self.windows.switch(stream, recorded, unwrap_ticks(at, first));
                if self.contexts.is_known(self.streams.context) {
                    let without = recorded == Recorded::Yes;
                    self.feed(Record::Event(event, None), (first, without))?;
                }
            }
            Event::Position { at, ran: ran_us, system: system_us, faults, own, processor } => {
                // A thread has positions between contexts, too.
                let ticks = unwrap_ticks(at, first);
                let here = self.streams.holding.is_none();
                let state = self.contexts.get_mut(self.streams.context);
                let span = state.filter(|_| here).and_then(|state| state.open.span);
                let frame = span.map(|s| (s.frame, s.first_record.saturating_add(s.records)));
                let position =
                    Position { stream, ticks, ran_us, system_us, faults, own, processor, frame };
                self.positions.push(position);
                self.now = self.now.max(ticks);
                self.at_position(ticks)?;
            }
            // Time that was taken from a thread between two contexts makes no task shorter.
            Event::Stolen { .. } if self.streams.is_between_contexts() => {}
            _ => {
                let without = self.windows.are_closed_for(stream);
                self.feed(Record::Event(event, own), (first, without))?;
                if matches!(event, Event::ContextEnd { .. }) {
                    self.streams.ended();
                }
            }
        }
        Ok(())
    }

    /// Writes the frames that end in a chunk, and tells its spans the numbers of their frames.
    fn frames(&mut self, chunk: &mut EncodedChunk, writer: &mut GraphWriter) -> Result<()> {
        let mut open = self.open.remove(&chunk.context);
        let mut numbers = Vec::with_capacity(chunk.frames.len() + 1);
        let mut number = |frames: &mut Vec<FrameRef>| {
            open.take().unwrap_or_else(|| {
                frames.push(FrameRef::default());
                FrameRef(frames.len() as u64 - 1)
            })
        };
        let ended = chunk.frames.len();
        for frame in chunk.frames.drain(..) {
            let number = number(&mut self.frames);
            let place = usize::try_from(number.0).ok();
            let place = place.and_then(|at| self.frames.get_mut(at));
            *place.ok_or_else(|| Error::internal("a frame without a number"))? =
                writer.put_frame(frame)?;
            numbers.push(number);
        }
        for record in &mut chunk.records {
            let (Record::Span(span) | Record::Event(_, Some(span))) = record else { continue };
            let at = usize::try_from(span.frame.0).unwrap_or(usize::MAX);
            if at == numbers.len() && at == ended {
                numbers.push(number(&mut self.frames));
            }
            let number = numbers.get(at).copied();
            span.frame = number.ok_or_else(|| Error::internal("a span without a frame"))?;
        }
        // The last frame goes on in the next chunk, or has not begun here.
        if let Some(open) = numbers.get(ended).copied().or(open) {
            self.open.insert(chunk.context, open);
        }
        Ok(())
    }

    /// Whether work tasks without blocks are kept.
    fn keeps_empty(&self) -> bool {
        self.keep_empty || self.without
    }

    fn span(&mut self, context: u32, span: FrameSpan) -> Result<()> {
        let (state, _) = self.contexts.entry(context);
        // The frame of the span may go on in the next chunk.
        if state.open.span.as_mut().is_some_and(|open| open.join(&span)) {
            return Ok(());
        }
        if let Some(full) = state.open.span.replace(span) {
            let writer = &mut state.writer;
            self.logs.append(context, |out| writer.put_span(out, &full))?;
        }
        Ok(())
    }
}

/// Number of ticks that 48 bits count.
const WRAP: u64 = 1 << 48;

/// The full tick count of a 48-bit one: of the counts that 64 bits have room for, the one nearest
/// to the time of its chunk.
fn unwrap_ticks(ticks: u64, near: u64) -> u64 {
    let full = near & !(WRAP - 1) | ticks;
    let nearer = if full.saturating_add(WRAP / 2) < near {
        full.checked_add(WRAP)
    } else if full > near.saturating_add(WRAP / 2) {
        full.checked_sub(WRAP)
    } else {
        None
    };
    nearer.unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_the_count_nearest_to_its_chunk_among_those_there_are() {
        let last = !(WRAP - 1);
        for (ticks, near, full) in [
            (5, 7, 5),
            (5, WRAP - 1, WRAP + 5),
            (WRAP - 1, WRAP + 3, WRAP - 1),
            (WRAP - 1, 3, WRAP - 1),
            (5, last - 1, last + 5),
            (WRAP - 1, last + 3, last - 1),
            (5, u64::MAX, last + 5),
        ] {
            assert_eq!(unwrap_ticks(ticks, near), full, "{ticks} near {near}");
        }
    }
}
