//! Mutations below compression, lengths and checksums, and what they must know of a file format.

use crate::Target;
use fastrand::Rng;

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

/// Mutates a file; `bytes` mutates plain bytes. The result is the same for the same seed.
pub fn mutate(
    target: &Target,
    file: &[u8],
    seed: u32,
    bytes: &mut dyn FnMut(&mut Vec<u8>),
) -> Vec<u8> {
    let mut random = Rng::with_seed(seed.into());
    let mut plain = |mut file: Vec<u8>| {
        bytes(&mut file);
        file
    };
    // The fuzzer begins with an empty file, so a seed takes its place.
    if file.len() < 8 || random.usize(..256) == 0 {
        let mut seeds = (target.seeds)();
        return seeds.swap_remove(random.usize(..seeds.len()));
    }
    let split = target.format.and_then(|f| Some(((f.split)(file)?, f)));
    let Some((mut pieces, format)) = split.filter(|(pieces, _)| !pieces.is_empty()) else {
        return plain(file.to_vec());
    };
    let at = random.usize(..pieces.len());
    match random.usize(..20) {
        0 => return plain(file.to_vec()),
        1 => drop(pieces.remove(at)),
        2 => {
            let twin = Piece { at: 0, ..pieces[at].clone() };
            pieces.insert(random.usize(..pieces.len() + 1), twin);
        }
        3 => {
            let other = random.usize(..pieces.len());
            pieces.swap(at, other);
        }
        4 | 5 => {
            let head = &mut pieces[at].head;
            let length = head.len();
            *head = plain(std::mem::take(head));
            head.resize(length, 0);
        }
        6 => pieces[at].stored = plain(std::mem::take(&mut pieces[at].stored)),
        rounds => {
            for _ in 0..=rounds % 2 {
                let at = random.usize(..pieces.len());
                let piece = &mut pieces[at];
                if let Some(mut parts) = (format.open)(piece).filter(|p| !p.is_empty()) {
                    let part = random.usize(..parts.len());
                    parts[part] = plain(std::mem::take(&mut parts[part]));
                    piece.stored = (format.shut)(piece, &parts);
                }
            }
        }
    }
    (format.join)(&pieces)
}
