//! Which context the records of a stream belong to: that of the thread, until a switch says otherwise.
//!
//! A context that goes from thread to thread (an untied OpenMP task) is recorded in numbered pieces. A piece
//! that is read before the one in front of it has been read to its end is held back; the runtime hands over
//! what a thread recorded when it leaves such a context, so little ever is.

use std::collections::BTreeMap;

pub(crate) use contech_trace::event::TEAM_STREAMS;
use contech_trace::event::{Arrival, Event};
use rustc_hash::FxHashMap;
use taskgraph::{Counts, FrameSpan};

/// No context is at hand.
const NO_CONTEXT: u32 = u32::MAX;
/// Pieces are numbered from 1 to this, and from 1 again.
const LAST_PIECE: u32 = (1 << 20) - 1;

/// What a stream holds, in order.
#[derive(Debug)]
pub(crate) enum Record {
    Span(FrameSpan),
    Counts(Counts),
    /// An event, and the tick its chunk began at.
    Event(Event, u64),
    /// The thread leaves the context.
    Leave(u64),
    /// The thread comes to the context.
    Arrive(Arrival, u64),
}

/// A piece of a context.
pub(crate) type Piece = (u32, u32);

/// All streams as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// Number of the chunk that comes next.
    next_chunk: FxHashMap<u32, u64>,
    /// The stream at hand.
    stream: u32,
    /// The context in which reading of each stream stopped, unless it is the thread's own.
    last: FxHashMap<u32, u32>,
    /// Context the records at hand belong to.
    pub(crate) context: u32,
    /// The records at hand are held back as this piece.
    pub(crate) holding: Option<Piece>,
    held: BTreeMap<Piece, Vec<Record>>,
}

impl Streams {
    /// Number of the chunk that comes next in a stream.
    pub(crate) fn next_chunk(&self, stream: u32) -> u64 {
        self.next_chunk.get(&stream).copied().unwrap_or(0)
    }

    /// Context the last records of a stream belong to.
    pub(crate) fn context_of(&self, stream: u32) -> u32 {
        if self.stream == stream {
            return self.context;
        }
        self.last.get(&stream).copied().unwrap_or(stream)
    }

    /// A chunk of the stream begins.
    pub(crate) fn begin(&mut self, stream: u32, chunk: u64) {
        self.last.insert(self.stream, self.context);
        self.stream = stream;
        self.next_chunk.insert(stream, chunk.saturating_add(1));
        self.context = stream;
        self.holding = None;
    }

    /// The context at hand has ended; where it was not the thread's own, none is at hand now.
    pub(crate) fn ended(&mut self) {
        if self.context != self.stream {
            (self.context, self.holding) = (NO_CONTEXT, None);
        }
    }

    /// Holds back a record of `piece`.
    pub(crate) fn hold(&mut self, piece: Piece, record: Record) {
        self.held.entry(piece).or_default().push(record);
    }

    /// Takes what was held back of a piece.
    pub(crate) fn release(&mut self, piece: Piece) -> Option<Vec<Record>> {
        self.held.remove(&piece)
    }

    /// Takes the first piece that is still held back.
    pub(crate) fn release_any(&mut self) -> Option<(Piece, Vec<Record>)> {
        self.held.pop_first()
    }
}

/// The piece after this one; 0 is before the first.
pub(crate) fn piece_after(piece: u32) -> u32 {
    piece % LAST_PIECE + 1
}
