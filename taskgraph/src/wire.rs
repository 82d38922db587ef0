//! Reads the untrusted bytes of a graph.

use crate::error::{Result, malformed};

pub(crate) use contech_program::wire::{put_bytes, put_delta, put_varint, unzigzag, zigzag};

/// A reader whose errors are this crate's.
pub(crate) type Reader<'a> = contech_program::wire::Reader<'a, crate::Error>;

/// The records of a table whose records have a fixed size.
pub(crate) fn records<'a, const N: usize>(
    what: &'static str,
    table: &'a [u8],
) -> Result<&'a [[u8; N]]> {
    match table.as_chunks() {
        (records, []) => Ok(records),
        (_, rest) => Err(malformed(what, format!("{} bytes after its last record", rest.len()))),
    }
}
