//! Bytes written once from front to back and read at any place: in memory while small, else in the
//! temporary file.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::spill::Spill;

/// Bytes collected before they are written to the file.
const BLOCK: usize = 1 << 16;

/// A tape. While it is written, nothing else may be appended to the temporary file.
#[derive(Debug)]
pub(crate) struct Tape {
    spill: Arc<Spill>,
    /// Up to so many bytes stay in memory.
    limit: usize,
    /// Bytes not in the file: all, or the last.
    pending: Vec<u8>,
    /// Place in the file of the first byte, once any is there.
    start: Option<u64>,
    /// Bytes in the file.
    written: u64,
}

impl Tape {
    pub(crate) fn new(spill: &Arc<Spill>, limit: usize) -> Self {
        Tape {
            spill: Arc::clone(spill),
            limit,
            pending: Vec::new(),
            start: None,
            written: 0,
        }
    }

    /// Appends what `write` produces.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        write(&mut self.pending);
        let most = if self.start.is_some() {
            BLOCK
        } else {
            self.limit
        };
        if self.pending.len() > most {
            let at = self.spill.append(&self.pending)?;
            let start = *self.start.get_or_insert(at);
            if start + self.written != at {
                return Err(Error::internal("two writers of the temporary file"));
            }
            self.written += self.pending.len() as u64;
            self.pending.clear();
        }
        Ok(())
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Appends the bytes `from .. to` to `out`.
    pub(crate) fn read(&self, from: u64, to: u64, out: &mut Vec<u8>) -> Result<()> {
        let outside = || Error::internal("a read outside the tape");
        if let Some(start) = self.start.filter(|_| from < self.written) {
            let n = usize::try_from(to.min(self.written) - from).map_err(|_| outside())?;
            let at = out.len();
            out.resize(at + n, 0);
            self.spill.read(&mut out[at..], start + from)?;
        }
        if to > self.written {
            let index = |offset: u64| usize::try_from(offset.saturating_sub(self.written)).ok();
            let range = index(from)
                .zip(index(to))
                .and_then(|(a, b)| self.pending.get(a..b));
            out.extend_from_slice(range.ok_or_else(outside)?);
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
        TapeReader {
            next: from,
            end: to,
            window: Vec::new(),
            at: 0,
        }
    }

    /// Whether everything was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.window.len() && self.next == self.end
    }

    /// Makes at least `n` bytes available (fewer at the end), reading about `size` at a time.
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

    /// The bytes available and the position within them, to decode from.
    pub(crate) fn parts(&mut self) -> (&[u8], &mut usize) {
        (&self.window, &mut self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint;

    #[test]
    fn numbers_are_read_back_from_memory_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        for (limit, window) in [(1 << 30, 100), (1000, 1), (0, 5000)] {
            let mut tape = Tape::new(&spill, limit);
            let mut middle = 0;
            for i in 0..50_000u64 {
                if i == 30_000 {
                    middle = tape.len();
                }
                tape.append(|out| varint::put(out, i * i)).unwrap();
            }
            let mut front = TapeReader::new(0, middle);
            let mut back = TapeReader::new(middle, tape.len());
            for i in 0..50_000u64 {
                let reader = if i < 30_000 { &mut front } else { &mut back };
                reader.fill(&tape, 10, window).unwrap();
                let (bytes, at) = reader.parts();
                assert_eq!(varint::get(bytes, at).unwrap(), i * i);
            }
            assert!(front.is_at_end() && back.is_at_end());
        }
    }
}
