//! Progress: how far the executors had come at some moments, and what the kernel said of their time
//! so far. In a file the table has fixed-size records, which are read in place.

use crate::error::Result;
use crate::id::ExecutorId;
use crate::record::FrameRef;
use crate::wire;

/// How far an executor had come at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The executor.
    pub executor: ExecutorId,
    /// The moment, nanoseconds since the start of the run.
    pub at_ns: u64,
    /// How long the executor had run since its start, nanoseconds. Waits and other programs are no
    /// part of it.
    pub ran_ns: u64,
    /// How long of that it had run in the kernel, nanoseconds.
    pub system_ns: u64,
    /// How many pages the kernel had had to give it since its start.
    pub faults: u64,
    /// How many of them were for the recording itself.
    pub own_faults: u64,
    /// The number of the processor that it was on; 65535 if that is not known.
    pub processor: u32,
    /// The frame that it was recording; the default if that is not known.
    pub frame: FrameRef,
    /// How many records of the frame came before.
    pub record: u32,
}

/// Bytes of a record: executor `u32`, record `u32`, six `u64`, processor `u32` and zeros.
const RECORD: usize = 64;

pub(crate) fn encode(all: &[Progress]) -> Vec<u8> {
    let mut table = Vec::with_capacity(all.len() * RECORD);
    for one in all {
        table.extend_from_slice(&one.executor.get().to_le_bytes());
        table.extend_from_slice(&one.record.to_le_bytes());
        let counted = [one.at_ns, one.ran_ns, one.system_ns, one.faults];
        for word in counted.into_iter().chain([one.frame.0, one.own_faults]) {
            table.extend_from_slice(&word.to_le_bytes());
        }
        table.extend_from_slice(&u64::from(one.processor).to_le_bytes());
    }
    table
}

/// The records of a table.
pub(crate) fn all(table: &[u8]) -> Result<impl Iterator<Item = Progress> + '_> {
    let records = wire::records::<RECORD>("progress table", table)?;
    Ok(records.iter().map(|record| {
        let half = |at: usize| record[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        let word = |at: usize| record[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        Progress {
            executor: ExecutorId::new(half(0)),
            record: half(4),
            at_ns: word(8),
            ran_ns: word(16),
            system_ns: word(24),
            faults: word(32),
            frame: FrameRef(word(40)),
            own_faults: word(48),
            processor: half(56),
        }
    }))
}
