//! The one error type of the crate. An error says what was read, where, what was expected, and what
//! to do.

/// Why bytes could not be read as a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file has no bytes at all.
    #[error("the trace is empty: was the program stopped before it recorded anything?")]
    Empty,
    /// The first bytes are not those of a trace.
    #[error("not a Contech trace: {hint}")]
    Foreign {
        /// What the file looks like instead.
        hint: String,
    },
    /// The trace was written by another version of the format.
    #[error(
        "trace format version {got}, but this program reads version {expected}: record the program again, built with contech-cc of this release, or use the contech-middle that came with the runtime that recorded it"
    )]
    Version {
        /// Version in the file.
        got: u32,
        /// Version this crate reads.
        expected: u32,
    },
    /// Written on a machine of the other byte order.
    #[error("the trace was written on a machine of the other byte order")]
    ByteOrder,
    /// The bytes end in the middle of an item.
    #[error("truncated: {what} at byte {offset} needs {need} bytes, {have} are there")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where the item starts, in bytes from the start of what was read.
        offset: u64,
        /// Number of bytes that the item needs.
        need: u64,
        /// Number of bytes that are there.
        have: u64,
    },
    /// A checksum does not match.
    #[error("damaged: checksum of {what} at byte {offset} is {got:#x}, expected {expected:#x}")]
    Checksum {
        /// What was being read.
        what: &'static str,
        /// Where the item starts.
        offset: u64,
        /// Checksum of the bytes found.
        got: u64,
        /// Checksum written beside them.
        expected: u64,
    },
    /// A value is one that no writer produces.
    #[error("damaged: {what} at byte {offset}: {detail}")]
    Invalid {
        /// What was being read.
        what: &'static str,
        /// Where the value is.
        offset: u64,
        /// The value and what was expected.
        detail: String,
    },
}

impl From<contech_program::wire::Malformed> for Error {
    fn from(m: contech_program::wire::Malformed) -> Self {
        Error::Invalid { what: m.what, offset: 0, detail: m.detail }
    }
}

pub type Result<T> = std::result::Result<T, Error>;
