//! The head of a frame, and what explicit codes of its id column stand for.

use crate::error::Result;
use crate::frame::COLUMNS;
use crate::wire::Reader;

/// The lengths at the start of a frame.
pub(in crate::frame) struct Lengths {
    pub(in crate::frame) records: usize,
    /// Raw and packed.
    pub(in crate::frame) columns: [(usize, usize); COLUMNS],
    /// As it is, after the packed columns.
    pub(in crate::frame) state: usize,
}

impl Lengths {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut next = || r.varint32().map(|n| n as usize);
        let records = next()?;
        let mut columns = [(0, 0); COLUMNS];
        for column in &mut columns {
            *column = (next()?, next()?);
        }
        Ok(Self {
            records,
            columns,
            state: next()?,
        })
    }

    pub(super) fn values(&self) -> usize {
        self.columns[1].0
    }
}

/// What an explicit code of the id column stands for.
pub(in crate::frame) enum Named {
    Block(u32),
    /// By its number in the file.
    Path(u32),
}

pub(super) fn named(code: u64) -> Named {
    let number = u32::try_from(code >> 1).unwrap_or(u32::MAX);
    if code & 1 == 0 {
        Named::Block(number)
    } else {
        Named::Path(number)
    }
}
