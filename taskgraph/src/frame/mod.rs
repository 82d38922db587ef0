//! Frames: independently compressed runs of actions, the only place where actions are stored.
//!
//! The bytes are described in `FORMAT.md`. A frame is decoded as a whole, from no other state than
//! the static and path tables, so any action of a graph is reachable by decoding the one frame it
//! is in.

mod count;
mod decode;
mod emission;
mod emit;
mod encode;
mod others;
mod plan;
mod play;
mod resume;
mod shape;
mod stored;
mod template;

pub use contech_program::Counts;
pub(crate) use contech_program::Layout;
pub(crate) use count::{Counting, Other};
pub(crate) use decode::{DecodedFrame, FrameDecoder};
pub(crate) use emission::Emission;
pub(crate) use emit::Emitter;
pub use encode::{EncodedFrame, FrameEncoder, Segment};
pub(crate) use plan::NONE;
pub(crate) use play::{Ends, Nests, Played, Player, Score};
pub use template::Site;
pub(crate) use template::Templates;

/// The name of a frame in errors.
const WHAT: &str = "frame";
/// A frame with this many values, or half as many records, is full.
pub(crate) const FULL_VALUES: usize = 1 << 17;
/// The same for frames whose values repeat so far apart that a larger frame takes fewer bytes.
pub(crate) const FULL_REPEATING: usize = 1 << 19;
/// No frame has more records than this.
pub(crate) const MAX_RECORDS: usize = 1 << 20;
/// No frame has more values than this, however large its last record is: a chunk of the trace can
/// be one path.
pub(crate) const MAX_VALUES: usize = 1 << 26;
/// Number of packed parts of a frame: ids, heads of columns, planes, other actions, and resumes.
pub(crate) const PARTS: usize = 5;
/// Largest number of bytes of the planes, and of each of the other parts.
pub(crate) const MAX_PART: usize = 8 * MAX_VALUES;

/// Bytes of a record's number in a frame that uses this many numbers.
fn id_bytes(numbers: usize) -> usize {
    match numbers {
        ..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 3,
    }
}
