//! A graph may have all tasks, but only a sample of the code that they execute. The table of the
//! sample says what each frame has of it. Its records have a fixed size.

use crate::error::{Result, malformed};
use crate::record::FrameRef;
use crate::wire;

/// Blocks after an event that every sample has. So what a task executes is known if it has fewer
/// blocks.
pub const AFTER_EVENT: u32 = 256;
/// The object of a [`SyncOp::Delay`](crate::SyncOp::Delay) that stands for what a sample leaves out:
/// all contexts are in such pauses at the same times.
pub const LEFT_OUT: u64 = 1;

/// Which code a frame of a sample has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeOf {
    /// Code that comes right after an event ([`AFTER_EVENT`]) or right before a synchronisation,
    /// and that is not drawn.
    #[default]
    Events,
    /// Code that was drawn. It stands for [`CodeSample::every`] times as much.
    Drawn,
    /// Code that comes right after a moment at which the graph says how far the executor had come.
    /// Every sample has it, so it stands for itself.
    Positions,
}

/// What a graph has of the code of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSample {
    /// One part of the code in so many was drawn.
    pub every: u32,
    /// The frames that have more than code beside events, in ascending order.
    pub frames: Vec<(FrameRef, CodeOf)>,
}

const WHAT: &str = "code sample";

/// Bytes of the head, `every`, and of a record: frame `u64`, and code `u32`, 1 for
/// [`CodeOf::Drawn`] and 2 for [`CodeOf::Positions`].
const HEAD: usize = 4;
const RECORD: usize = 12;

impl CodeSample {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut table = Vec::with_capacity(HEAD + RECORD * self.frames.len());
        table.extend_from_slice(&self.every.to_le_bytes());
        for (frame, code) in &self.frames {
            table.extend_from_slice(&frame.0.to_le_bytes());
            table.extend_from_slice(&(*code as u32).to_le_bytes());
        }
        table
    }

    pub(crate) fn decode(table: &[u8]) -> Result<Self> {
        let damaged = |what: String| malformed(WHAT, what);
        let Some((every, records)) = table.split_first_chunk::<HEAD>() else {
            return Err(damaged(format!("{} bytes are no table", table.len())));
        };
        let records = wire::records(WHAT, records)?;
        let frame = |record: &[u8; RECORD]| {
            let [frame, code] = [&record[..8], &record[8..]];
            let code = match code {
                [1, 0, 0, 0] => CodeOf::Drawn,
                [2, 0, 0, 0] => CodeOf::Positions,
                _ => return Err(damaged(format!("no code is {code:?}"))),
            };
            let frame = frame.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
            Ok((FrameRef(frame), code))
        };
        Ok(Self {
            every: u32::from_le_bytes(*every),
            frames: records.iter().map(frame).collect::<Result<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_reads_back() {
        let sample = CodeSample {
            every: 7,
            frames: vec![(FrameRef(3), CodeOf::Drawn), (FrameRef(1 << 40), CodeOf::Positions)],
        };
        let table = sample.encode();
        assert_eq!(CodeSample::decode(&table).unwrap(), sample);
        assert!(CodeSample::decode(&table[..table.len() - 1]).is_err());
        assert!(CodeSample::decode(&table[..2]).is_err());
        let unknown = [&table[..HEAD + 8], &[9, 0, 0, 0]].concat();
        assert!(CodeSample::decode(&unknown).is_err());
    }
}
