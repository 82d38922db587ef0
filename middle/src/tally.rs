//! Compares what the end of a trace claims was recorded with what the trace holds.

use contech_trace::event::{Arrival, Event};
use contech_trace::file::Totals;

use crate::encode::EncodedChunk;

/// Counts of what one trace holds.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    bytes: u64,
    contexts: u64,
    syncs: u64,
}

impl Tally {
    /// Counts the next chunk, or the next part of one.
    pub(crate) fn add(&mut self, chunk: &EncodedChunk) {
        if !chunk.continued {
            self.bytes += u64::from(chunk.raw_len);
        }
        for event in chunk.events() {
            match event {
                Event::ContextStart { .. } | Event::Switch { how: Arrival::Begins, .. } => {
                    self.contexts += 1
                }
                Event::Sync { .. } | Event::Untimed { .. } => self.syncs += 1,
                _ => {}
            }
        }
    }

    /// What is missing although the totals claim it. Threads that still ran when the trace ended
    /// may have recorded more than the totals say, but never less. The number of bytes is exactly
    /// that of the totals.
    pub(crate) fn missing(&self, totals: &Totals) -> Option<String> {
        let claims = [
            ("bytes of records", totals.bytes, self.bytes, totals.bytes != self.bytes),
            ("contexts", totals.contexts, self.contexts, totals.contexts > self.contexts),
            ("sync events", totals.syncs, self.syncs, totals.syncs > self.syncs),
        ];
        let (what, claimed, seen, _) = claims.into_iter().find(|(.., wrong)| *wrong)?;
        Some(format!("{claimed} {what}, of which {seen} are there"))
    }
}
