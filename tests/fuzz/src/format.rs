//! What a mutation must know of a file format.

/// A piece of a file: a chunk, a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// What says what it is; its length and checksum are made again.
    pub(crate) head: Vec<u8>,
    /// As it stands in the file.
    pub(crate) stored: Vec<u8>,
    /// Where it stood, 0 for a new one.
    pub(crate) at: u64,
}

/// A file format, as mutations see it.
pub(crate) struct Format {
    /// The pieces, if the bytes are of the format that far.
    pub(crate) split: fn(&[u8]) -> Option<Vec<Piece>>,
    /// What is inside a piece, without compression, in independent parts.
    pub(crate) open: fn(&Piece) -> Option<Vec<Vec<u8>>>,
    /// What a piece with these parts stores.
    pub(crate) shut: fn(&Piece, &[Vec<u8>]) -> Vec<u8>,
    /// A file of these pieces, with checksums and offsets that fit.
    pub(crate) join: fn(&[Piece]) -> Vec<u8>,
}
