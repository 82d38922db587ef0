//! The frame index (`FIDX`): what each frame holds, so that whole ones can be passed over.

use crate::codec::MAX_PAGE;
use crate::error::{Result, malformed};
use crate::frame::{Counts, EncodedFrame};
use crate::page::{pack_page, unpack};
use crate::record::FrameRef;
use crate::unit::Tag;
use crate::wire::{Reader, put_varint};

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameEntry {
    at: u64,
    pub(crate) records: u32,
    pub(crate) actions: u64,
    pub(crate) accesses: u64,
}

/// Collects the entries of a file being written: about ten bytes for each frame.
#[derive(Debug, Default)]
pub(crate) struct FrameIndexWriter {
    raw: Vec<u8>,
    last: u64,
}

impl FrameIndexWriter {
    pub(crate) fn push(&mut self, at: FrameRef, frame: &EncodedFrame) {
        let Counts {
            blocks,
            reads,
            writes,
            others,
            ..
        } = frame.counts;
        put_varint(&mut self.raw, at.0 - self.last);
        self.last = at.0;
        put_varint(&mut self.raw, frame.record_count().into());
        put_varint(&mut self.raw, blocks.saturating_add(others));
        put_varint(&mut self.raw, reads.saturating_add(writes));
    }

    /// The payload of the section; `None` when it is empty or too long.
    pub(crate) fn finish(&self) -> Result<Option<Vec<u8>>> {
        if self.raw.is_empty() || self.raw.len() > MAX_PAGE {
            return Ok(None);
        }
        pack_page(&self.raw).map(Some)
    }
}

/// The entries by the places of their frames.
#[derive(Debug, Default)]
pub(crate) struct FrameIndex(Vec<FrameEntry>);

impl FrameIndex {
    pub(crate) fn decode(payload: &[u8]) -> Result<Self> {
        let what = Tag::FrameIndex.name();
        let raw = unpack(what, payload, MAX_PAGE)?;
        let mut r = Reader::new(what, &raw);
        let (mut entries, mut at) = (Vec::new(), 0u64);
        while r.remaining() > 0 {
            let step = r.varint()?;
            at = at.saturating_add(step);
            if step == 0 {
                return Err(malformed(what, format!("two frames at byte {at}")));
            }
            entries.push(FrameEntry {
                at,
                records: r.varint32()?,
                actions: r.varint()?,
                accesses: r.varint()?,
            });
        }
        Ok(Self(entries))
    }

    /// Frames and accesses.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let accesses = self.0.iter().map(|e| e.accesses);
        (self.0.len() as u64, accesses.fold(0, u64::wrapping_add))
    }

    pub(crate) fn get(&self, frame: FrameRef) -> Option<FrameEntry> {
        let found = self.0.binary_search_by_key(&frame.0, |e| e.at);
        found.ok().map(|i| self.0[i])
    }
}
