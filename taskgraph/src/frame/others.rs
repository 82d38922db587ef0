//! The bytes of the other actions of a frame: those that execute no block.

use super::WHAT;
use crate::action::Action;
use crate::error::Result;
use crate::wire::{Reader, put_delta, put_varint};
use contech_program::{AllocKind, SyncOp};

/// Codes of actions above the allocation kinds.
const FREE: u8 = 32;
const MAP: u8 = 33;
const UNMAP: u8 = 34;
const FRESH: u8 = 35;
const SYNC: u8 = 36;

/// Appends an action. `last` is the address before it.
pub(super) fn encode(action: &Action<'_>, last: &mut u64, out: &mut Vec<u8>) {
    let (what, addr, size) = match *action {
        Action::Alloc { addr, size, kind } => (kind as u8, addr, Some(size)),
        Action::Free { addr } => (FREE, addr, None),
        Action::Map { addr, size } => (MAP, addr, Some(size)),
        Action::Fresh { addr, size } => (FRESH, addr, Some(size)),
        Action::Unmap { addr, size } => (UNMAP, addr, Some(size)),
        Action::Sync { op, object } => (SYNC, object, Some(op as u64)),
        Action::Block(_) => return,
    };
    out.push(what);
    put_delta(out, addr, std::mem::replace(last, addr));
    if let Some(size) = size {
        put_varint(out, size);
    }
}

pub(super) fn decode(bytes: &[u8], out: &mut Vec<Action<'static>>) -> Result<()> {
    let mut r = Reader::new(WHAT, bytes);
    let mut addr = 0;
    while r.remaining() > 0 {
        let what = r.u8()?;
        addr = r.delta(addr)?;
        let mut size = || r.varint();
        out.push(match what {
            FREE => Action::Free { addr },
            MAP => Action::Map { addr, size: size()? },
            FRESH => Action::Fresh { addr, size: size()? },
            UNMAP => Action::Unmap { addr, size: size()? },
            SYNC => {
                let number = size()?;
                let op = u8::try_from(number).ok().and_then(SyncOp::from_u8);
                Action::Sync { op: op.unwrap_or(SyncOp::Other), object: addr }
            }
            kind => match AllocKind::from_u8(kind) {
                Some(kind) => Action::Alloc { addr, size: size()?, kind },
                None => return Err(r.error(format!("action {kind} is none of this version"))),
            },
        });
    }
    Ok(())
}
