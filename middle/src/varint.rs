//! The encoding of numbers in the temporary file.

pub(crate) use contech_program::wire::put_varint as put;
use contech_program::wire::{Malformed, Reader};

use crate::error::{Error, Result};

/// Reads a number at `*at` and moves `at` past it. Most numbers have one byte.
#[inline]
pub(crate) fn get(bytes: &[u8], at: &mut usize) -> Result<u64> {
    match bytes.get(*at) {
        Some(&byte) if byte < 0x80 => {
            *at += 1;
            Ok(byte.into())
        }
        _ => get_long(bytes, at),
    }
}

fn get_long(bytes: &[u8], at: &mut usize) -> Result<u64> {
    let rest = bytes.get(*at..).unwrap_or_default();
    let mut reader = Reader::<Malformed>::new("temporary file", rest);
    let value = reader.varint().map_err(|_| short())?;
    *at += rest.len() - reader.remaining();
    Ok(value)
}

pub(crate) fn get32(bytes: &[u8], at: &mut usize) -> Result<u32> {
    u32::try_from(get(bytes, at)?).map_err(|_| short())
}

#[cold]
fn short() -> Error {
    Error::internal("a record in the temporary file is cut")
}
