//! LEB128 numbers in the temporary file.

use crate::error::{Error, Result};

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Reads a number at `*at` and moves past it.
#[inline]
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or_else(short)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(short())
}

pub(crate) fn get32(bytes: &[u8], at: &mut usize) -> Result<u32> {
    u32::try_from(get(bytes, at)?).map_err(|_| short())
}

#[cold]
fn short() -> Error {
    Error::internal("a record in the temporary file is cut")
}
