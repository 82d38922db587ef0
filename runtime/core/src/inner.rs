//! The state of a thread: what it has recorded and not yet handed over.

use crate::buffer::Buffer;
use crate::lane::Lane;
use crate::level::{Level, MOST, Tape};

/// The state of one thread. After the thread's end another one uses it again.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) status: Status,
    /// The context's start is recorded.
    pub(crate) introduced: bool,
    /// Number of the context's next chunk, by stream.
    pub(crate) seq: [u64; 2],
    /// Number of signal handlers that run.
    pub(crate) depth: usize,
    pub(crate) levels: [Level; MOST + 1],
    /// Memory that the thread writes to, by stream, while nothing is recorded.
    pub(crate) scratch: [Option<Buffer>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The thread has recorded nothing yet.
    Fresh,
    /// The thread records.
    Live,
    /// What the thread records is not kept any more, because its context has ended, by itself or
    /// with the trace.
    Ended,
}

impl Default for Inner {
    fn default() -> Self {
        Inner {
            status: Status::Fresh,
            introduced: false,
            seq: [0; 2],
            depth: 0,
            levels: [const { Level::new() }; MOST + 1],
            scratch: [const { None }; 2],
        }
    }
}

impl Inner {
    /// Takes the number of a stream's next chunk.
    pub(crate) fn next_seq(&mut self, lane: Lane) -> u64 {
        let next = &mut self.seq[lane as usize];
        *next += 1;
        *next - 1
    }

    pub(crate) fn tape(&mut self, depth: usize, lane: Lane) -> &mut Tape {
        &mut self.levels[depth].tapes[lane as usize]
    }

    /// The end of a level's records: the thread's `cursor` for the topmost level, otherwise the
    /// place where the next handler interrupted the level.
    pub(crate) fn end_of(&self, depth: usize, lane: Lane, cursor: *mut u8) -> *mut u8 {
        if depth == self.depth { cursor } else { self.levels[depth].tapes[lane as usize].saved.0 }
    }
}
