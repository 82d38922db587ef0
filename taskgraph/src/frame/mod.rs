//! Frames: independently compressed runs of actions, the only place where actions are stored.
//!
//! The bytes are described in `FORMAT.md`. A frame is decoded as a whole, from no other state than the static and path
//! tables, so any action of a graph is reachable by decoding the one frame it is in.

mod decode;
mod encode;
mod index;
mod planes;
mod play;
mod predict;
mod v1;

pub use contech_program::Counts;
pub(crate) use contech_program::Layout;
pub(crate) use decode::{DecodedFrame, FrameDecoder};
pub use encode::{EncodedFrame, FrameEncoder, Segment};
pub(crate) use index::{FrameEntry, FrameIndex, FrameIndexWriter};
pub(crate) use play::{Played, Player, Score};

/// A frame with this many records is full.
pub(crate) const FULL_RECORDS: usize = 1 << 16;
/// A frame with this many values (8 bytes each: 256 KiB) is full.
pub(crate) const FULL_VALUES: usize = 1 << 15;
/// No frame has more records than this.
pub(crate) const MAX_RECORDS: usize = 1 << 20;
/// No frame has more values than this, however large its last record: a chunk of the trace can be one path.
pub(crate) const MAX_VALUES: usize = 1 << 26;
/// Columns of a frame: ids, tags, first bytes of long values, second bytes, the bytes after these, other actions.
pub(crate) const COLUMNS: usize = 6;

/// Codes of the id column below the explicit ones.
mod code {
    /// What followed the record before last time.
    pub(super) const AS_LAST: u64 = 0;
    /// What followed it the time before the successor changed.
    pub(super) const AS_BEFORE: u64 = 1;
    /// Neither block nor path: see the column of other actions.
    pub(super) const OTHER: u64 = 2;
    /// The first explicit one.
    pub(super) const FIRST: u64 = 3;
}

/// Codes of the column of other actions above the allocation kinds.
mod other {
    pub(super) const FREE: u8 = 32;
    pub(super) const MAP: u8 = 33;
    pub(super) const UNMAP: u8 = 34;
    pub(super) const FRESH: u8 = 35;
}

/// Tags of the values.
mod tag {
    /// Tags below this are residuals themselves; tag `LONG + n` is followed by `n + 1` bytes in the data column.
    pub(super) const LONG: u8 = 248;
}
