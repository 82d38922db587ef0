//! One append-only log of bytes per context, in pages chained through the temporary file. Memory: the
//! unwritten end of each log, together bounded by the budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::spill::Spill;

/// A page is written when it has this many bytes.
const PAGE: usize = 1 << 16;
/// Place of the next page, bytes in this one.
const HEADER: usize = 16;
const NONE: u64 = u64::MAX;

/// The logs of all contexts.
#[derive(Debug)]
pub(crate) struct Logs {
    spill: Arc<Spill>,
    tails: BTreeMap<u32, Tail>,
    buffered: usize,
    limit: usize,
}

#[derive(Debug)]
struct Tail {
    bytes: Vec<u8>,
    first: u64,
    last: u64,
}

impl Logs {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Logs {
            spill: Arc::clone(spill),
            tails: BTreeMap::new(),
            buffered: 0,
            limit: budget,
        }
    }

    /// Appends one entry (or several) to a context's log; it will not be split across pages.
    pub(crate) fn append(&mut self, context: u32, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let tail = self.tails.entry(context).or_insert_with(|| Tail {
            bytes: Vec::new(),
            first: NONE,
            last: NONE,
        });
        let before = tail.bytes.len();
        write(&mut tail.bytes);
        self.buffered += tail.bytes.len() - before;
        if tail.bytes.len() >= PAGE {
            self.buffered -= tail.bytes.len();
            flush(&self.spill, tail)?;
        } else if self.buffered > self.limit {
            for tail in self.tails.values_mut() {
                flush(&self.spill, tail)?;
                tail.bytes = Vec::new();
            }
            self.buffered = 0;
        }
        Ok(())
    }

    /// The pages of a context, in order.
    pub(crate) fn pages(&self, context: u32) -> Pages<'_> {
        let tail = self.tails.get(&context);
        Pages {
            spill: &self.spill,
            next: tail.map_or(NONE, |t| t.first),
            tail: tail.map_or(&[], |t| &t.bytes),
        }
    }
}

fn flush(spill: &Spill, tail: &mut Tail) -> Result<()> {
    if tail.bytes.is_empty() {
        return Ok(());
    }
    let mut page = Vec::with_capacity(HEADER + tail.bytes.len());
    page.extend_from_slice(&NONE.to_le_bytes());
    page.extend_from_slice(&(tail.bytes.len() as u64).to_le_bytes());
    page.extend_from_slice(&tail.bytes);
    let at = spill.append(&page)?;
    if tail.last == NONE {
        tail.first = at;
    } else {
        spill.write(&at.to_le_bytes(), tail.last)?;
    }
    tail.last = at;
    tail.bytes.clear();
    Ok(())
}

/// Reads the pages of one log.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    spill: &'a Spill,
    next: u64,
    tail: &'a [u8],
}

impl Pages<'_> {
    /// Replaces `page` by the next page; false at the end.
    pub(crate) fn next(&mut self, page: &mut Vec<u8>) -> Result<bool> {
        page.clear();
        if self.next == NONE {
            page.extend_from_slice(std::mem::take(&mut self.tail));
            return Ok(!page.is_empty());
        }
        let mut header = [0; HEADER];
        self.spill.read(&mut header, self.next)?;
        let (words, _) = header.as_chunks::<8>();
        let length = usize::try_from(u64::from_le_bytes(words[1]))
            .map_err(|_| Error::internal("a page over the address space"))?;
        page.resize(length, 0);
        self.spill.read(page, self.next + HEADER as u64)?;
        self.next = u64::from_le_bytes(words[0]);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(budget: usize) -> (Vec<Vec<u8>>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut logs = Logs::new(&spill, budget);
        for i in 0..40_000u32 {
            let context = i * i % 7;
            logs.append(context, |out| out.extend_from_slice(&i.to_le_bytes()))
                .unwrap();
        }
        let all = (0..8)
            .map(|c| {
                let (mut pages, mut page, mut all) = (logs.pages(c), Vec::new(), Vec::new());
                while pages.next(&mut page).unwrap() {
                    all.extend_from_slice(&page);
                }
                all
            })
            .collect();
        (all, spill.len())
    }

    #[test]
    fn each_log_is_read_back_in_order_whatever_the_budget() {
        let (large, written) = contents(1 << 30);
        assert_eq!(written, 0);
        assert_eq!(large.iter().map(Vec::len).sum::<usize>(), 160_000);
        assert_eq!(large[0].len(), 4 * 40_000usize.div_ceil(7));
        let (small, written) = contents(5000);
        assert!(written > 0);
        assert_eq!(small, large);
    }
}
