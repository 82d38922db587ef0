#![allow(unsafe_code, reason = "addresses make a type thread-bound without need")]
//! Levels of a thread: its program, and the signal handlers running on top of it.
//!
//! Interrupted code may hold its cursor in a register, ahead of the thread-local one. A handler
//! that recorded at the thread-local cursor would overwrite those records. So each handler records
//! into buffers of its own. These take their place in the context's stream at the next flush or
//! event of the interrupted code, and so never in the middle of one of its records.

use std::collections::VecDeque;

use contech_interpose::arch::Registers;

use crate::buffer::{Buffer, Part, Piece};

/// The most signal handlers on top of each other that are recorded. Deeper ones are counted as
/// lost.
pub(crate) const MOST: usize = 8;

/// Stack region of an alternate signal stack: lowest address, and the one after the highest.
pub(crate) type StackRange = (usize, usize);

/// The number of a level, as chunks store it.
pub(crate) fn number(depth: usize) -> u8 {
    // A depth is at most `MOST`.
    u8::try_from(depth).unwrap_or(u8::MAX)
}

/// What a level records into one of its two streams.
#[derive(Debug)]
pub(crate) struct Tape {
    /// The buffer in use, taken at the first flush.
    pub(crate) buffer: Option<Buffer>,
    /// The first byte in the buffer that is not yet handed over.
    pub(crate) begin: *mut u8,
    /// Ticks when the part from `begin` on was begun.
    pub(crate) first: u64,
    /// Cursor and limit when a handler interrupted this level, or when the last handler of this
    /// level returned. The next handler that interrupts the same code goes on there.
    pub(crate) saved: (*mut u8, *mut u8),
    /// What handlers that interrupted this level have recorded in finished buffers, in order. It is
    /// due at the level's next flush.
    pub(crate) deeper: VecDeque<Part>,
}

/// The program (level 0) or one signal handler.
#[derive(Debug)]
pub(crate) struct Level {
    /// One tape for each [`crate::lane::Lane`].
    pub(crate) tapes: [Tape; 2],
    /// Stack address at which the handler was entered.
    pub(crate) mark: usize,
    /// The handler's alternate stack, if it runs on one.
    pub(crate) stack: Option<StackRange>,
    /// Registers of the code that the handler interrupted.
    pub(crate) registers: Registers,
    /// The interrupted code waits in a system call.
    pub(crate) in_call: bool,
}

// SAFETY: the raw pointers are addresses within the tape's own buffer, which moves with it.
unsafe impl Send for Tape {}

impl Level {
    pub(crate) const fn new() -> Self {
        Level {
            tapes: [const { Tape::new() }; 2],
            mark: 0,
            stack: None,
            registers: [0; 16],
            in_call: false,
        }
    }
}

impl Tape {
    const fn new() -> Self {
        Tape {
            buffer: None,
            begin: std::ptr::null_mut(),
            first: 0,
            saved: (std::ptr::null_mut(), std::ptr::null_mut()),
            deeper: VecDeque::new(),
        }
    }

    /// Begins a buffer. Returns its first byte and its limit.
    pub(crate) fn begin(&mut self, buffer: Buffer, now: u64) -> (*mut u8, *mut u8) {
        let range = (buffer.data(), buffer.limit());
        self.begin = range.0;
        self.first = now;
        self.buffer = Some(buffer);
        range
    }

    /// Where a handler that begins records.
    pub(crate) fn resting(&self) -> (*mut u8, *mut u8) {
        match self.buffer {
            Some(_) => self.saved,
            None => (std::ptr::null_mut(), std::ptr::null_mut()),
        }
    }

    /// Keeps the buffer of a handler that returned with this cursor, so that the next one goes on
    /// in it. Returns false if that is impossible, because there is no buffer, or handlers on top
    /// of it have records of their own.
    pub(crate) fn rest(&mut self, cursor: *mut u8) -> bool {
        let held = self.buffer.as_ref().filter(|b| b.contains(cursor) && cursor >= self.begin);
        let Some(limit) = held.filter(|_| self.deeper.is_empty()).map(Buffer::limit) else {
            return false;
        };
        self.saved = (cursor, limit);
        true
    }

    /// What was recorded up to `cursor`, as a piece of the buffer; `None` if the cursor does not
    /// belong to it.
    fn piece(&self, depth: usize, cursor: *mut u8, now: u64) -> Option<Piece> {
        let buffer = self.buffer.as_ref()?;
        let whole = buffer.contains(cursor) && cursor >= self.begin;
        whole.then(|| Piece {
            start: self.begin.addr() - buffer.data().addr(),
            len: cursor.addr() - self.begin.addr(),
            first: self.first,
            last: now,
            level: number(depth),
        })
    }

    /// Takes the buffer of the level `depth` with what is recorded up to `cursor`. The second value
    /// is false if the cursor does not belong to the buffer, so that records were lost.
    pub(crate) fn take(&mut self, depth: usize, cursor: *mut u8, now: u64) -> (Option<Part>, bool) {
        let piece = self.piece(depth, cursor, now);
        match self.buffer.take() {
            Some(buffer) => (Some(buffer.into_part(piece.unwrap_or_default())), piece.is_some()),
            None => (None, cursor.is_null()),
        }
    }

    /// Begins a new piece of the same buffer at `cursor`. Returns the start of the old piece, and
    /// the old piece. Returns `None` if the cursor does not belong to the buffer.
    pub(crate) fn advance(
        &mut self,
        depth: usize,
        cursor: *mut u8,
        now: u64,
    ) -> Option<(*mut u8, Piece)> {
        let piece = self.piece(depth, cursor, now)?;
        let start = std::mem::replace(&mut self.begin, cursor);
        self.first = now;
        Some((start, piece))
    }
}
