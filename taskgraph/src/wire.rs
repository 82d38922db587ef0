//! Reads the untrusted bytes of a graph.

pub(crate) use contech_program::wire::{put_bytes, put_delta, put_varint, unzigzag, zigzag};

/// A reader whose errors are this crate's.
pub(crate) type Reader<'a> = contech_program::wire::Reader<'a, crate::Error>;
