//! The file format around the observation.

use crate::{Observation, State};

/// First bytes.
pub const MAGIC: [u8; 8] = *b"CONTECHO";
/// Version of the format. When [`Observation`] or anything in it changes, increment it and say in FORMAT.md what
/// changed.
pub const VERSION: u32 = 4;
const HEADER_BYTES: usize = 32;
/// An observer's tables cannot hold more bytes.
const MAX_BODY: usize = 128 << 20;

/// Why bytes are not an observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No bytes at all.
    #[error("is empty: the observer did not write it; did the program end by a signal?")]
    Empty,
    /// Another kind of file.
    #[error("is no observation (it does not begin with CONTECHO)")]
    Foreign,
    /// Another version.
    #[error(
        "is an observation of version {found}, not {VERSION}: use the contech and libcontech_observe.so of one build"
    )]
    Version { found: u32 },
    /// The file is cut, longer than it says, or changed.
    #[error("is damaged: {what}; measure again")]
    Damaged {
        /// The part that is wrong.
        what: String,
    },
}

/// Decodes a body. At any time its lists and the bytes read so far may take at most `LIMIT` bytes together.
fn within<const LIMIT: usize>(
    body: &[u8],
) -> Result<(Observation, usize), bincode::error::DecodeError> {
    bincode::decode_from_slice(body, bincode::config::standard().with_limit::<LIMIT>())
}

fn damaged(what: impl Into<String>) -> Error {
    Error::Damaged { what: what.into() }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

impl Observation {
    /// The bytes of the file.
    ///
    /// # Errors
    /// When the file would be larger than the format allows.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let body = bincode::encode_to_vec(self, bincode::config::standard())
            .map_err(|error| damaged(error.to_string()))?;
        if body.len() > MAX_BODY {
            return Err(damaged(format!("{} bytes are too many", body.len())));
        }
        let mut file = Vec::with_capacity(HEADER_BYTES + body.len());
        file.extend(MAGIC);
        file.extend(VERSION.to_le_bytes());
        file.extend([0; 4]);
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes());
        file.extend(body);
        Ok(file)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When the file is empty, foreign, of another version, or damaged.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::Empty);
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::Foreign);
        }
        let cut = || damaged("it ends within its header");
        let version = u32::from_le_bytes(number(bytes, 8).ok_or_else(cut)?);
        if version != VERSION {
            return Err(Error::Version { found: version });
        }
        let length = u64::from_le_bytes(number(bytes, 16).ok_or_else(cut)?);
        let sum = u64::from_le_bytes(number(bytes, 24).ok_or_else(cut)?);
        let body = &bytes[HEADER_BYTES..];
        if length != body.len() as u64 || body.len() > MAX_BODY {
            let found = body.len();
            return Err(damaged(format!("{found} bytes of body, not {length}")));
        }
        if sum != xxhash_rust::xxh3::xxh3_64(body) {
            return Err(damaged("its checksum does not fit"));
        }
        // Lengths are claims: no list may take more memory than a body of this size can fill.
        let decode = match body.len() >> 20 {
            0 => within::<{ 32 << 20 }>,
            1..8 => within::<{ 80 << 20 }>,
            _ => within::<{ 192 << 20 }>,
        };
        let (observation, used) = decode(body).map_err(|error| damaged(error.to_string()))?;
        if used != body.len() {
            return Err(damaged("bytes are left over"));
        }
        observation.check()?;
        Ok(observation)
    }

    /// Rejects values that no writer of ours writes.
    fn check(&self) -> Result<(), Error> {
        let modules = self.modules.len() as u64;
        let outside =
            |module: &Option<u32>| module.is_some_and(|index| u64::from(index) >= modules);
        let mut places = self
            .phases
            .iter()
            .map(|phase| &phase.place)
            .chain(self.waits.iter().map(|wait| &wait.place));
        if places.any(|place| outside(&place.module)) {
            return Err(damaged("a place in a module that is not listed"));
        }
        if self.bin_ns == 0 && self.lanes.iter().any(|lane| !lane.bins.is_empty()) {
            return Err(damaged("bins without a width"));
        }
        let runs = |state: State| self.times().of(state) < u64::MAX;
        if !State::ALL.into_iter().all(runs) {
            return Err(damaged("times that do not fit"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lane, Times};
    use proptest::prelude::*;

    fn sample() -> Observation {
        let lane = Lane {
            threads: 2,
            times: Times([5; State::COUNT]),
            bins: vec![Times([1; State::COUNT]); 5],
            ..Lane::default()
        };
        Observation {
            complete: true,
            pid: 7,
            cpus: 2,
            duration_ns: 1_000_000,
            bin_ns: 10,
            lanes: vec![lane],
            notes: vec!["seen".to_owned()],
            ..Observation::default()
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = sample().encode().unwrap();
        assert_eq!(Observation::decode(&bytes).unwrap(), sample());
    }

    #[test]
    fn empty_foreign_and_other_versions_are_told_apart() {
        assert_eq!(Observation::decode(&[]), Err(Error::Empty));
        assert_eq!(Observation::decode(b"#!/bin/sh"), Err(Error::Foreign));
        let mut bytes = sample().encode().unwrap();
        bytes[8] = 9;
        assert_eq!(
            Observation::decode(&bytes),
            Err(Error::Version { found: 9 })
        );
    }

    proptest! {
        #[test]
        fn damage_is_noticed(at in 0usize..1000, bit in 0u8..8) {
            let mut bytes = sample().encode().unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            // Bytes 12 to 15 have no meaning.
            prop_assert!((12..16).contains(&at) || Observation::decode(&bytes).is_err());
        }

        #[test]
        fn a_cut_file_is_noticed(keep in 0usize..1000) {
            let bytes = sample().encode().unwrap();
            let keep = keep % bytes.len();
            prop_assert!(Observation::decode(&bytes[..keep]).is_err());
        }
    }
}
