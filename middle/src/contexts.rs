//! What is known of each context. A program can have millions of contexts. Only those whose streams
//! are being cut have all of their state in memory; the others have a record of a few words.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashMap;
use taskgraph::{Counts, FrameSpan};

use crate::draft::DraftWriter;
use crate::fences::Fences;
use crate::place::Place;
use crate::space::Space;

/// A context while its stream is cut into tasks: its record, and what only that needs.
#[derive(Debug, Default)]
pub(crate) struct ContextState {
    record: ContextRecord,
    /// The tick at which the context's thread left it; `None` once the thread has come back.
    pub(crate) away: Option<u64>,
    /// Ticks that the context's thread spent in other contexts since the last task. They are not
    /// work of this context.
    pub(crate) shift: u64,
    /// A piece of a context that goes from thread to thread is being read.
    pub(crate) in_piece: bool,
    /// Blocks begin or end to be recorded at this tick, and the work before it has not ended.
    pub(crate) gate: Option<u64>,
    /// When the gap of a sample began that the context is in.
    pub(crate) gap: Option<u64>,
    /// The work task that still grows.
    pub(crate) open: OpenWork,
    pub(crate) writer: DraftWriter,
    pub(crate) fences: Fences,
}

/// A work task that may grow with the next chunk.
#[derive(Debug, Default)]
pub(crate) struct OpenWork {
    pub(crate) counts: Counts,
    /// The last span of the task. The earlier spans are already in the log.
    pub(crate) span: Option<FrameSpan>,
}

/// What is known of a context. It is all that is kept of one of which nothing more is expected.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ContextRecord {
    /// Number of tasks and barrier arrivals so far.
    pub(crate) places: u32,
    /// The stream that the last records were read from.
    pub(crate) executor: u32,
    /// Number of the last piece that was read to its end, for a context that goes from thread to
    /// thread.
    pub(crate) piece: u32,
    /// End of the last event, in ticks.
    pub(crate) clock: u64,
    /// Latest moment seen, in ticks.
    pub(crate) last: u64,
    /// First moment seen, in ticks.
    pub(crate) first: u64,
    /// Tick at which the context's last draft ended, once its state is put away.
    drafted: u64,
    /// The context's start was recorded in another context, or it is the first context.
    pub(crate) announced: bool,
    /// Another context waited for this one's end.
    pub(crate) joined: bool,
    /// The context asked the kernel for work that is done beside the program.
    pub(crate) rings: bool,
    /// The context was begun by a thread that has another context of its own, or no context.
    pub(crate) entered: bool,
    /// The context's start event was seen.
    pub(crate) started: bool,
    /// Only the context's end was recorded, because the program ended before the thread began.
    pub(crate) idle: bool,
    /// The context's end event was seen.
    pub(crate) end_seen: bool,
    /// The context ended by itself, not with the program.
    pub(crate) ended: bool,
    /// It had left the scope that others wait for, and ended with the program.
    pub(crate) left: bool,
}

impl Deref for ContextState {
    type Target = ContextRecord;

    fn deref(&self) -> &ContextRecord {
        &self.record
    }
}

impl DerefMut for ContextState {
    fn deref_mut(&mut self) -> &mut ContextRecord {
        &mut self.record
    }
}

impl ContextState {
    /// Whether the context's end was seen and nothing of it is left to be written.
    fn is_over(&self) -> bool {
        self.end_seen && self.open.span.is_none() && self.open.counts == Counts::default()
    }

    fn record(&self) -> ContextRecord {
        ContextRecord { drafted: self.writer.end(), ..self.record }
    }

    fn resumed(record: ContextRecord) -> Self {
        let writer = DraftWriter::after(record.drafted);
        ContextState { record, writer, ..ContextState::default() }
    }
}

/// All contexts, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    /// The context that was asked for last. Most events are of the same context as the event
    /// before.
    at_hand: Option<(u32, Box<ContextState>)>,
    /// The other contexts that have all of their state.
    live: FxHashMap<u32, Box<ContextState>>,
    /// Records of retired contexts. A context that has state also has an entry here, which is out
    /// of date.
    records: BTreeMap<u32, ContextRecord>,
    fulfilled: FxHashMap<u32, Place>,
    retire_at: usize,
    /// How the numbers of each trace map to the graph, for several traces in the order they are
    /// read.
    pub(crate) spaces: Vec<Space>,
}

/// Number of contexts that keep their state.
const MANY: usize = 4096;

impl Contexts {
    pub(crate) fn is_known(&self, context: u32) -> bool {
        self.records.contains_key(&context)
    }

    pub(crate) fn get_mut(&mut self, context: u32) -> Option<&mut ContextState> {
        self.is_known(context).then(|| self.entry(context).0)
    }

    /// Returns the context, and whether it is new. A new context is made.
    #[inline]
    pub(crate) fn entry(&mut self, context: u32) -> (&mut ContextState, bool) {
        let here = self.at_hand.as_ref().is_some_and(|(c, _)| *c == context);
        let new = !here && self.take_up(context);
        let (_, state) = self.at_hand.get_or_insert_default();
        (state, new)
    }

    /// Makes the context the one at hand. Returns true if it is new.
    #[cold]
    fn take_up(&mut self, context: u32) -> bool {
        self.put_down();
        let (state, new) = match (self.live.remove(&context), self.records.get(&context)) {
            (Some(state), _) => (state, false),
            (None, Some(record)) => (Box::new(ContextState::resumed(*record)), false),
            (None, None) => {
                self.records.insert(context, ContextRecord::default());
                // Until something is read of it.
                let new = ContextRecord { executor: context, ..ContextRecord::default() };
                (Box::new(ContextState::resumed(new)), true)
            }
        };
        self.at_hand = Some((context, state));
        new
    }

    fn put_down(&mut self) {
        self.live.extend(self.at_hand.take());
    }

    /// Says that the event of a detached task was fulfilled at a place.
    pub(crate) fn fulfilled(&mut self, context: u32, at: Place) {
        self.fulfilled.insert(context, at);
    }

    /// Turns the contexts that are over into records, if there are many.
    pub(crate) fn retire(&mut self) {
        if self.live.len() < self.retire_at.max(MANY) {
            return;
        }
        self.put_down();
        let records = &mut self.records;
        self.live.retain(|context, state| {
            let over = state.is_over();
            if over {
                records.insert(*context, state.record());
            }
            !over
        });
        self.retire_at = self.live.len() * 2;
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.records.keys().copied().collect()
    }

    /// Returns the records of all contexts.
    pub(crate) fn finish(mut self) -> ContextTable {
        self.put_down();
        for (context, state) in self.live.drain() {
            self.records.insert(context, state.record());
        }
        ContextTable { records: self.records, fulfilled: self.fulfilled, spaces: self.spaces }
    }
}

/// All contexts, after their streams were cut.
#[derive(Debug)]
pub(crate) struct ContextTable {
    records: BTreeMap<u32, ContextRecord>,
    /// Where the events of detached tasks were fulfilled.
    fulfilled: FxHashMap<u32, Place>,
    spaces: Vec<Space>,
}

impl ContextTable {
    /// Number of the trace that a context belongs to, in the order the traces were read.
    pub(crate) fn trace_of(&self, context: u32) -> u16 {
        let begun = self.spaces.partition_point(|s| s.holds(context));
        u16::try_from(begun.saturating_sub(1)).unwrap_or(u16::MAX)
    }

    pub(crate) fn get(&self, context: u32) -> Option<&ContextRecord> {
        self.records.get(&context)
    }

    pub(crate) fn get_mut(&mut self, context: u32) -> Option<&mut ContextRecord> {
        self.records.get_mut(&context)
    }

    /// Where the event of a detached task was fulfilled.
    pub(crate) fn fulfilled(&self, context: u32) -> Option<Place> {
        self.fulfilled.get(&context).copied()
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.records.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &ContextRecord)> {
        self.records.iter().map(|(context, record)| (*context, record))
    }
}
