//! Frames: independently compressed runs of actions. (Being written: signatures first.)
use std::sync::Arc;

use crate::action::AllocKind;
use crate::id::BlockId;
use crate::statics::StaticInfo;

/// Totals of the actions put into an encoder, for the fields of a `TaskRecord` (take the difference at task bounds).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Block executions.
    pub blocks: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// A finished frame, ready for `GraphWriter::put_frame`.
#[derive(Debug)]
pub struct EncodedFrame {
    pub(crate) bytes: Vec<u8>,
}

/// Encodes actions into frames. One per unit of work; independent of all others.
#[derive(Debug)]
pub struct FrameEncoder {
    info: Arc<StaticInfo>,
}

impl FrameEncoder {
    /// An encoder for a program.
    #[must_use]
    pub fn new(info: Arc<StaticInfo>) -> Self {
        Self { info }
    }

    /// An empty encoder for the same program; cheaper than `new`, the block layout is shared.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self {
            info: Arc::clone(&self.info),
        }
    }

    /// Appends the execution of a block. `operands` are those of all its operations, `StaticInfo::operand_count` many.
    pub fn block(&mut self, _id: BlockId, _operands: &[u64]) {}

    /// Appends an allocation.
    pub fn alloc(&mut self, _addr: u64, _size: u64, _kind: AllocKind) {}

    /// Appends a free.
    pub fn free(&mut self, _addr: u64) {}

    /// Appends a mapping.
    pub fn map(&mut self, _addr: u64, _size: u64) {}

    /// Appends an unmapping.
    pub fn unmap(&mut self, _addr: u64, _size: u64) {}

    /// Actions in the frame so far (0 after `finish`).
    #[must_use]
    pub fn action_count(&self) -> u32 {
        0
    }

    /// The frame has its ~64K actions or ~256 KiB: call `finish`.
    #[must_use]
    pub fn is_full(&self) -> bool {
        false
    }

    /// Totals of everything appended since the encoder was made (NOT reset by `finish`).
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Ends the frame; `None` when it is empty. The encoder is ready for the next one.
    pub fn finish(&mut self) -> Option<EncodedFrame> {
        None
    }
}
