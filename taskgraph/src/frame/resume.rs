//! Places inside of a frame where a function goes on after an event. A span may begin there, so the
//! frame stores what is known of the function at each of them.

use crate::error::Result;
use crate::path::{CompiledFunction, PathSet};
use crate::wire::{Reader, put_delta, put_varint};

use super::WHAT;

/// The resumes of a frame that is being written, in the order of their records.
#[derive(Debug, Default)]
pub(super) struct ResumesWriter {
    bytes: Vec<u8>,
    /// Record, function and values of the last resume.
    record: usize,
    function: Option<u32>,
    values: Vec<u64>,
}

impl ResumesWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        (self.record, self.function) = (0, None);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Appends what is known before a record: the slots and iteration numbers of a function.
    #[cold]
    pub(super) fn put(&mut self, record: usize, function: u32, known: &[u64]) {
        put_varint(&mut self.bytes, (record - self.record) as u64);
        put_varint(&mut self.bytes, u64::from(function));
        let same = self.function == Some(function);
        for (at, v) in known.iter().enumerate() {
            put_delta(&mut self.bytes, *v, base(same, &self.values, known, at));
        }
        (self.record, self.function) = (record, Some(function));
        self.values.clear();
        self.values.extend_from_slice(known);
    }
}

/// What a value is stored as a difference from: the same value of the resume before, if that is one
/// of the same function, or the value before it.
fn base(same: bool, above: &[u64], own: &[u64], at: usize) -> u64 {
    let base = match same {
        true => above.get(at),
        false => at.checked_sub(1).and_then(|before| own.get(before)),
    };
    base.copied().unwrap_or(0)
}

/// One resume.
#[derive(Clone, Copy, Debug)]
struct Resume {
    record: usize,
    /// Index of the function.
    function: u32,
    /// The first value, and the number of slots.
    first: usize,
    slots: usize,
}

/// What is known of a function where it goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'f> {
    /// Index of the function.
    pub(super) function: u32,
    pub(super) slots: &'f [u64],
    pub(super) iterations: &'f [u64],
}

/// The resumes of a decoded frame.
#[derive(Debug, Default)]
pub(super) struct Resumes {
    all: Vec<Resume>,
    values: Vec<u64>,
}

impl Resumes {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.values.clear();
    }

    /// Bytes in memory, about.
    pub(super) fn weight(&self) -> usize {
        8 * self.values.capacity() + 32 * self.all.capacity()
    }

    /// Reads the resumes of the records from `first` on. Their records count from there.
    pub(super) fn decode(&mut self, bytes: &[u8], first: usize, paths: &PathSet) -> Result<()> {
        let mut r = Reader::new(WHAT, bytes);
        let (mut record, mut before, mut above) = (0usize, None, Vec::new());
        while r.remaining() > 0 {
            record = record.saturating_add(r.varint32()? as usize);
            let number = r.varint32()?;
            let function = paths.function(number);
            let function = function.ok_or_else(|| r.error(format!("function {number}")))?;
            let f: &CompiledFunction = &paths.functions[function as usize];
            let same = before.replace(function) == Some(function);
            let start = self.values.len();
            for at in 0..f.slots + f.loops.len() {
                let last = base(same, &above, &self.values[start..], at);
                self.values.push(r.delta(last)?);
            }
            above.clear();
            above.extend_from_slice(&self.values[start..]);
            match record.checked_sub(first) {
                Some(record) => {
                    self.all.push(Resume { record, function, first: start, slots: f.slots })
                }
                None => self.values.truncate(start),
            }
        }
        Ok(())
    }

    /// The first record from `start` on that something is stored of.
    pub(super) fn next(&self, start: usize) -> Option<usize> {
        let at = self.all.partition_point(|r| r.record < start);
        self.all.get(at).map(|r| r.record)
    }

    /// What is stored of a record.
    pub(super) fn at(&self, record: usize) -> Option<Known<'_>> {
        let at = self.all.binary_search_by_key(&record, |r| r.record).ok()?;
        let resume = self.all[at];
        let end = self.all.get(at + 1).map_or(self.values.len(), |r| r.first);
        let (slots, iterations) = self.values[resume.first..end].split_at(resume.slots);
        Some(Known { function: resume.function, slots, iterations })
    }
}
