//! Decodes the other actions of a frame.

use crate::action::Action;
use crate::error::Result;
use crate::frame::{WHAT, other};
use crate::wire::Reader;
use contech_program::{AllocKind, SyncOp};

pub(super) fn decode(bytes: &[u8], out: &mut Vec<Action<'static>>) -> Result<()> {
    let mut r = Reader::new(WHAT, bytes);
    let mut addr = 0;
    while r.remaining() > 0 {
        let what = r.u8()?;
        addr = r.delta(addr)?;
        let mut size = || r.varint();
        out.push(match what {
            other::FREE => Action::Free { addr },
            other::MAP => Action::Map { addr, size: size()? },
            other::FRESH => Action::Fresh { addr, size: size()? },
            other::UNMAP => Action::Unmap { addr, size: size()? },
            other::SYNC => {
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
