//! Reading the untrusted bytes of a graph.

pub(crate) use contech_program::wire::{put_bytes, put_delta, put_varint, unzigzag, zigzag};

/// Reads bytes; says in this crate's error what is wrong with them.
pub(crate) type Reader<'a> = contech_program::wire::Reader<'a, crate::Error>;
