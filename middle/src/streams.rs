//! The context that the records of a stream belong to: that of the thread, until a switch names
//! another one.
//!
//! A context that goes from thread to thread (an untied OpenMP task) is recorded in numbered
//! pieces. A piece is held back if it is read before the previous piece has been read to its end.
//! This is rare, because the runtime hands over what a thread recorded when the thread leaves such
//! a context.

use std::collections::BTreeMap;

use contech_trace::event::{Arrival, Event};
pub(crate) use contech_trace::event::{TEAM_STREAMS, piece_after};
use rustc_hash::FxHashMap;
use taskgraph::{Counts, FrameSpan};

/// Means that no context is at hand.
const NO_CONTEXT: u32 = u32::MAX;

/// An item of a stream.
#[derive(Debug)]
pub(crate) enum Record {
    Span(FrameSpan),
    Counts(Counts),
    /// An event and, if it is an action unless it orders something, its record.
    Event(Event, Option<FrameSpan>),
    /// The thread leaves the context.
    Leave(u64),
    /// The thread comes to the context.
    Arrive(Arrival, u64),
}

/// Where a record stands: the tick at which its chunk began, and whether the stream has no blocks
/// there.
pub(crate) type At = (u64, bool);

/// A piece of a context: the context and the number of the piece.
pub(crate) type Piece = (u32, u32);

/// A piece that is held back: the stream that it is in, and its records.
pub(crate) type Held = (u32, Vec<(Record, At)>);

/// The state of all streams as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// For each stream, the number of the chunk that comes next.
    next_chunk: FxHashMap<u32, u64>,
    /// The stream at hand.
    pub(crate) stream: u32,
    /// For each stream, the context in which reading stopped, unless it is the thread's own.
    last: FxHashMap<u32, u32>,
    /// The context that the current records belong to.
    pub(crate) context: u32,
    /// The piece that the current records belong to, while they are held back.
    pub(crate) holding: Option<Piece>,
    held: BTreeMap<Piece, Held>,
}

impl Streams {
    /// The number of the chunk that comes next in a stream.
    pub(crate) fn next_chunk(&self, stream: u32) -> u64 {
        self.next_chunk.get(&stream).copied().unwrap_or(0)
    }

    /// The context that the last records of a stream belong to.
    pub(crate) fn context_of(&self, stream: u32) -> u32 {
        if self.stream == stream {
            return self.context;
        }
        self.last.get(&stream).copied().unwrap_or(stream)
    }

    /// Begins a chunk of the stream.
    pub(crate) fn begin(&mut self, stream: u32, chunk: u64) {
        self.last.insert(self.stream, self.context);
        self.stream = stream;
        self.next_chunk.insert(stream, chunk.saturating_add(1));
        self.context = stream;
        self.holding = None;
    }

    /// Says that the current context has ended. If it was not the thread's own, no context is at
    /// hand now.
    pub(crate) fn ended(&mut self) {
        if self.context != self.stream {
            (self.context, self.holding) = (NO_CONTEXT, None);
        }
    }

    /// Whether the thread has left a context and not entered another one.
    pub(crate) fn is_between_contexts(&self) -> bool {
        self.context == NO_CONTEXT
    }

    pub(crate) fn hold(&mut self, piece: Piece, record: Record, at: At) {
        let new = || (self.stream, Vec::new());
        self.held.entry(piece).or_insert_with(new).1.push((record, at));
    }

    /// Takes the records of a piece that were held back.
    pub(crate) fn release(&mut self, piece: Piece) -> Option<Held> {
        self.held.remove(&piece)
    }

    /// Takes the first piece that is still held back.
    pub(crate) fn release_any(&mut self) -> Option<(Piece, Held)> {
        self.held.pop_first()
    }
}
