//! One append-only log of bytes for each context, in pages on a common tape. In memory are the
//! unwritten ends of the logs and of the tape, which the budget bounds together, and one word for
//! each context.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::spill::Spill;
use crate::tape::Tape;

/// A page is written when it has this many bytes.
const PAGE: usize = 1 << 16;
/// Bytes of a page's header: the place of the page before, and the number of bytes in this page.
const HEADER: usize = 16;
const NONE: u64 = u64::MAX;
/// Memory that a log with an unwritten end takes besides its bytes.
const OVERHEAD: usize = 96;

/// The logs of all contexts.
#[derive(Debug)]
pub(crate) struct Logs {
    tape: Tape,
    /// Last page of each log.
    last: FxHashMap<u32, u64>,
    tails: FxHashMap<u32, Vec<u8>>,
    buffered: usize,
    limit: usize,
}

impl Logs {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Logs {
            tape: Tape::new(spill, budget / 4 * 3),
            last: FxHashMap::default(),
            tails: FxHashMap::default(),
            buffered: 0,
            limit: budget / 4,
        }
    }

    /// Appends one or more entries to a context's log. They are not split across pages.
    #[inline]
    pub(crate) fn append(&mut self, context: u32, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let tail = self.tails.entry(context).or_insert_with(|| {
            self.buffered += OVERHEAD;
            Vec::new()
        });
        let before = tail.len();
        write(tail);
        self.buffered += tail.len() - before;
        if tail.len() >= PAGE {
            self.buffered -= tail.len();
            flush(&mut self.tape, &mut self.last, context, tail)?;
            tail.clear();
        } else if self.buffered > self.limit {
            // The tails are written in the order in which they will be read.
            let mut tails: Vec<_> = self.tails.drain().collect();
            tails.sort_unstable_by_key(|(context, _)| *context);
            for (context, tail) in tails {
                flush(&mut self.tape, &mut self.last, context, &tail)?;
            }
            self.buffered = 0;
        }
        Ok(())
    }

    /// The pages of a context in order.
    pub(crate) fn pages(&self, context: u32) -> Result<Pages<'_>> {
        let mut places = Vec::new();
        let mut at = self.last.get(&context).copied().unwrap_or(NONE);
        let mut header = Vec::new();
        while at != NONE {
            let (before, length) = self.header(at, &mut header)?;
            places.push((at + HEADER as u64, length));
            at = before;
        }
        Ok(Pages {
            tape: &self.tape,
            places,
            tail: self.tails.get(&context).map_or(&[], Vec::as_slice),
        })
    }

    fn header(&self, at: u64, header: &mut Vec<u8>) -> Result<(u64, u64)> {
        header.clear();
        self.tape.read(at, at + HEADER as u64, header)?;
        match header.as_chunks::<8>().0 {
            [before, length] => Ok((u64::from_le_bytes(*before), u64::from_le_bytes(*length))),
            _ => Err(Error::internal("a page without a header")),
        }
    }
}

fn flush(
    tape: &mut Tape,
    last: &mut FxHashMap<u32, u64>,
    context: u32,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let before = last.insert(context, tape.len()).unwrap_or(NONE);
    tape.append(|out| {
        out.extend_from_slice(&before.to_le_bytes());
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    })
}

/// Reads the pages of one log.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    tape: &'a Tape,
    /// Places and lengths of the pages that are still to be read, the next one last.
    places: Vec<(u64, u64)>,
    tail: &'a [u8],
}

impl Pages<'_> {
    /// Replaces `page` by the next page. Returns false at the end.
    pub(crate) fn next(&mut self, page: &mut Vec<u8>) -> Result<bool> {
        page.clear();
        match self.places.pop() {
            Some((at, length)) => self.tape.read(at, at + length, page)?,
            None => page.extend_from_slice(std::mem::take(&mut self.tail)),
        }
        Ok(!page.is_empty())
    }
}
