//! Mutations below compression, lengths and checksums.

use crate::random::Random;
use crate::{Target, graph, observation, trace};

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

impl Target {
    fn format(self) -> Option<Format> {
        match self {
            Self::Trace | Self::Middle => Some(trace::FORMAT),
            Self::Graph => Some(graph::FORMAT),
            Self::Observation => Some(observation::FORMAT),
            Self::Profile => None,
        }
    }
}

/// Mutates a file; `bytes` mutates plain bytes. The same for the same seed.
pub fn mutate(
    target: Target,
    file: &[u8],
    seed: u32,
    bytes: &mut dyn FnMut(&mut Vec<u8>),
) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut plain = |mut file: Vec<u8>| {
        bytes(&mut file);
        file
    };
    // The fuzzer begins with nothing.
    if file.len() < 8 || random.below(256) == 0 {
        let mut seeds = target.seeds();
        return seeds.swap_remove(random.below(seeds.len()));
    }
    let split = target.format().and_then(|f| Some(((f.split)(file)?, f)));
    let Some((mut pieces, format)) = split.filter(|(pieces, _)| !pieces.is_empty()) else {
        return plain(file.to_vec());
    };
    let at = random.below(pieces.len());
    match random.below(20) {
        0 => return plain(file.to_vec()),
        1 => drop(pieces.remove(at)),
        2 => {
            let twin = Piece {
                at: 0,
                ..pieces[at].clone()
            };
            pieces.insert(random.below(pieces.len() + 1), twin);
        }
        3 => {
            let other = random.below(pieces.len());
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
                let at = random.below(pieces.len());
                let piece = &mut pieces[at];
                if let Some(mut parts) = (format.open)(piece).filter(|p| !p.is_empty()) {
                    let part = random.below(parts.len());
                    parts[part] = plain(std::mem::take(&mut parts[part]));
                    piece.stored = (format.shut)(piece, &parts);
                }
            }
        }
    }
    (format.join)(&pieces)
}
