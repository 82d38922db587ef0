//! The bytes of events: ids, lengths, encoding and decoding.

use super::{AllocKind, Arrival, EndReason, Event, SyncOp};
use crate::abi::ID_BYTES;
use crate::{Error, Result};

pub(super) const SYNC: u32 = 1;
const ALLOC: u32 = 2;
pub(super) const FREE: u32 = 3;
const MAP: u32 = 4;
const UNMAP: u32 = 5;
const FRESH: u32 = 11;
const START: u32 = 6;
const END: u32 = 7;
const DELAY: u32 = 8;
const LOST: u32 = 9;
const ROI: u32 = 10;
/// Id of [`Event::Time`], which the runtime also writes without [`Event::encode`].
pub const TIME: u32 = 12;
const SWITCH: u32 = 16;

/// Longest encoded event in bytes.
pub const MAX_EVENT: usize = 5 * 6 + 2 + ID_BYTES;

/// Bytes of the fields of the event with this id, without the id itself; `None` if no event has it.
#[must_use]
pub fn field_bytes(id: u32) -> Option<usize> {
    Some(match id {
        SYNC => 5 * 6 + 2,
        ALLOC => 2 * 6 + 1,
        FREE | LOST => 6,
        MAP | UNMAP | FRESH | DELAY | TIME => 2 * 6,
        START => 3 * 4 + 1 + 6,
        END | ROI => 6 + 1,
        SWITCH => 2 * 4 + 6 + 1,
        _ => return None,
    })
}

struct Out<'a> {
    buf: &'a mut [u8; MAX_EVENT],
    len: usize,
}

impl Out<'_> {
    fn bytes(&mut self, b: &[u8]) -> &mut Self {
        self.buf[self.len..self.len + b.len()].copy_from_slice(b);
        self.len += b.len();
        self
    }
    fn u48(&mut self, v: u64) -> &mut Self {
        self.bytes(&v.to_le_bytes()[..6])
    }
    fn u32(&mut self, v: u32) -> &mut Self {
        self.bytes(&v.to_le_bytes())
    }
    fn u8(&mut self, v: u8) -> &mut Self {
        self.bytes(&[v])
    }
}

impl Event {
    /// Encodes the event at the start of `buf`. Returns its length in bytes.
    pub fn encode(&self, buf: &mut [u8; MAX_EVENT]) -> usize {
        let mut o = Out { buf, len: 0 };
        match *self {
            Event::Sync {
                op,
                object,
                ticket,
                aux,
                before,
                duration,
            } => {
                o.u48(object).u48(ticket).u48(aux).u48(before).u48(duration);
                o.u8(op as u8).u8(0).u32(SYNC);
            }
            Event::Alloc { kind, addr, size } => {
                o.u48(addr).u48(size).u8(kind as u8).u32(ALLOC);
            }
            Event::Free { addr } => {
                o.u48(addr).u32(FREE);
            }
            Event::Map { addr, size } => {
                o.u48(addr).u48(size).u32(MAP);
            }
            Event::Fresh { addr, size } => {
                o.u48(addr).u48(size).u32(FRESH);
            }
            Event::Unmap { addr, size } => {
                o.u48(addr).u48(size).u32(UNMAP);
            }
            Event::ContextStart {
                context,
                creator,
                announced,
                tid,
                at,
            } => {
                o.u32(context)
                    .u32(creator)
                    .u32(tid)
                    .u8(u8::from(announced))
                    .u48(at)
                    .u32(START);
            }
            Event::ContextEnd { reason, at } => {
                o.u48(at).u8(reason as u8).u32(END);
            }
            Event::Delay { before, duration } => {
                o.u48(before).u48(duration).u32(DELAY);
            }
            Event::Lost { bytes } => {
                o.u48(bytes).u32(LOST);
            }
            Event::Roi { begin, at } => {
                o.u48(at).u8(u8::from(begin)).u32(ROI);
            }
            Event::Time { before, taken } => {
                o.u48(before).u48(taken).u32(TIME);
            }
            Event::Switch {
                context,
                piece,
                how,
                at,
            } => {
                o.u32(context).u32(piece).u48(at).u8(how as u8).u32(SWITCH);
            }
        }
        o.len
    }

    /// Decodes the fields of the event `id`; `fields` must have exactly [`field_bytes`]`(id)` bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown id, a wrong length, or a number that no writer produces.
    pub fn decode(id: u32, fields: &[u8]) -> Result<Event> {
        let invalid = |detail: &str| Error::Invalid {
            what: "event",
            offset: 0,
            detail: format!("id {id}: {detail}"),
        };
        if field_bytes(id) != Some(fields.len()) {
            return Err(invalid("unknown event or wrong length"));
        }
        let u48 = |at: usize| {
            let mut b = [0; 8];
            b[..6].copy_from_slice(&fields[at..at + 6]);
            u64::from_le_bytes(b)
        };
        let u32_at = |at: usize| {
            let mut b = [0; 4];
            b.copy_from_slice(&fields[at..at + 4]);
            u32::from_le_bytes(b)
        };
        Ok(match id {
            SYNC => Event::Sync {
                op: SyncOp::from_u8(fields[30])
                    .filter(|op| *op != SyncOp::None)
                    .ok_or_else(|| invalid("unknown operation"))?,
                object: u48(0),
                ticket: u48(6),
                aux: u48(12),
                before: u48(18),
                duration: u48(24),
            },
            ALLOC => Event::Alloc {
                kind: AllocKind::from_u8(fields[12]).ok_or_else(|| invalid("unknown kind"))?,
                addr: u48(0),
                size: u48(6),
            },
            FREE => Event::Free { addr: u48(0) },
            MAP => Event::Map {
                addr: u48(0),
                size: u48(6),
            },
            FRESH => Event::Fresh {
                addr: u48(0),
                size: u48(6),
            },
            UNMAP => Event::Unmap {
                addr: u48(0),
                size: u48(6),
            },
            START => Event::ContextStart {
                context: u32_at(0),
                creator: u32_at(4),
                tid: u32_at(8),
                announced: fields[12] != 0,
                at: u48(13),
            },
            END => Event::ContextEnd {
                at: u48(0),
                reason: EndReason::from_u8(fields[6]).ok_or_else(|| invalid("unknown reason"))?,
            },
            DELAY => Event::Delay {
                before: u48(0),
                duration: u48(6),
            },
            TIME => Event::Time {
                before: u48(0),
                taken: u48(6),
            },
            LOST => Event::Lost { bytes: u48(0) },
            SWITCH => Event::Switch {
                context: u32_at(0),
                piece: u32_at(4),
                at: u48(8),
                how: Arrival::from_u8(fields[14]).ok_or_else(|| invalid("unknown arrival"))?,
            },
            _ => Event::Roi {
                begin: fields[6] != 0,
                at: u48(0),
            },
        })
    }
}
