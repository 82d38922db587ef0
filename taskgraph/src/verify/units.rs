//! Checks the units of the file, one after the other, and the actions that their frames hold.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Verified, fault};
use crate::error::Result;
use crate::graph::TaskGraph;
use crate::unit::{FILE_HEADER, TRAILER, Tag, Unit};
use crate::wire::Reader;

/// A sum over ranges of actions. Ranges that follow one another add up to the range from the first
/// start to the last end, so that gaps and overlaps show without a table of all spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) actions: u64,
    sum: u64,
}

impl Coverage {
    pub(super) fn add(&mut self, frame: u64, first: u64, actions: u64) {
        let bound = |at: u64| xxh3_64_with_seed(&frame.to_le_bytes(), at);
        self.actions = self.actions.wrapping_add(actions);
        let range = bound(first.wrapping_add(actions)).wrapping_sub(bound(first));
        self.sum = self.sum.wrapping_add(range);
    }
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Checks all units, one after the other.
    pub(super) fn check_units(&self, seen: &mut Verified) -> Result<Coverage> {
        let mut stored = Coverage::default();
        let mut at = FILE_HEADER as u64;
        while at < self.footer {
            let unit = Unit::at(self.bytes(), at, "unit")?;
            unit.check()?;
            if unit.tag == Tag::Frame {
                let records = Reader::new("frame", unit.payload).varint32()?;
                stored.add(at, 0, u64::from(records));
                seen.frames += 1;
            }
            at = unit.end();
        }
        let footer = Unit::at(self.bytes(), self.footer, Tag::Footer.name())?;
        let end = (self.bytes().len() - TRAILER) as u64;
        if at != self.footer || footer.end() != end {
            return Err(fault("footer", format!("at byte {}, the units end at {at}", self.footer)));
        }
        Ok(stored)
    }
}
