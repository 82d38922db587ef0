//! Turns a context's chunks into records. Records are found backwards, from their ends, and given
//! out forwards.

use self::known::Follower;
use self::resume::{Resume, Suspended};
use crate::Error;
use crate::program::{Meaning, Program};

mod known;
mod parse;
mod resume;

pub use known::Known;
pub(super) use resume::{next, start};

/// Decoder of one context's stream. It must be given the context's chunks in order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Function (dense index) and node at which the next segment must start, unless it is fresh.
    pub(super) expected: Option<Resume>,
    pub(super) follower: Follower,
    /// The stream has no blocks here, so what looks like one means nothing.
    pub(super) off: bool,
    /// The thread is in a library, so what looks like a block belongs to no context.
    pub(super) nowhere: bool,
    /// The stream had no blocks before, so functions may go on whose beginning is not known.
    pub(super) gapped: bool,
    /// Functions that a signal handler has cut. The handler's records stand between their segments.
    suspended: Vec<Suspended>,
    pub(super) records: Vec<Located>,
    pub(super) counts: Vec<u64>,
    pub(super) operands: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Located {
    offset: u32,
    pub(super) id: u32,
    /// Dense number of the segment's path, or [`NO_PATH`] if the record is not a segment.
    pub(super) number: u32,
    /// Number of such segments that follow each other, all of the same length.
    pub(super) times: u32,
}

const NO_PATH: u32 = u32::MAX;

impl Located {
    /// Where the record's operands begin.
    pub(super) fn offset(&self) -> usize {
        self.offset as usize
    }
}

impl Decoder {
    /// Forgets what is known, for example after lost chunks. Segments that need it become errors.
    pub fn forget(&mut self) {
        self.expected = None;
        self.suspended.clear();
        self.follower.forget();
    }

    /// Whether what looks like a block is none.
    pub(super) fn is_off(&self) -> bool {
        self.off || self.nowhere
    }

    /// Takes note of whether the stream has blocks from here on.
    pub(super) fn switch(&mut self, recorded: bool) {
        self.forget();
        self.gapped |= self.off;
        self.off = !recorded;
    }

    /// Whether the bytes are complete records of instrumented code, whatever came before them.
    /// Events do not count as such.
    pub fn is_code(&mut self, payload: &[u8], program: &Program) -> bool {
        let is_event = |found: &Located| {
            found.number == NO_PATH
                && matches!(program.meaning(found.id), Some(Meaning::Event { .. }))
        };
        self.parse(payload, program).is_ok() && !self.records.iter().any(is_event)
    }

    /// Exchanges working memory with `other`, but not what is known of the streams. A thread that
    /// decodes many contexts in turn needs working memory once, not once for each context.
    pub fn swap_buffers(&mut self, other: &mut Decoder) {
        std::mem::swap(&mut self.records, &mut other.records);
        std::mem::swap(&mut self.counts, &mut other.counts);
        std::mem::swap(&mut self.operands, &mut other.operands);
    }
}

fn short(have: usize, need: usize) -> Error {
    Error::Truncated { what: "record", offset: 0, need: need as u64, have: have as u64 }
}
