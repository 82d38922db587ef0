//! What is kept of a task in the one word that the OpenMP runtime has for a tool.

use contech_trace::event::piece_after;

/// Context, piece and flags of a task. Zero is a task of which nothing is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

const PIECE_SHIFT: u32 = 32;
const PIECE_MASK: u64 = (1 << 20) - 1;

impl Word {
    /// The recorder has written the word.
    pub(super) const VALID: u64 = 1 << 53;
    /// The task is the implicit task of the thread that met the region.
    pub(super) const PRIMARY: u64 = 1 << 54;
    /// The task may go on in another thread.
    pub(super) const UNTIED: u64 = 1 << 55;
    /// The tasks that the task generates are undeferred.
    pub(super) const FINAL: u64 = 1 << 56;
    /// The task has generated tasks since its last barrier.
    pub(super) const GENERATED: u64 = 1 << 57;
    /// The task waits. Other tasks may run in its thread until it goes on.
    pub(super) const WAITS: u64 = 1 << 58;
    /// The task's context has ended. The word names the context that the thread returns to, if any.
    pub(super) const ENDED: u64 = 1 << 59;
    /// The task has begun to run.
    pub(super) const STARTED: u64 = 1 << 60;
    /// The generating task waits for the task.
    pub(super) const UNDEFERRED: u64 = 1 << 61;
    /// The low 48 bits are the address of a [`super::node::Node`], which has the task's actual
    /// word.
    pub(super) const NODE: u64 = 1 << 62;
    const CONTEXT: u64 = u32::MAX as u64;

    pub(super) fn new(context: u32, flags: u64) -> Self {
        Word(u64::from(context) | flags | Self::VALID)
    }

    pub(super) fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    pub(super) fn context(self) -> u32 {
        // Only the low 32 bits are left, which always fit.
        u32::try_from(self.0 & Self::CONTEXT).unwrap_or(u32::MAX)
    }

    pub(super) fn piece(self) -> u32 {
        // Only 20 bits are left, which always fit.
        u32::try_from(self.0 >> PIECE_SHIFT & PIECE_MASK).unwrap_or(0)
    }

    /// The word of the same task when it is about to run: an untied task begins its next piece.
    pub(super) fn next_piece(self) -> Self {
        if !self.has(Self::UNTIED) {
            return self;
        }
        let piece = u64::from(piece_after(self.piece()));
        Word(self.0 & !(PIECE_MASK << PIECE_SHIFT) | piece << PIECE_SHIFT)
    }

    pub(super) fn with(self, flag: u64) -> Self {
        Word(self.0 | flag)
    }

    pub(super) fn without(self, flag: u64) -> Self {
        Word(self.0 & !flag)
    }
}
