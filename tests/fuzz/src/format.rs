//! What a mutation must know of a file format.

/// A piece of a file, such as a chunk or a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The part of the header that tells the kind of piece. Length and checksum are computed again.
    pub(crate) head: Vec<u8>,
    /// The contents as stored in the file.
    pub(crate) stored: Vec<u8>,
    /// The piece's old offset in the file; 0 for a new piece.
    pub(crate) at: u64,
}

/// A file format, as mutations see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Splits a file into its pieces; `None` if the bytes are not of the format.
    pub(crate) split: fn(&[u8]) -> Option<Vec<Piece>>,
    /// The contents of a piece, without compression, in independent parts.
    pub(crate) open: fn(&Piece) -> Option<Vec<Vec<u8>>>,
    /// The stored form of a piece with these parts.
    pub(crate) shut: fn(&Piece, &[Vec<u8>]) -> Vec<u8>,
    /// Makes a file of these pieces, with correct checksums and offsets.
    pub(crate) join: fn(&[Piece]) -> Vec<u8>,
}
