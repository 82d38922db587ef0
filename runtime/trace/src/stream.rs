//! A chunk of a context's stream, which is parsed backwards from its end and used forwards.

use crate::abi::ID_BYTES;
use crate::event::Event;
use crate::ids::{Id, IdMap};
use crate::{Error, Result};
use contech_program::MemOp;

/// One record of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Where the record's operands or fields start in the payload.
    pub offset: u32,
    /// What the record is.
    pub what: What,
}

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// An execution of the block with this dense index.
    Block(u32),
    /// A runtime event with this id.
    Event(u32),
}

/// Fills `records` with the chunk's records in program order.
///
/// On an error, `records` holds what is complete *after* the fault, because the parse runs
/// backwards. The error says where the fault is.
///
/// # Errors
/// [`Error::Invalid`] at an id that belongs to no module, [`Error::Truncated`] at a record that
/// would start before the chunk.
pub fn scan(payload: &[u8], ids: &IdMap, records: &mut Vec<Record>) -> Result<()> {
    records.clear();
    let mut end = payload.len();
    let mut hint = 0;
    let mut outcome = Ok(());
    while end > 0 {
        match step(payload, ids, end, &mut hint) {
            Ok(record) => {
                records.push(record);
                end = record.offset as usize;
            }
            Err(e) => {
                outcome = Err(e);
                break;
            }
        }
    }
    records.reverse();
    outcome
}

#[inline]
fn step(payload: &[u8], ids: &IdMap, end: usize, hint: &mut usize) -> Result<Record> {
    let short = |need: usize| Error::Truncated {
        what: "record",
        offset: 0,
        need: need as u64,
        have: end as u64,
    };
    let at = end.checked_sub(ID_BYTES).ok_or_else(|| short(ID_BYTES))?;
    let id = u32::from_le_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]]);
    let (what, bytes) = match ids.get(id, hint) {
        Some(Id::Block(block, bytes)) => (What::Block(block), bytes),
        Some(Id::Event(id, bytes)) => (What::Event(id), bytes),
        None => {
            return Err(Error::Invalid {
                what: "record id",
                offset: at as u64,
                detail: format!("{id:#x} belongs to no module of this trace"),
            });
        }
    };
    let offset = at.checked_sub(bytes).ok_or_else(|| short(bytes + ID_BYTES))?;
    let offset = u32::try_from(offset).map_err(|_| short(bytes))?;
    Ok(Record { offset, what })
}

/// The event of a record of kind [`What::Event`].
///
/// # Errors
/// Those of [`Event::decode`].
pub fn event(payload: &[u8], offset: u32, id: u32) -> Result<Event> {
    let at = offset as usize;
    let fields = crate::event::field_bytes(id)
        .and_then(|n| payload.get(at..at + n))
        .ok_or(Error::Truncated { what: "event", offset: u64::from(offset), need: 0, have: 0 })?;
    Event::decode(id, fields)
}

/// Reads the low 48 bits of a little-endian value at `at`.
#[inline]
#[must_use]
pub fn u48(payload: &[u8], at: usize) -> u64 {
    if let Some(b) = payload.get(at..at + 8) {
        let mut v = [0; 8];
        v.copy_from_slice(b);
        return u64::from_le_bytes(v) & 0xffff_ffff_ffff;
    }
    payload[at.min(payload.len())..]
        .iter()
        .take(6)
        .enumerate()
        .fold(0, |v, (i, b)| v | u64::from(*b) << (8 * i))
}

/// Appends the operands of one block execution to `out`, in program order. Addresses and lengths
/// are zero-extended from 48 bits; masks are whole.
pub fn operands(payload: &[u8], offset: u32, ops: &[MemOp], out: &mut Vec<u64>) {
    let mut at = offset as usize;
    for op in ops {
        op.for_each_width(|width| {
            let value = if width == 6 {
                u48(payload, at)
            } else {
                u48(payload, at) | (u48(payload, at + 6) & 0xffff) << 48
            };
            out.push(value);
            at += width;
        });
    }
}
