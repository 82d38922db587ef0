//! zstd with limits: compression of columns and pages, and decompression of untrusted bytes.

use std::fmt;

use zstd::bulk::{Compressor, Decompressor};

use crate::error::{Result, malformed, misuse};

/// The most bytes that a column or page may decode to.
pub(crate) const MAX_PAGE: usize = 64 << 20;
/// The most bytes that the static tables may decode to.
pub(crate) const MAX_TABLES: usize = 256 << 20;
/// The most a zstd block can expand: 128 KiB from a 4-byte run-length block.
const MAX_RATIO: usize = 1 << 15;

/// A reusable compressor.
pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    /// Compresses at a zstd level.
    pub(crate) fn new(level: i32) -> Result<Self> {
        match Compressor::new(level) {
            Ok(compressor) => Ok(Self(compressor)),
            Err(e) => Err(misuse(format!("zstd: {e}"))),
        }
    }

    /// Appends `raw` to `out`: compressed, or unchanged if that is not longer. Returns the number
    /// of bytes appended.
    pub(crate) fn pack(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        let room = zstd::zstd_safe::compress_bound(raw.len());
        out.resize(start + room, 0);
        let packed = self.0.compress_to_buffer(raw, &mut out[start..]);
        let packed = packed.map_err(|e| misuse(format!("zstd: {e}")))?;
        out.truncate(start + packed);
        if packed >= raw.len() {
            out.truncate(start);
            out.extend_from_slice(raw);
        }
        Ok(out.len() - start)
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

/// A reusable decompressor.
pub(crate) struct Unpacker(Option<Decompressor<'static>>);

impl Unpacker {
    pub(crate) fn new() -> Self {
        Self(Decompressor::new().ok())
    }

    /// Replaces `out` by the `raw_len` bytes that were packed as `packed`. It never allocates more
    /// than the packed bytes could decode to, nor more than `limit`.
    pub(crate) fn unpack(
        &mut self,
        what: &'static str,
        packed: &[u8],
        raw_len: usize,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        if packed.len() == raw_len {
            out.extend_from_slice(packed);
            return Ok(());
        }
        if raw_len > limit || raw_len > packed.len().saturating_mul(MAX_RATIO) {
            return Err(malformed(
                what,
                format!("{raw_len} bytes claimed from {} compressed ones", packed.len()),
            ));
        }
        out.reserve_exact(raw_len);
        let zstd = self.0.as_mut().ok_or_else(|| malformed(what, "zstd could not be set up"))?;
        let got = zstd.decompress_to_buffer(packed, out);
        let got = got.map_err(|e| malformed(what, format!("zstd: {e}")))?;
        if got != raw_len {
            return Err(malformed(what, format!("{raw_len} bytes claimed, {got} decoded")));
        }
        Ok(())
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacker")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_do_not_compress_are_stored_as_they_are() {
        let mut packer = Packer::new(1).unwrap();
        for raw in [vec![], vec![1, 2, 3], vec![7; 100_000]] {
            let mut packed = Vec::new();
            assert_eq!(packer.pack(&raw, &mut packed).unwrap(), packed.len());
            assert!(packed.len() <= raw.len());
            let mut back = vec![9; 3];
            Unpacker::new().unpack("test", &packed, raw.len(), MAX_PAGE, &mut back).unwrap();
            assert_eq!(back, raw);
        }
    }

    #[test]
    fn a_claimed_length_allocates_nothing_the_bytes_cannot_give() {
        for claimed in [5, MAX_RATIO * 4 + 1, MAX_PAGE + 1, usize::MAX] {
            let mut out = Vec::new();
            assert!(Unpacker::new().unpack("test", &[0; 4], claimed, MAX_PAGE, &mut out).is_err());
            assert!(out.capacity() <= MAX_RATIO * 4, "{claimed}: {}", out.capacity());
        }
    }
}
