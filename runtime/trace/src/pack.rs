//! Reads packed payloads. [`mod@crate::file`]'s `CODEC_PACKED` says what they are, FORMAT.md has
//! their bytes; the runtime has the packer.

use crate::{Error, Result};

/// Bytes that are packed as one.
pub const GROUP: usize = 64;
/// Bytes of a group's head: its distance, and which of its bytes differ.
pub const HEAD: usize = 9;
/// The least distance but 0. A group is read in words, each of which follows from words that were
/// read before.
pub const LEAST: usize = 8;

/// Unpacks a payload of `length` bytes into `raw`, which is cleared first. No more memory is taken
/// than seven times what `packed` has.
///
/// # Errors
/// The bytes are no packed payload of that length.
pub fn unpack(packed: &[u8], length: usize, raw: &mut Vec<u8>) -> Result<()> {
    let invalid = |offset: usize, detail: String| Error::Invalid {
        what: "packed payload",
        offset: offset as u64,
        detail,
    };
    raw.clear();
    let groups = length / GROUP;
    if groups * HEAD > packed.len() {
        let detail = format!("{} bytes cannot be {length} unpacked ones", packed.len());
        return Err(invalid(0, detail));
    }
    raw.resize(groups * GROUP, 0);
    let mut at = 0;
    for group in 0..groups {
        let Some(([distance, masks @ ..], rest)) = packed[at..].split_first_chunk::<HEAD>() else {
            return Err(invalid(at, "ends within a group's head".into()));
        };
        let (from, distance) = (group * GROUP, usize::from(*distance));
        if distance > from || (1..LEAST).contains(&distance) {
            return Err(invalid(at, format!("distance {distance} at byte {from}")));
        }
        let stored: usize = masks.iter().map(|m| m.count_ones() as usize).sum();
        if stored > rest.len() {
            return Err(invalid(at, "ends within a group".into()));
        }
        // The last words of a payload are read from a copy, so that each can be read whole.
        let mut copy = [0; GROUP + LEAST];
        let bytes = rest.get(..GROUP + LEAST).unwrap_or_else(|| {
            copy[..rest.len()].copy_from_slice(rest);
            &copy
        });
        let mut next = 0;
        for (word, mask) in (from..from + GROUP).step_by(8).zip(masks) {
            let mut value = spread(word_at(bytes, next), *mask);
            next += mask.count_ones() as usize;
            if distance > 0 {
                value ^= word_at(raw, word - distance);
            }
            raw[word..word + 8].copy_from_slice(&value.to_le_bytes());
        }
        at += HEAD + stored;
    }
    raw.extend_from_slice(&packed[at..]);
    if raw.len() == length {
        Ok(())
    } else {
        let detail = format!("gives {} bytes, {length} were expected", raw.len());
        Err(invalid(at, detail))
    }
}

fn word_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Puts the bytes of `word`, in order, where `mask` has a one, and zeros elsewhere.
#[inline]
fn spread(word: u64, mask: u8) -> u64 {
    let (mut value, mut taken) = (0, 0);
    for k in 0..8 {
        let here = u32::from((mask >> k) & 1);
        value |= ((word >> (8 * taken)) & (0xff * u64::from(here))) << (8 * k);
        taken = (taken + here) & 7;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(distance: u8, mask: u64, bytes: &[u8]) -> Vec<u8> {
        [&[distance][..], &mask.to_le_bytes(), bytes].concat()
    }

    #[test]
    fn groups_repeat_what_stands_before_them() {
        let first: Vec<u8> = (1..=64).collect();
        let packed = [
            group(0, u64::MAX, &first),
            group(8, 0, &[]),
            group(64, 1 << 9 | 1 << 63, &[3, 5]),
            vec![7, 7],
        ]
        .concat();
        let mut expected = first.clone();
        for i in 64..128 {
            expected.push(expected[i - 8]);
        }
        for i in 128..192 {
            expected.push(expected[i - 64]);
        }
        expected[128 + 9] ^= 3;
        expected[128 + 63] ^= 5;
        expected.extend([7, 7]);
        let mut raw = vec![9; 9];
        unpack(&packed, expected.len(), &mut raw).unwrap();
        assert_eq!(raw, expected);
    }

    #[test]
    fn what_no_packer_writes_is_an_error() {
        let whole = group(0, 1, &[1]);
        let cases = [
            (whole[..8].to_vec(), 64, "cannot be 64"),
            (group(0, 3, &[1]), 64, "within a group"),
            (group(8, 0, &[]), 64, "distance 8 at byte 0"),
            ([whole.clone(), group(7, 0, &[])].concat(), 128, "distance 7 at byte 64"),
            ([whole.clone(), vec![8; 7]].concat(), 128, "cannot be 128"),
            ([group(0, 0xff, &[1; 8]), vec![0; 8]].concat(), 128, "within a group's head"),
            (whole.clone(), 65, "gives 64 bytes, 65 were"),
            (whole, 1 << 28, "cannot be"),
        ];
        for (packed, length, said) in cases {
            let error = unpack(&packed, length, &mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}, not: {said}");
        }
    }
}
