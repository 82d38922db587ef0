#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

pub mod abi;
mod error;
pub mod event;
pub mod fast;
pub mod file;
pub mod mpi;
pub mod pack;
pub mod program;
pub mod reader;
pub mod stream;
pub mod table;

pub use error::{Error, Result};

/// Reads untrusted bytes.
pub(crate) type Reader<'a> = contech_program::wire::Reader<'a, Error>;

/// Appends numbers of variable length.
fn put<const N: usize>(out: &mut Vec<u8>, numbers: [u64; N]) {
    numbers.into_iter().for_each(|number| contech_program::wire::put_varint(out, number));
}
