//! Variable-length integers, and a reader of untrusted bytes that checks every length.

use std::fmt;
use std::marker::PhantomData;

/// What is wrong with untrusted bytes. Each format has an error type of its own, which is made from
/// this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The part of the file.
    pub what: &'static str,
    /// What is wrong with it.
    pub detail: String,
}

impl Malformed {
    /// Says what is wrong with a part of a file.
    #[must_use]
    pub fn new(what: &'static str, detail: impl Into<String>) -> Self {
        Self { what, detail: detail.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed {}: {}", self.what, self.detail)
    }
}

impl std::error::Error for Malformed {}

/// Appends a number in groups of 7 bits, low groups first (LEB128).
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends the difference of two values, which takes few bytes if it is small, of either sign.
#[inline]
pub fn put_delta(out: &mut Vec<u8>, value: u64, previous: u64) {
    put_varint(out, zigzag(value.wrapping_sub(previous)));
}

/// Appends a string or byte string with its length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps differences modulo 2^64 to numbers so that small differences give small numbers: 0, -1, 1,
/// -2, ...
#[inline]
pub const fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ 0u64.wrapping_sub(difference >> 63)
}

/// The inverse of [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ 0u64.wrapping_sub(value & 1)
}

/// The low seven bits of each byte, put together.
const fn sevens(word: u64) -> u64 {
    let word = word & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4
}

/// Reads from the front of untrusted bytes. Its errors are those of the format that is read.
#[derive(Debug)]
pub struct Reader<'a, E = Malformed> {
    bytes: &'a [u8],
    what: &'static str,
    error: PhantomData<fn() -> E>,
}

impl<E> Clone for Reader<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Reader<'_, E> {}

impl<'a, E: From<Malformed>> Reader<'a, E> {
    /// A reader of `bytes`, which errors call `what`.
    pub fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { bytes, what, error: PhantomData }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// An error about these bytes.
    #[cold]
    pub fn error(&self, detail: impl Into<String>) -> E {
        Malformed::new(self.what, detail).into()
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], E> {
        match self.bytes.split_at_checked(n) {
            Some((head, tail)) => {
                self.bytes = tail;
                Ok(head)
            }
            None => Err(self.error(format!("{n} bytes expected, {} left", self.bytes.len()))),
        }
    }

    /// The next bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], E> {
        match self.bytes.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.bytes = tail;
                Ok(*head)
            }
            None => Err(self.error(format!("{N} bytes expected, {} left", self.bytes.len()))),
        }
    }

    /// The next byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, E> {
        self.array::<1>().map(|[b]| b)
    }

    /// The next little-endian `u32`.
    pub fn u32(&mut self) -> Result<u32, E> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next little-endian `u64`.
    pub fn u64(&mut self) -> Result<u64, E> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next variable-length integer.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, E> {
        match self.bytes.split_first() {
            Some((&b, tail)) if b < 0x80 => {
                self.bytes = tail;
                Ok(u64::from(b))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, E> {
        if let Some(chunk) = self.bytes.first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            // The highest bit of each byte after which the number does not go on.
            let ends = !word & 0x8080_8080_8080_8080;
            if ends != 0 {
                let length = ends.trailing_zeros() / 8 + 1;
                self.bytes = &self.bytes[length as usize..];
                return Ok(sevens(word & (ends ^ (ends - 1))));
            }
        }
        self.longest_varint()
    }

    /// A number of any length, byte by byte.
    fn longest_varint(&mut self) -> Result<u64, E> {
        let mut value = 0;
        for (i, &b) in self.bytes.iter().take(10).enumerate() {
            let bits = u64::from(b & 0x7f);
            if i == 9 && bits > 1 {
                break;
            }
            value |= bits << (7 * i);
            if b < 0x80 {
                self.bytes = &self.bytes[i + 1..];
                return Ok(value);
            }
        }
        Err(self.error("a number that does not end"))
    }

    /// The next variable-length integer, which must fit in 32 bits.
    #[inline]
    pub fn varint32(&mut self) -> Result<u32, E> {
        let value = self.varint()?;
        u32::try_from(value).map_err(|_| self.error(format!("{value} where 32 bits were expected")))
    }

    /// The next variable-length integer, as a count of things of which each takes at least one of
    /// `room` bytes.
    pub fn count(&mut self, room: usize) -> Result<usize, E> {
        let value = self.varint()?;
        match usize::try_from(value) {
            Ok(n) if n <= room => Ok(n),
            _ => Err(self.error(format!("{value} entries in {room} bytes"))),
        }
    }

    /// Reads a count, then that many things that take at least one byte each.
    ///
    /// # Errors
    /// The count is larger than the number of bytes left, or one of the things is malformed.
    pub fn list<T>(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let n = self.count(self.remaining())?;
        (0..n).map(|_| take(self)).collect()
    }

    /// The value that was written as a [`put_delta`] against `previous`.
    #[inline]
    pub fn delta(&mut self, previous: u64) -> Result<u64, E> {
        Ok(previous.wrapping_add(unzigzag(self.varint()?)))
    }

    /// [`Reader::delta`] for values of 32 bits.
    #[inline]
    pub fn delta32(&mut self, previous: u32) -> Result<u32, E> {
        let value = self.delta(u64::from(previous))?;
        u32::try_from(value).map_err(|_| self.error(format!("{value} where 32 bits were expected")))
    }

    /// The next byte string with its length.
    pub fn bytes(&mut self) -> Result<&'a [u8], E> {
        let n = self.count(self.remaining())?;
        self.take(n)
    }

    /// The next string with its length.
    pub fn string(&mut self) -> Result<&'a str, E> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a string that is not UTF-8"))
    }

    /// Checks that everything has been read.
    pub fn end(&self) -> Result<(), E> {
        match self.bytes.len() {
            0 => Ok(()),
            n => Err(self.error(format!("{n} bytes too many"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_read_back() {
        let mut values = vec![0, 1, 127, 128, u64::MAX];
        values.extend((0..64).flat_map(|n| [1u64 << n, (1u64 << n) - 1]));
        let mut bytes = Vec::new();
        for &v in &values {
            put_varint(&mut bytes, v);
            put_delta(&mut bytes, v, 77);
        }
        let mut r = Reader::<Malformed>::new("test", &bytes);
        for &v in &values {
            assert_eq!(r.varint().unwrap(), v);
            assert_eq!(r.delta(77).unwrap(), v);
        }
        r.end().unwrap();
    }

    #[test]
    fn a_number_that_does_not_end_or_does_not_fit_is_an_error() {
        for bytes in [&[][..], &[0x80], &[0xff; 10], &[0xff; 11]] {
            assert!(Reader::<Malformed>::new("test", bytes).varint().is_err());
        }
        let mut too_wide = vec![0xff; 9];
        too_wide.push(2);
        assert!(Reader::<Malformed>::new("test", &too_wide).varint().is_err());
        let mut wide = Vec::new();
        put_varint(&mut wide, 1 << 32);
        assert!(Reader::<Malformed>::new("test", &wide).varint32().is_err());
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, u64::MAX);
        bytes.push(0);
        assert!(Reader::<Malformed>::new("test", &bytes).bytes().is_err());
        assert!(Reader::<Malformed>::new("test", &[0; 3]).u32().is_err());
    }
}
