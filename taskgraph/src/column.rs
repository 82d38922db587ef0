//! One column of numbers: how its values become bytes in planes, and how the bytes become values
//! again.

use std::ops::Range;

use crate::error::Result;
use crate::wire::{Reader, put_varint, unzigzag, zigzag};

/// What is stored of each value in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// The value itself.
    Plain = 0,
    /// The difference from the previous value in the column.
    Delta = 1,
    /// The difference from the value in the previous column.
    Beside = 2,
}

impl Coding {
    const ALL: [Self; 3] = [Self::Plain, Self::Delta, Self::Beside];
}

/// Largest number of bytes of a value.
const MOST: u8 = 8;

/// Replaces values by what a coding stores of them; `beside` is the previous column. The first
/// difference of a delta would be far from all others. So another one is stored in its place, and
/// the first value is returned.
fn encode(coding: Coding, values: &[u64], beside: &[u64], out: &mut Vec<u64>) -> u64 {
    out.clear();
    match coding {
        Coding::Plain => out.extend_from_slice(values),
        Coding::Delta => {
            out.extend(values.first().map(|_| 0));
            out.extend(values.windows(2).map(|w| w[1].wrapping_sub(w[0])));
            // The second difference does not change the range, so it is as good as any.
            if let [first, second, ..] = &mut out[..] {
                *first = *second;
            }
            return values.first().copied().unwrap_or(0);
        }
        Coding::Beside => out.extend(values.iter().zip(beside).map(|(v, b)| v.wrapping_sub(*b))),
    }
    0
}

/// Appends a column: the way it is stored goes to `heads`, and its bytes to `planes`. `scratch` is
/// working memory.
pub(crate) fn put(
    coding: Coding,
    values: &[u64],
    beside: &[u64],
    scratch: &mut Vec<u64>,
    heads: &mut Vec<u8>,
    planes: &mut Vec<u8>,
) {
    let first = encode(coding, values, beside, scratch);
    let signed = coding != Coding::Plain;
    let (least, or) = shrink(scratch, signed);
    let shift = if or == 0 { 0 } else { or.trailing_zeros() };
    let bytes = u8::try_from((64 - (or >> shift).leading_zeros()).div_ceil(8)).unwrap_or(MOST);
    heads.push(coding as u8 + 3 * bytes);
    if bytes > 0 {
        heads.push(shift.to_le_bytes()[0]);
    }
    put_varint(heads, if signed { zigzag(least) } else { least });
    if coding == Coding::Delta {
        put_varint(heads, first);
    }
    for byte in 0..u32::from(bytes) {
        let at = shift + 8 * byte;
        planes.extend(scratch.iter().map(|v| (v >> at).to_le_bytes()[0]));
    }
}

/// Subtracts the least value from all values. Returns the least value, and all bits that are left.
fn shrink(values: &mut [u64], signed: bool) -> (u64, u64) {
    // If the highest bit is flipped, signed numbers have the order of unsigned ones.
    let flip = u64::from(signed) << 63;
    let least = values.iter().fold(u64::MAX, |m, v| m.min(v ^ flip)) ^ flip;
    let mut or = 0;
    for v in values {
        *v = v.wrapping_sub(least);
        or |= *v;
    }
    (least, or)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    coding: Coding,
    bytes: u8,
    shift: u32,
    least: u64,
    first: u64,
}

impl Head {
    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self> {
        let tag = r.u8()?;
        let (coding, bytes) = (Coding::ALL[usize::from(tag % 3)], tag / 3);
        let shift = if bytes > 0 { u32::from(r.u8()?) } else { 0 };
        if bytes > MOST || shift > 63 {
            return Err(r.error(format!("a column of {bytes} bytes at bit {shift}")));
        }
        let least = r.varint()?;
        let signed = coding != Coding::Plain;
        let first = if coding == Coding::Delta { r.varint()? } else { 0 };
        Ok(Self {
            coding,
            bytes,
            shift,
            least: if signed { unzigzag(least) } else { least },
            first,
        })
    }

    /// Takes a column of so many values from the planes.
    pub(crate) fn take<'p>(
        self,
        planes: &mut Reader<'p>,
        length: usize,
        is_first: bool,
    ) -> Result<&'p [u8]> {
        if self.coding == Coding::Beside && is_first {
            return Err(planes.error("no column before this one"));
        }
        planes.take(length * usize::from(self.bytes))
    }

    /// Reads some of a column's `length` values. `beside` has the same values of the column before.
    pub(crate) fn values(
        self,
        bytes: &[u8],
        beside: &[u64],
        (length, rows): (usize, Range<usize>),
        out: &mut [u64],
    ) {
        let mut last = 0;
        if self.coding == Coding::Delta && !rows.is_empty() {
            // What is before the part must be summed up.
            let mut tile = [0; TILE];
            for from in (0..rows.start).step_by(TILE) {
                let to = rows.start.min(from + TILE);
                let tile = &mut tile[..to - from];
                self.residuals(bytes, from..to, length, tile);
                last = self.sum(from, last, tile);
            }
        }
        let tiles = out.chunks_mut(TILE);
        for (from, tile) in rows.step_by(TILE).zip(tiles) {
            self.residuals(bytes, from..from + tile.len(), length, tile);
            if self.coding == Coding::Delta {
                last = self.sum(from, last, tile);
            }
        }
        if self.coding == Coding::Beside {
            for (v, b) in out.iter_mut().zip(beside) {
                *v = v.wrapping_add(*b);
            }
        }
    }

    /// Replaces differences by values. Returns the last value.
    fn sum(&self, from: usize, mut last: u64, tile: &mut [u64]) -> u64 {
        if from == 0
            && let Some(first) = tile.first_mut()
        {
            *first = self.first;
        }
        for v in tile {
            last = last.wrapping_add(*v);
            *v = last;
        }
        last
    }

    /// Puts together some values of the planes, and the least one.
    fn residuals(&self, bytes: &[u8], range: Range<usize>, length: usize, tile: &mut [u64]) {
        let Self { least, shift, .. } = *self;
        let plane = |byte: usize| {
            let of = byte * length;
            bytes.get(of + range.start..of + range.end).unwrap_or(&[])
        };
        match self.bytes {
            1 => {
                for (v, a) in tile.iter_mut().zip(plane(0)) {
                    *v = least.wrapping_add(u64::from(*a) << shift);
                }
            }
            2 => {
                for ((v, a), b) in tile.iter_mut().zip(plane(0)).zip(plane(1)) {
                    let word = u64::from(u16::from_le_bytes([*a, *b]));
                    *v = least.wrapping_add(word << shift);
                }
            }
            bytes => {
                tile.fill(least);
                for (byte, at) in (0..usize::from(bytes)).zip((shift..).step_by(8)) {
                    // Bits beyond the highest are lost. This happens only with damaged bytes.
                    for (v, b) in tile.iter_mut().zip(plane(byte)) {
                        *v = v.wrapping_add(u64::from(*b).checked_shl(at).unwrap_or(0));
                    }
                }
            }
        }
    }
}

/// Number of values that are put together at a time. They stay in the first cache.
const TILE: usize = 512;

/// Number of values in a sample, and number of samples of a column.
const SAMPLE: usize = 48;
const SAMPLES: usize = 4;

/// Chooses the coding whose bytes change least from one value to the next, as far as samples show.
/// zstd also finds repetitions in planes that change, and differences hide these, so a coding with
/// differences must be better by a quarter.
pub(crate) fn choose(values: &[u64], beside: &[u64]) -> Coding {
    let mut scratch = Vec::with_capacity(SAMPLE);
    let step = values.len().div_ceil(SAMPLES).max(SAMPLE);
    let mut costs = [0; 3];
    for start in (0..values.len()).step_by(step) {
        let range = start..values.len().min(start + SAMPLE);
        let own = &values[range.clone()];
        let other = beside.get(range).unwrap_or(&[]);
        for (coding, cost) in Coding::ALL.into_iter().zip(&mut costs) {
            encode(coding, own, other, &mut scratch);
            let (_, or) = shrink(&mut scratch, coding != Coding::Plain);
            let shift = if or == 0 { 0 } else { or.trailing_zeros() };
            *cost += scratch
                .windows(2)
                .fold(0, |sum, w| sum + changed_bytes((w[0] >> shift) ^ (w[1] >> shift)));
        }
    }
    let [plain, delta, mut next] = costs;
    if beside.len() != values.len() {
        next = u32::MAX;
    }
    let best = delta.min(next);
    if best.saturating_mul(4) >= plain.saturating_mul(3) {
        Coding::Plain
    } else if delta <= next {
        Coding::Delta
    } else {
        Coding::Beside
    }
}

/// Counts the bytes that are not 0.
fn changed_bytes(v: u64) -> u32 {
    let any = v | v >> 4;
    let any = any | any >> 2;
    let any = any | any >> 1;
    (any & 0x0101_0101_0101_0101).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u64, n: usize) -> Vec<u64> {
        let value = |i: u64| match kind {
            0 => 0x7fff_1234_5678 - 48 * i,
            1 => (i * i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            2 => (i * i % 251) << 40,
            3 => u64::MAX - i % 3,
            _ => 7,
        };
        (0..n as u64).map(value).collect()
    }

    #[test]
    fn every_coding_gives_back_every_column() {
        for (kind, other) in (0..5).flat_map(|k| (0..5).map(move |o| (k, o))) {
            for n in [0, 1, 2, 3, 300, TILE, 2 * TILE + 1] {
                let (values, beside) = (column(kind, n), column(other, n));
                for coding in Coding::ALL {
                    let (mut heads, mut planes) = (Vec::new(), Vec::new());
                    put(coding, &values, &beside, &mut Vec::new(), &mut heads, &mut planes);
                    let mut heads = Reader::new("test", &heads);
                    let head = Head::read(&mut heads).unwrap();
                    assert_eq!(heads.remaining(), 0);
                    for rows in [0..n, n / 3..n, 0..n / 2, n / 2..n / 2, n.min(TILE)..n] {
                        let mut planes = Reader::new("test", &planes);
                        let mut back = vec![9; rows.len()];
                        let bytes = head.take(&mut planes, n, false).unwrap();
                        let part = &beside[rows.clone()];
                        head.values(bytes, part, (n, rows.clone()), &mut back);
                        assert_eq!(back, values[rows], "{coding:?} of {kind} beside {other}");
                        assert_eq!(planes.remaining(), 0);
                    }
                }
            }
        }
    }

    #[test]
    fn the_coding_chosen_leaves_least() {
        let (steps, noise) = (column(0, 500), column(1, 500));
        assert_eq!(choose(&steps, &[]), Coding::Delta);
        assert_eq!(choose(&noise, &[]), Coding::Plain);
        let near: Vec<u64> = noise.iter().map(|v| v.wrapping_add(8)).collect();
        assert_eq!(choose(&near, &noise), Coding::Beside);
    }
}
