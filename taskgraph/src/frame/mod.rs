//! Frames: independently compressed runs of actions, the only place where actions are stored.
//!
//! The bytes are described in `FORMAT.md`. A frame is decoded as a whole, from no other state than the static
//! tables, so any action of a graph is reachable by decoding the one frame it is in.

mod decode;
mod encode;
mod layout;
mod predict;

pub(crate) use decode::{DecodedFrame, FrameDecoder};
pub use encode::{Counts, EncodedFrame, FrameEncoder};
pub(crate) use layout::Layout;

/// A frame with this many actions is full.
pub(crate) const FULL_ACTIONS: usize = 1 << 16;
/// A frame with this many operands (8 bytes each: 256 KiB) is full.
pub(crate) const FULL_OPERANDS: usize = 1 << 15;
/// No frame has more actions or operands than this, however large its last block.
pub(crate) const MAX_ACTIONS: usize = 1 << 20;
/// As [`MAX_ACTIONS`].
pub(crate) const MAX_OPERANDS: usize = 1 << 22;
/// Bytes of the lengths at the start of a frame.
pub(crate) const FRAME_HEADER: usize = 32;

/// Codes of the block column below the explicit block ids.
mod code {
    /// The block that followed the previous block last time.
    pub(super) const AS_LAST: u64 = 0;
    /// The block that followed it the time before the successor changed.
    pub(super) const AS_BEFORE: u64 = 1;
    /// Not a block: see the column of other actions.
    pub(super) const OTHER: u64 = 2;
    /// Block 0; the others follow.
    pub(super) const FIRST_BLOCK: u64 = 3;
}

/// Codes of the column of other actions above the allocation kinds.
mod other {
    pub(super) const FREE: u8 = 32;
    pub(super) const MAP: u8 = 33;
    pub(super) const UNMAP: u8 = 34;
}

/// Tags of the operand column.
mod tag {
    /// Tags below this are residuals themselves; tag `LONG + n` is followed by `n + 1` bytes in the data column.
    pub(super) const LONG: u8 = 248;
}
