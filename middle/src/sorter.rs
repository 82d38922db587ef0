//! External merge sort of fixed-size records: sorted runs on a tape, merged with a heap when read
//! (Knuth, The Art of Computer Programming 3, section 5.4.1).
//!
//! The records of a run are stored as differences from the record before: for most events, this
//! takes one byte for each word.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::mem::{replace, take};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use contech_program::wire::{unzigzag, zigzag};
use crossbeam_channel::bounded;

use crate::error::{Error, Result};
use crate::spill::Spill;
use crate::tape::{Tape, TapeReader};
use crate::varint::{get, put};

/// Smallest number of records of a run. With fewer, seeking would dominate.
const FEWEST: usize = 64;
/// Bytes of a run that are read at a time, at the least.
const SMALLEST: usize = 1 << 9;
const LARGEST: usize = 1 << 16;
/// Largest number of bytes of a word on the tape.
const NUMBER: usize = 10;

/// Runs with fewer records are sorted at once, because beginning a thread would take as long.
const WORTH: usize = 1 << 14;
/// Records that a merge hands over at a time to another thread, and how many times before they are
/// taken.
const BATCH: usize = 1 << 12;
const BATCHES: usize = 4;

/// Collects records `[u64; N]`, which are then read in ascending order of all words. A full run is
/// sorted and stored by another thread while the next one is collected.
#[derive(Debug)]
pub(crate) struct Sorter<const N: usize> {
    run: Vec<[u64; N]>,
    limit: usize,
    budget: usize,
    /// What is stored, unless a thread has it, which adds a run.
    stored: Option<Stored<N>>,
    sorting: Option<JoinHandle<Result<Stored<N>>>>,
}

/// The runs that were sorted.
#[derive(Debug)]
struct Stored<const N: usize> {
    tape: Tape,
    runs: Vec<Run>,
    /// The memory of the run that was stored last.
    spare: Vec<[u64; N]>,
}

/// Place of a run on the tape.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: u64,
    to: u64,
}

impl<const N: usize> Stored<N> {
    fn add(mut self, mut run: Vec<[u64; N]>) -> Result<Self> {
        sort(&mut run);
        let from = self.tape.len();
        let mut before = [0; N];
        for record in &run {
            self.tape.append(|out| put_record(out, &before, record))?;
            before = *record;
        }
        let to = self.tape.len();
        self.runs.push(Run { from, to });
        run.clear();
        self.spare = run;
        Ok(self)
    }
}

impl<const N: usize> Sorter<N> {
    const BYTES: usize = 8 * N;

    /// A sorter that takes about `budget` bytes of memory.
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Sorter {
            run: Vec::new(),
            // The run that is being sorted takes as much, and sorting it again. The other half
            // belongs to the tape.
            limit: (budget / 6 / Self::BYTES).max(FEWEST),
            budget,
            stored: Some(Stored {
                tape: Tape::new(spill, budget / 2),
                runs: Vec::new(),
                spare: Vec::new(),
            }),
            sorting: None,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: [u64; N]) -> Result<()> {
        if self.run.len() >= self.limit {
            self.end_run()?;
        }
        self.run.push(record);
        Ok(())
    }

    #[cold]
    fn end_run(&mut self) -> Result<()> {
        let mut stored = self.take_stored()?;
        let run = replace(&mut self.run, take(&mut stored.spare));
        if run.len() < WORTH {
            self.stored = Some(stored.add(run)?);
        } else {
            self.sorting = Some(thread::spawn(move || stored.add(run)));
        }
        Ok(())
    }

    /// The stored runs, when the last of them is there.
    fn take_stored(&mut self) -> Result<Stored<N>> {
        let sorting = self.sorting.take().map(JoinHandle::join);
        let there = self.stored.take().map(|stored| Ok(Ok(stored)));
        // After an error there is nothing.
        let stored = there.or(sorting).and_then(std::result::Result::ok);
        stored.unwrap_or_else(|| Err(panicked()))
    }

    /// Ends collecting.
    pub(crate) fn finish(mut self) -> Result<Sorted<N>> {
        let stored = self.take_stored()?;
        sort(&mut self.run);
        Ok(Sorted {
            window: (self.budget / 4 / (stored.runs.len() + 1)).clamp(SMALLEST, LARGEST),
            run: self.run,
            tape: stored.tape,
            runs: stored.runs,
        })
    }
}

#[cold]
fn panicked() -> Error {
    Error::internal("a thread that sorts panicked")
}

/// Writes a record as the differences of its words from those of the record before, with their
/// signs in the lowest bits.
fn put_record<const N: usize>(out: &mut Vec<u8>, before: &[u64; N], record: &[u64; N]) {
    for (word, before) in record.iter().zip(before) {
        put(out, zigzag(word.wrapping_sub(*before)));
    }
}

/// Largest number of groups into which records are divided by the high half of their first words.
const GROUPS: usize = 1 << 16;

/// Sorts records that are usually ascending sequences, either one after the other (for an object,
/// by the contexts that use it) or side by side (for each context, when places stand first). The
/// stable sort finds sequences of the former kind; counting turns the latter kind into the former.
fn sort<const N: usize>(records: &mut Vec<[u64; N]>) {
    let ascending = |r: &[[u64; N]]| r.is_sorted_by(|a, b| order(a, b).is_le());
    if ascending(records) {
        return;
    }
    let group = |r: &[u64; N]| r[0] >> 32;
    let low = records.iter().map(group).min().unwrap_or(0);
    let high = records.iter().map(group).max().unwrap_or(0);
    let groups = usize::try_from(high - low).map_or(usize::MAX, |n| n.saturating_add(1));
    if groups > GROUPS.min(records.len() / 16) || groups < 2 {
        records.sort_by(order);
        return;
    }
    let index = |r: &[u64; N]| usize::try_from(group(r) - low).unwrap_or(0);
    let mut ends = vec![0; groups + 1];
    for r in records.iter() {
        ends[index(r) + 1] += 1;
    }
    for g in 0..groups {
        ends[g + 1] += ends[g];
    }
    let mut grouped = vec![[0; N]; records.len()];
    for r in records.iter() {
        let at = &mut ends[index(r)];
        grouped[*at] = *r;
        *at += 1;
    }
    *records = grouped;
    let mut from = 0;
    for to in ends.into_iter().take(groups) {
        let group = &mut records[from..to];
        if !ascending(group) {
            group.sort_by(order);
        }
        from = to;
    }
}

/// Compares by all words. The first two words are compared at once, which the sort turns into code
/// without branches.
fn order<const N: usize>(a: &[u64; N], b: &[u64; N]) -> Ordering {
    let pair = |r: &[u64; N]| u128::from(r[0]) << 64 | u128::from(r[1]);
    pair(a).cmp(&pair(b)).then_with(|| a[2..].cmp(&b[2..]))
}

/// Sorted records, which can be read more than once.
#[derive(Debug)]
pub(crate) struct Sorted<const N: usize> {
    run: Vec<[u64; N]>,
    tape: Tape,
    runs: Vec<Run>,
    window: usize,
}

impl<const N: usize> Sorted<N> {
    pub(crate) fn is_empty(&self) -> bool {
        self.run.is_empty() && self.runs.is_empty()
    }

    pub(crate) fn iter(&self) -> Result<Merge<'_, N>> {
        let cursor =
            |run: &Run| Cursor { reader: TapeReader::new(run.from, run.to), record: [0; N] };
        let mut merge = Merge {
            sorted: self,
            next_in_memory: 0,
            cursors: self.runs.iter().map(cursor).collect(),
            heads: BinaryHeap::new(),
        };
        for i in 0..merge.cursors.len() {
            if let Some(record) = merge.cursors[i].next(self)? {
                merge.heads.push(Reverse((record, i)));
            }
        }
        Ok(merge)
    }

    /// Calls `f` with all records in order. Stored runs are merged by another thread.
    pub(crate) fn each(&self, mut f: impl FnMut([u64; N]) -> Result<()>) -> Result<()> {
        let mut merge = self.iter()?;
        if self.runs.is_empty() {
            while let Some(record) = merge.next()? {
                f(record)?;
            }
            return Ok(());
        }
        let (full, batches) = bounded::<Vec<_>>(BATCHES);
        thread::scope(|scope| {
            let merging = scope.spawn(move || {
                loop {
                    let mut batch = Vec::with_capacity(BATCH);
                    while let Some(record) = merge.next()? {
                        batch.push(record);
                        if batch.len() == BATCH {
                            break;
                        }
                    }
                    // Nobody takes a batch after an error.
                    if batch.is_empty() || full.send(batch).is_err() {
                        return Ok(());
                    }
                }
            });
            let done = batches.iter().flatten().try_for_each(&mut f);
            drop(batches);
            done.and(merging.join().unwrap_or_else(|_| Err(panicked())))
        })
    }
}

impl Sorted<2> {
    /// The pairs with their words the other way round.
    pub(crate) fn swapped(&self, spill: &Arc<Spill>, budget: usize) -> Result<Self> {
        let mut swapped = Sorter::new(spill, budget);
        let mut all = self.iter()?;
        while let Some([first, second]) = all.next()? {
            swapped.push([second, first])?;
        }
        swapped.finish()
    }
}

/// A reading position in one run on the tape.
#[derive(Debug)]
struct Cursor<const N: usize> {
    reader: TapeReader,
    /// The record before.
    record: [u64; N],
}

impl<const N: usize> Cursor<N> {
    fn next(&mut self, sorted: &Sorted<N>) -> Result<Option<[u64; N]>> {
        if self.reader.is_at_end() {
            return Ok(None);
        }
        self.reader.fill(&sorted.tape, N * NUMBER, sorted.window)?;
        let (bytes, at) = self.reader.parts();
        for word in &mut self.record {
            *word = word.wrapping_add(unzigzag(get(bytes, at)?));
        }
        Ok(Some(self.record))
    }
}

#[derive(Debug)]
pub(crate) struct Merge<'a, const N: usize> {
    sorted: &'a Sorted<N>,
    next_in_memory: usize,
    cursors: Vec<Cursor<N>>,
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
}

impl<const N: usize> Merge<'_, N> {
    /// Returns the next record in order.
    pub(crate) fn next(&mut self) -> Result<Option<[u64; N]>> {
        let in_memory = self.sorted.run.get(self.next_in_memory);
        let Some(mut head) = self.heads.peek_mut() else {
            self.next_in_memory += 1;
            return Ok(in_memory.copied());
        };
        let Reverse((record, cursor)) = *head;
        if let Some(first) = in_memory.filter(|m| **m <= record) {
            self.next_in_memory += 1;
            return Ok(Some(*first));
        }
        match self.cursors[cursor].next(self.sorted)? {
            Some(next) => head.0.0 = next,
            None => {
                PeekMut::pop(head);
            }
        }
        Ok(Some(record))
    }
}

/// Sorted pairs that are asked for by ascending first word.
#[derive(Debug)]
pub(crate) struct Lookahead<'a> {
    all: Merge<'a, 2>,
    head: Option<[u64; 2]>,
}

impl<'a> Lookahead<'a> {
    pub(crate) fn new(pairs: &'a Sorted<2>) -> Result<Self> {
        let mut all = pairs.iter()?;
        let head = all.next()?;
        Ok(Lookahead { all, head })
    }

    /// The second word of the first pair whose first word is `key`. Calls `passed` with the first
    /// words before it.
    pub(crate) fn find(&mut self, key: u64, mut passed: impl FnMut(u64)) -> Result<Option<u64>> {
        while let Some([first, second]) = self.head {
            if first >= key {
                return Ok((first == key).then_some(second));
            }
            passed(first);
            self.head = self.all.next()?;
        }
        Ok(None)
    }

    /// Calls `f` with the second words of all pairs whose first word is `key`, and goes behind
    /// them.
    pub(crate) fn take(&mut self, key: u64, mut f: impl FnMut(u64)) -> Result<()> {
        while let Some(second) = self.find(key, |_| ())? {
            f(second);
            self.head = self.all.next()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(budget: usize, records: &[[u64; 2]]) -> (Vec<[u64; 2]>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut s = Sorter::new(&spill, budget);
        for r in records {
            s.push(*r).unwrap();
        }
        let sorted = s.finish().unwrap();
        let mut out = Vec::new();
        for round in 0..2 {
            let mut m = sorted.iter().unwrap();
            let before = out.len();
            while let Some(r) = m.next().unwrap() {
                out.push(r);
            }
            if round == 1 {
                assert_eq!(out[..before], out[before..], "a second reading differs");
                out.truncate(before);
            }
        }
        let mut each = Vec::new();
        let all = sorted.each(|record| {
            each.push(record);
            Ok(())
        });
        all.unwrap();
        assert_eq!(each, out, "records that are handed over differ");
        (out, spill.len())
    }

    #[test]
    fn records_come_out_sorted_with_and_without_spilling() {
        let mut x = 1u64;
        let records: Vec<[u64; 2]> = (0..200_000)
            .map(|i| {
                x = x
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                // Many are equal in both words.
                [x >> 54, i % 97]
            })
            .collect();
        let mut expected = records.clone();
        expected.sort_unstable();
        // In the second case threads sort, in the others nothing is stored, or runs are too short
        // for that.
        let cases = [(1 << 30, false), (4_000_000, false), (16_000, true), (1, true)];
        for (budget, spills) in cases {
            let (got, spilled) = sorted(budget, &records);
            assert_eq!(got, expected, "budget {budget}");
            assert_eq!(spilled > 0, spills, "budget {budget}");
        }
        assert_eq!(sorted(0, &[]).0, Vec::<[u64; 2]>::new());
    }

    #[test]
    fn an_error_ends_the_handing_over() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Arc::new(Spill::beside(&folder.path().join("x")));
        let mut s = Sorter::<2>::new(&spill, 4_000_000);
        (0..100_000).for_each(|i| s.push([i, i]).unwrap());
        let mut taken = 0;
        let all = s.finish().unwrap().each(|_| {
            taken += 1;
            Err(Error::Cancelled)
        });
        assert!(matches!(all, Err(Error::Cancelled)) && taken == 1);
    }
}
