//! What is particular to frames of version 1 (`FRAM`): blocks only, one record for every execution.
//!
//! Written until version 2 (`FRM2`) stored paths; this file is all that is left of it.

use crate::error::Result;
use crate::frame::decode::{Lengths, Named};
use crate::wire::Reader;

/// The lengths at the start of a frame.
pub(super) fn lengths(r: &mut Reader<'_>) -> Result<Lengths> {
    let mut next = || r.u32().map(|n| n as usize);
    let (records, values) = (next()?, next()?);
    let ids = (next()?, next()?);
    let tags = (values, next()?);
    let data = (next()?, next()?);
    let others = next()?;
    let packed = r.remaining().saturating_sub(ids.1 + tags.1 + data.1);
    Ok(Lengths {
        records,
        // All bytes of long values are together.
        columns: [ids, tags, (0, 0), (0, 0), data, (others, packed)],
        state: 0,
    })
}

/// What an explicit code of the id column stands for.
pub(super) fn named(code: u64) -> Named {
    Named::Block(u32::try_from(code).unwrap_or(u32::MAX))
}
