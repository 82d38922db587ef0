//! From a context's chunks to records: they are found backwards, from their ends, and given forwards.

use self::resume::{Resume, Suspended};
use super::expand::{Affine, Expander, Scratch};
use crate::event::Event;
use crate::program::{Meaning, Program};
use crate::{Error, Result};

mod parse;
mod resume;

pub(super) use resume::next;

/// Takes what the decoder produces, in program order.
pub trait Sink {
    /// One block execution with the operands of its operations, as the naive form records them.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// One runtime event.
    fn event(&mut self, event: Event);
    /// The iterations of an affine loop at once; unless overridden, expands them into blocks.
    fn affine(&mut self, run: &Affine<'_>, scratch: &mut Vec<u64>) {
        run.expand(scratch, |block, operands| self.block(block, operands));
    }
}

/// Decoder of one context's stream: give it the context's chunks in order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Function (dense index) and node the next segment must start at, unless it is fresh.
    pub(super) expected: Option<Resume>,
    pub(super) slots: Vec<u64>,
    pub(super) iterations: Vec<u64>,
    /// Functions cut by a signal handler, whose records stand between their segments.
    suspended: Vec<Suspended>,
    pub(super) records: Vec<Found>,
    pub(super) counts: Vec<u64>,
    pub(super) operands: Vec<u64>,
    scratch: Scratch,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    offset: u32,
    pub(super) id: u32,
    /// Dense number of its path, [`NO_PATH`] if it is none.
    pub(super) number: u32,
}

const NO_PATH: u32 = u32::MAX;

impl Found {
    /// Where its operands begin.
    pub(super) fn offset(&self) -> usize {
        self.offset as usize
    }
}

impl Decoder {
    /// Forgets what is known, as after lost chunks: segments that need it become errors.
    pub fn forget(&mut self) {
        self.expected = None;
        self.suspended.clear();
    }

    /// Whether the bytes are whole records of instrumented code, whatever came before them; events are none.
    pub fn is_code(&mut self, payload: &[u8], program: &Program) -> bool {
        let is_event = |found: &Found| {
            found.number == NO_PATH
                && matches!(program.meaning(found.id), Some(Meaning::Event { .. }))
        };
        self.parse(payload, program).is_ok() && !self.records.iter().any(is_event)
    }

    /// Exchanges working memory with `other`, not what is known of the streams: a thread that decodes
    /// many contexts in turn needs it once, not once per context.
    pub fn swap_buffers(&mut self, other: &mut Decoder) {
        std::mem::swap(&mut self.records, &mut other.records);
        std::mem::swap(&mut self.counts, &mut other.counts);
        std::mem::swap(&mut self.operands, &mut other.operands);
        std::mem::swap(&mut self.scratch, &mut other.scratch);
    }

    /// Decodes one chunk into `sink`.
    ///
    /// # Errors
    /// At the first record that no writer produces here; what came before it in the chunk has been
    /// given to `sink` only as far as it is whole *and* after the last unreadable id, as the parse
    /// runs backwards.
    pub fn chunk(&mut self, payload: &[u8], program: &Program, sink: &mut impl Sink) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut expander = Expander {
            program,
            sink,
            scratch: &mut scratch,
        };
        let decoded = self.segments(payload, program, &mut expander);
        self.scratch = scratch;
        decoded
    }
}

fn short(have: usize, need: usize) -> Error {
    Error::Truncated {
        what: "record",
        offset: 0,
        need: need as u64,
        have: have as u64,
    }
}
