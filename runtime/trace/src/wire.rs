//! Named little-endian reads and varints over byte slices; never panics, never trusts a length.

use crate::{Error, Result};

/// A position in a byte slice.
pub(crate) struct Wire<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Wire { bytes, pos: 0 }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.pos
    }

    pub(crate) fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8]> {
        if n > self.remaining() {
            return Err(Error::Truncated {
                what,
                offset: self.pos as u64,
                need: n as u64,
                have: self.remaining() as u64,
            });
        }
        let s = &self.bytes[self.pos..self.pos + n];
        self.pos += n;
        Ok(s)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32> {
        let mut b = [0; 4];
        b.copy_from_slice(self.take(4, what)?);
        Ok(u32::from_le_bytes(b))
    }

    /// LEB128, at most 10 bytes.
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1, what)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.invalid(what, "a number of more than 10 bytes"))
    }

    pub(crate) fn varint32(&mut self, what: &'static str) -> Result<u32> {
        let v = self.varint(what)?;
        u32::try_from(v).map_err(|_| self.invalid(what, "a number over 32 bits"))
    }

    /// A count of things that take at least one byte each: can never exceed what is left.
    pub(crate) fn count(&mut self, what: &'static str) -> Result<usize> {
        let v = self.varint(what)?;
        match usize::try_from(v) {
            Ok(n) if n <= self.remaining() => Ok(n),
            _ => Err(self.invalid(what, "a count larger than the bytes that follow")),
        }
    }

    pub(crate) fn string(&mut self, what: &'static str) -> Result<String> {
        let n = self.count(what)?;
        Ok(String::from_utf8_lossy(self.take(n, what)?).into_owned())
    }

    pub(crate) fn invalid(&self, what: &'static str, detail: &str) -> Error {
        Error::Invalid {
            what,
            offset: self.pos as u64,
            detail: detail.to_owned(),
        }
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(low7(v) | 0x80);
        v >>= 7;
    }
    out.push(low7(v));
}

fn low7(v: u64) -> u8 {
    v.to_le_bytes()[0] & 0x7f
}

pub(crate) fn put_string(out: &mut Vec<u8>, s: &str) {
    put_varint(out, s.len() as u64);
    out.extend_from_slice(s.as_bytes());
}
