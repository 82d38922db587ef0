//! Decodes the columns of one block or path in a frame.

use std::ops::Range;
use std::sync::Arc;

use super::Rows;
use crate::column::Head;
use crate::error::{Result, malformed};
use crate::frame::MAX_VALUES;
use crate::frame::WHAT;
use crate::frame::shape::Shape;
use crate::wire::Reader;

/// The places of a table's columns among those of its frame.
#[derive(Clone, Debug)]
pub(in crate::frame) struct Table {
    /// A block, or the number of blocks + the index of a path, or [`Table::OTHER`].
    pub(in crate::frame) symbol: u32,
    /// Number of values in each of the table's fields.
    pub(in crate::frame) records: usize,
    /// Index of the table's first column.
    at: usize,
    shape: Option<Arc<Shape>>,
    loops: Vec<Iterations>,
}

/// The columns of the iterations of a loop.
#[derive(Clone, Copy, Debug)]
struct Iterations {
    /// The place of the first column; `all` is the number of values in each column.
    at: usize,
    all: usize,
    /// Number of columns.
    width: usize,
    /// The place of the numbers that say which iteration is the first of each record.
    firsts: usize,
}

/// The columns of a frame.
#[derive(Debug, Default)]
pub(in crate::frame) struct Columns {
    /// The values, column by column. Those behind the first `end` are of a frame before: new memory
    /// is slow.
    pub(in crate::frame) values: Vec<u64>,
    pub(in crate::frame) end: usize,
    /// For each loop and record, the first iteration.
    pub(in crate::frame) firsts: Vec<u32>,
}

impl Table {
    /// The symbol of the other actions.
    pub(in crate::frame) const OTHER: u32 = u32::MAX;

    /// A table of which nothing is known.
    pub(super) fn empty() -> Self {
        Self { symbol: Self::OTHER, records: 0, at: 0, shape: None, loops: Vec::new() }
    }

    /// Reads how the table's columns are stored, and appends the values of its records.
    pub(super) fn read(
        &mut self,
        (symbol, shape): (u32, &Arc<Shape>),
        Rows { first, all }: Rows,
        parts: &mut Parts<'_>,
        columns: &mut Columns,
    ) -> Result<()> {
        self.symbol = symbol;
        let rows = first..first + self.records;
        let fields = shape.fields.len();
        // Where the iterations of some records are depends on the counts of those before.
        let whole = rows.len() == all || shape.loops.is_empty();
        let read = if whole { rows.clone() } else { 0..all };
        let mut at = columns.read(fields, (all, read.clone()), parts)?;
        for l in &shape.loops {
            let firsts = columns.firsts.len();
            let counts = &columns.values[at + l.count * all..][..all];
            let mut sum = 0u64;
            let mut bounds = [0; 2];
            for (row, count) in counts.iter().enumerate() {
                if row == rows.start {
                    bounds[0] = sum;
                }
                if rows.contains(&row) {
                    // If more values come than fit, they are refused below.
                    let first = u32::try_from(sum - bounds[0]);
                    columns.firsts.push(first.unwrap_or(u32::MAX));
                }
                sum = sum.saturating_add(count.saturating_add(l.more));
                if row + 1 == rows.end {
                    bounds[1] = sum;
                }
            }
            let [all, from, to] = [sum, bounds[0], bounds[1].max(bounds[0])]
                .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
            let at = columns.read(l.values.len(), (all, from..to), parts)?;
            self.loops.push(Iterations { at, all: to - from, width: l.values.len(), firsts });
        }
        if !whole {
            at = columns.cut(at, (fields, all), rows);
        }
        self.at = at;
        self.shape = Some(Arc::clone(shape));
        Ok(())
    }

    /// Which of the table's fields are trip counts.
    pub(in crate::frame) fn counts(&self) -> &[usize] {
        self.shape.as_ref().map_or(&[], |shape| &shape.counts)
    }

    /// A field of some of the table's records.
    #[inline]
    pub(in crate::frame) fn field<'c>(
        &self,
        k: usize,
        rows: Range<usize>,
        columns: &'c Columns,
    ) -> &'c [u64] {
        let at = self.at + k * self.records;
        columns.values.get(at + rows.start..at + rows.end).unwrap_or(&[])
    }

    /// A field of one of the table's records.
    #[inline]
    pub(in crate::frame) fn value(&self, k: usize, row: usize, columns: &Columns) -> Option<u64> {
        let at = self.at + k * self.records + row;
        columns.values.get(at).copied()
    }

    /// What the iterations of a loop store in one of its records; `None` for one that stores
    /// nothing.
    #[inline]
    pub(in crate::frame) fn iterated<'c>(
        &self,
        l: usize,
        row: usize,
        columns: &'c Columns,
    ) -> Option<Iterated<'c>> {
        let own = self.loops.get(l)?;
        let first = *columns.firsts.get(own.firsts + row)? as usize;
        let next = match row + 1 < self.records {
            true => *columns.firsts.get(own.firsts + row + 1)? as usize,
            false => own.all,
        };
        Some(Iterated {
            values: columns.values.get(own.at..)?,
            all: own.all,
            first,
            width: own.width,
            len: next.saturating_sub(first),
        })
    }

    /// Appends what one of the table's records stores once.
    #[inline]
    pub(in crate::frame) fn row(&self, row: usize, columns: &Columns, out: &mut Vec<u64>) {
        let fields = self.shape.as_ref().map_or(0, |shape| shape.fields.len());
        out.extend((0..fields).map(|k| self.value(k, row, columns).unwrap_or(0)));
    }
}

/// What the iterations of a loop store in one record, column by column.
#[derive(Clone, Copy, Debug)]
pub(in crate::frame) struct Iterated<'c> {
    values: &'c [u64],
    all: usize,
    first: usize,
    /// Number of values of an iteration.
    pub(in crate::frame) width: usize,
    /// Number of iterations.
    pub(in crate::frame) len: usize,
}

impl<'c> Iterated<'c> {
    /// One of the values, for all iterations.
    #[inline]
    pub(in crate::frame) fn column(&self, k: usize) -> &'c [u64] {
        let from = k * self.all + self.first;
        self.values.get(from..from + self.len).unwrap_or(&[])
    }

    /// One of the values of an iteration, both of which there are.
    #[inline]
    pub(in crate::frame) fn value(&self, k: usize, iteration: usize) -> Option<u64> {
        self.values.get(k * self.all + self.first + iteration).copied()
    }
}

/// What is left of the parts of a frame that have columns.
#[derive(Debug)]
pub(super) struct Parts<'p> {
    pub(super) heads: Reader<'p>,
    pub(super) planes: Reader<'p>,
}

impl Columns {
    /// Forgets the columns, but not their memory.
    pub(super) fn clear(&mut self) {
        self.end = 0;
        self.firsts.clear();
    }

    /// Refuses columns that would be too much.
    fn limit(&self, columns: usize, length: usize) -> Result<()> {
        let values = length.checked_mul(columns);
        let end = values.and_then(|n| n.checked_add(self.end));
        if end.is_none_or(|end| end > MAX_VALUES) {
            let detail = format!("{columns} columns of {length} values are over the limit");
            return Err(malformed(WHAT, detail));
        }
        Ok(())
    }

    /// Makes room for a column, which is within the limit.
    fn room(&mut self, length: usize) {
        self.end += length;
        if self.values.len() < self.end {
            self.values.resize(self.end, 0);
        }
    }

    /// Appends some rows of several columns of the same length. Returns their place.
    fn read(
        &mut self,
        columns: usize,
        (length, rows): (usize, Range<usize>),
        Parts { heads, planes }: &mut Parts<'_>,
    ) -> Result<usize> {
        self.limit(columns, length)?;
        let (at, n) = (self.end, rows.len());
        for k in 0..columns {
            let head = Head::read(heads)?;
            let bytes = head.take(planes, length, k == 0)?;
            let own = self.end;
            self.room(n);
            let (before, out) = self.values.split_at_mut(own);
            let beside = &before[own.saturating_sub(n)..];
            head.values(bytes, beside, (length, rows.clone()), &mut out[..n]);
        }
        Ok(at)
    }

    /// Appends a part of the rows of some columns again. Returns the place.
    fn cut(&mut self, at: usize, (columns, length): (usize, usize), rows: Range<usize>) -> usize {
        let to = self.end;
        for k in 0..columns {
            let (from, own) = (at + k * length, self.end);
            self.room(rows.len());
            let rows = from + rows.start..from + rows.end;
            self.values.copy_within(rows, own);
        }
        to
    }
}
