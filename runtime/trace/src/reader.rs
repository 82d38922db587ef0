//! Reads the chunks of a trace from any source, and skips what is damaged.

use std::io::{self, Read};

use crate::file::{
    CHUNK_HEADER_BYTES, CHUNK_MAGIC, CODEC_PACKED, ChunkHeader, FileHeader, HEADER_BYTES, checksum,
};
use crate::pack::unpack;
use crate::{Error, Result};

/// A chunk with its stored (perhaps packed) payload.
#[derive(Debug, Clone)]
pub struct Chunk {
    pub header: ChunkHeader,
    /// The stored bytes, whose checksum was already checked.
    pub stored: Vec<u8>,
    /// Place of the header in the file.
    pub offset: u64,
}

impl Chunk {
    /// The payload, unpacked into `raw` if it is packed.
    ///
    /// # Errors
    /// The bytes are not packed, or have another length than the header says.
    pub fn payload<'a>(&'a self, raw: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let length = self.header.raw_len as usize;
        if self.header.codec == CODEC_PACKED {
            unpack(&self.stored, length, raw)?;
            return Ok(raw);
        }
        if self.stored.len() == length {
            return Ok(&self.stored);
        }
        Err(Error::Invalid {
            what: "payload",
            offset: self.offset,
            detail: format!("{} bytes, the header says {length}", self.stored.len()),
        })
    }
}

/// What comes next in the file.
#[derive(Debug)]
pub enum Next {
    /// A complete chunk.
    Chunk(Chunk),
    /// Damage: bytes `from .. to` were skipped, up to the next complete chunk header or the end.
    Skipped {
        /// First byte skipped.
        from: u64,
        /// First byte after the skipped ones.
        to: u64,
        /// What was wrong at `from`.
        error: Error,
    },
    /// The end of the file.
    End,
}

/// Reads chunks one after another, with one chunk in memory. After damage it searches for the next
/// chunk header, so a cut or damaged file yields every complete chunk.
#[derive(Debug)]
pub struct ChunkReader<R> {
    input: R,
    offset: u64,
    /// Bytes that were read ahead during a search.
    ahead: Vec<u8>,
}

impl<R: Read> ChunkReader<R> {
    /// Reads and checks the file header.
    ///
    /// # Errors
    /// The outer error comes from the source, the inner one from the bytes.
    pub fn new(mut input: R) -> io::Result<Result<(FileHeader, Self)>> {
        let mut head = Vec::with_capacity(HEADER_BYTES);
        input.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut head)?;
        Ok(FileHeader::decode(&head).map(|header| {
            (header, ChunkReader { input, offset: HEADER_BYTES as u64, ahead: Vec::new() })
        }))
    }

    /// Number of bytes of the file that were consumed so far.
    pub fn position(&self) -> u64 {
        self.offset
    }

    /// Returns the next chunk, damage, or the end.
    ///
    /// # Errors
    /// An error of the source. Damage is no error, but [`Next::Skipped`].
    pub fn next_chunk(&mut self) -> io::Result<Next> {
        self.fill(CHUNK_HEADER_BYTES)?;
        if self.ahead.is_empty() {
            return Ok(Next::End);
        }
        let header = match ChunkHeader::decode(&self.ahead, self.offset) {
            Ok(h) => h,
            Err(e) => return self.skip(e),
        };
        let end = CHUNK_HEADER_BYTES + header.stored_len as usize;
        self.fill(end)?;
        let Some(stored) = self.ahead.get(CHUNK_HEADER_BYTES..end) else {
            let have = self.ahead.len() as u64;
            let error =
                Error::Truncated { what: "chunk", offset: self.offset, need: end as u64, have };
            return self.skip(error);
        };
        let got = checksum(stored);
        if got != header.payload_sum {
            let error = Error::Checksum {
                what: "chunk payload",
                offset: self.offset,
                got,
                expected: header.payload_sum,
            };
            return self.skip(error);
        }
        let chunk = Chunk { header, stored: stored.to_vec(), offset: self.offset };
        self.consume(end);
        Ok(Next::Chunk(chunk))
    }

    /// Reads until `ahead` has `n` bytes or the input ends. Memory grows only by what is really
    /// there.
    fn fill(&mut self, n: usize) -> io::Result<()> {
        let need = n.saturating_sub(self.ahead.len());
        self.ahead.reserve(need.min(1 << 16));
        self.input.by_ref().take(need as u64).read_to_end(&mut self.ahead)?;
        Ok(())
    }

    fn consume(&mut self, n: usize) {
        self.ahead.drain(..n);
        self.offset += n as u64;
    }

    /// Skips at least one byte, up to the next complete chunk header.
    fn skip(&mut self, error: Error) -> io::Result<Next> {
        let from = self.offset;
        self.consume(1);
        loop {
            self.fill(1 << 20)?;
            let at_end = self.ahead.len() < 1 << 20;
            match self.ahead.windows(CHUNK_MAGIC.len()).position(|w| w == CHUNK_MAGIC) {
                Some(found) => {
                    self.consume(found);
                    self.fill(CHUNK_HEADER_BYTES)?;
                    if ChunkHeader::decode(&self.ahead, 0).is_ok() {
                        break;
                    }
                    self.consume(1);
                }
                // The next bytes may complete a beginning.
                None if !at_end => self.consume(self.ahead.len() + 1 - CHUNK_MAGIC.len()),
                None => {
                    self.consume(self.ahead.len());
                    break;
                }
            }
        }
        Ok(Next::Skipped { from, to: self.offset, error })
    }
}
