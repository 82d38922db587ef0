//! Bytes that are written once from front to back and can be read at any place. The first ones are
//! in memory, the others in the temporary file.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::spill::Spill;

/// Bytes of a block.
const BLOCK: usize = 1 << 18;

/// A full block.
#[derive(Debug)]
enum Block {
    Memory(Box<[u8]>),
    /// The block is at this place of the temporary file.
    File(u64),
}

#[derive(Debug)]
pub(crate) struct Tape {
    spill: Arc<Spill>,
    /// Number of blocks that stay in memory.
    most: usize,
    blocks: Vec<Block>,
    /// The bytes after the blocks.
    pending: Vec<u8>,
}

impl Tape {
    /// A tape of which about `limit` bytes stay in memory.
    pub(crate) fn new(spill: &Arc<Spill>, limit: usize) -> Self {
        Tape {
            spill: Arc::clone(spill),
            most: limit / BLOCK,
            blocks: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Appends what `write` produces.
    #[inline]
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        write(&mut self.pending);
        if self.pending.len() >= BLOCK {
            self.end_blocks()?;
        }
        Ok(())
    }

    #[cold]
    fn end_blocks(&mut self) -> Result<()> {
        let (blocks, rest) = self.pending.as_chunks::<BLOCK>();
        for block in blocks {
            self.blocks.push(if self.blocks.len() < self.most {
                Block::Memory(block.as_slice().into())
            } else {
                Block::File(self.spill.append(block)?)
            });
        }
        let ended = self.pending.len() - rest.len();
        self.pending.drain(..ended);
        self.pending.shrink_to(2 * BLOCK);
        Ok(())
    }

    /// Number of bytes so far.
    pub(crate) fn len(&self) -> u64 {
        (self.blocks.len() * BLOCK + self.pending.len()) as u64
    }

    /// Appends the bytes `from .. to` to `out`.
    pub(crate) fn read(&self, from: u64, to: u64, out: &mut Vec<u8>) -> Result<()> {
        let outside = || Error::internal("a read outside the tape");
        let position = |at: u64| usize::try_from(at).map_err(|_| outside());
        let (mut from, to) = (position(from)?, position(to)?);
        while from < to {
            let (block, within) = (from / BLOCK, from % BLOCK);
            let n = (BLOCK - within).min(to - from);
            let here = match self.blocks.get(block) {
                Some(Block::Memory(bytes)) => bytes.get(within..within + n),
                None if block == self.blocks.len() => self.pending.get(within..within + n),
                None => None,
                Some(Block::File(at)) => {
                    let end = out.len();
                    out.resize(end + n, 0);
                    self.spill.read(&mut out[end..], at + within as u64)?;
                    Some([].as_slice())
                }
            };
            out.extend_from_slice(here.ok_or_else(outside)?);
            from += n;
        }
        Ok(())
    }
}

/// Reads a part of a tape from front to back through a small window.
#[derive(Debug, Default)]
pub(crate) struct TapeReader {
    next: u64,
    end: u64,
    window: Vec<u8>,
    at: usize,
}

impl TapeReader {
    pub(crate) fn new(from: u64, to: u64) -> Self {
        TapeReader { next: from, end: to, window: Vec::new(), at: 0 }
    }

    /// Says that the part goes on to a later place.
    pub(crate) fn go_on_to(&mut self, end: u64) {
        self.end = end;
    }

    /// Place on the tape of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.next - (self.window.len() - self.at) as u64
    }

    /// Whether everything was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.window.len() && self.next == self.end
    }

    /// Makes at least `n` bytes available (fewer at the end), and reads about `size` bytes at a
    /// time.
    pub(crate) fn fill(&mut self, tape: &Tape, n: usize, size: usize) -> Result<()> {
        if self.window.len() - self.at >= n || self.next == self.end {
            return Ok(());
        }
        self.window.drain(..self.at);
        self.at = 0;
        let more = (n.max(size) - self.window.len()) as u64;
        let to = self.end.min(self.next + more);
        tape.read(self.next, to, &mut self.window)?;
        self.next = to;
        Ok(())
    }

    /// Returns the available bytes and the position within them, for decoding.
    pub(crate) fn parts(&mut self) -> (&[u8], &mut usize) {
        (&self.window, &mut self.at)
    }
}
