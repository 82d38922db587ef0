//! The columns of one block or path in a frame, and where its records are among those of the frame.

use super::WHAT;
use crate::error::{Result, malformed};
use crate::frame::column::Head;
use crate::frame::shape::Shape;
use crate::frame::{MAX_VALUES, shape::Iterated};
use crate::wire::Reader;

/// Where the columns of a table are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// A block; or the number of blocks + index of a path.
    pub(super) symbol: u32,
    /// Its first column in the values of all columns.
    at: usize,
    /// Values in each of its fields.
    pub(super) records: usize,
    /// The first of its records in the list of places by table.
    pub(super) first: usize,
}

impl Table {
    /// One that nothing is known of.
    pub(super) fn empty() -> Self {
        Self {
            symbol: u32::MAX,
            at: 0,
            records: 0,
            first: 0,
        }
    }

    /// Reads how the columns of the next table are stored, and appends their values.
    pub(super) fn read(
        symbol: u32,
        shape: &Shape,
        (first, records): (usize, usize),
        heads: &mut Reader<'_>,
        planes: &mut Reader<'_>,
        columns: &mut Vec<u64>,
    ) -> Result<Self> {
        let this = Self {
            symbol,
            at: columns.len(),
            records,
            first,
        };
        read_columns(shape.fields.len(), records, heads, planes, columns)?;
        for l in &shape.loops {
            let counts = &columns[this.at + l.count * records..][..records];
            let all = counts.iter().map(|n| n.saturating_add(l.more));
            let all = all.fold(0, u64::saturating_add);
            let all = usize::try_from(all).unwrap_or(usize::MAX);
            read_columns(l.values.len(), all, heads, planes, columns)?;
        }
        Ok(this)
    }

    fn counts<'c>(&self, l: &Iterated, columns: &'c [u64]) -> &'c [u64] {
        &columns[self.at + l.count * self.records..][..self.records]
    }

    /// Fills in how many values each of its records has.
    pub(super) fn lengths(&self, shape: &Shape, columns: &[u64], out: &mut [u32]) {
        // All values together are at most MAX_VALUES.
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        out.fill(narrow(shape.fields.len()));
        for l in &shape.loops {
            let values = narrow(l.values.len());
            for (length, count) in out.iter_mut().zip(self.counts(l, columns)) {
                let iterations = u32::try_from(count + l.more).unwrap_or(u32::MAX);
                *length = length.saturating_add(iterations.saturating_mul(values));
            }
        }
    }

    /// Puts its values to the places of its records.
    pub(super) fn scatter(
        &self,
        shape: &Shape,
        columns: &[u64],
        places: &mut [u32],
        values: &mut [u64],
    ) {
        let n = self.records;
        let mut columns_left = &columns[self.at..];
        let mut next = |length: usize| {
            let (column, rest) = columns_left.split_at(length);
            columns_left = rest;
            column
        };
        let Some(first_loop) = shape.loops.first() else {
            for k in 0..shape.fields.len() {
                spread(next(n), &places[..n], k, values);
            }
            return;
        };
        let fields = next(n * shape.fields.len());
        let mut from = first_loop.count + 1;
        for k in 0..from {
            spread(&fields[k * n..][..n], places, k, values);
        }
        for (i, l) in shape.loops.iter().enumerate() {
            // Places are those of what comes next, as if it were the first field.
            let counts = &fields[l.count * n..][..n];
            let width = l.values.len();
            let all: u64 = counts.iter().map(|c| c + l.more).sum();
            let all = usize::try_from(all).unwrap_or(usize::MAX);
            let iterated = next(width * all);
            for k in 0..width {
                let mut column = iterated[k * all..][..all].iter();
                for (place, count) in places.iter().zip(counts) {
                    let at = *place as usize + from + k;
                    let iterations = usize::try_from(count + l.more).unwrap_or(usize::MAX);
                    let to = values.get_mut(at..).unwrap_or(&mut []);
                    let to = to.iter_mut().step_by(width).take(iterations);
                    to.zip(&mut column).for_each(|(to, v)| *to = *v);
                }
            }
            for (place, count) in places.iter_mut().zip(counts) {
                let passed = u64::try_from(width).unwrap_or(0) * (count + l.more);
                *place += u32::try_from(passed).unwrap_or(u32::MAX);
            }
            let to = shape.loops.get(i + 1);
            let to = to.map_or(shape.fields.len(), |l| l.count + 1);
            for k in from..to {
                spread(&fields[k * n..][..n], places, k, values);
            }
            from = to;
        }
    }
}

/// Puts a column to a field of its records.
fn spread(column: &[u64], places: &[u32], field: usize, values: &mut [u64]) {
    for (v, place) in column.iter().zip(places) {
        values[*place as usize + field] = *v;
    }
}

/// Appends so many columns of the same length.
fn read_columns(
    columns: usize,
    length: usize,
    heads: &mut Reader<'_>,
    planes: &mut Reader<'_>,
    out: &mut Vec<u64>,
) -> Result<()> {
    let start = out.len();
    let values = length.checked_mul(columns);
    let end = values.and_then(|n| n.checked_add(start));
    if end.is_none_or(|end| end > MAX_VALUES) {
        let detail = format!("{columns} columns of {length} values are over the limit");
        return Err(malformed(WHAT, detail));
    }
    for _ in 0..columns {
        let head = Head::read(heads)?;
        let at = out.len();
        out.resize(at + length, 0);
        let (known, new) = out.split_at_mut(at);
        let beside = known[start..].len().checked_sub(length);
        head.fill(planes, beside.map(|at| &known[start + at..]), new)?;
    }
    Ok(())
}
