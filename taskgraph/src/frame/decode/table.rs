//! Decodes the columns of one block or path in a frame.

use std::ops::Range;
use std::sync::Arc;

use super::WHAT;
use crate::error::{Result, malformed};
use crate::frame::MAX_VALUES;
use crate::frame::column::Head;
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
    /// The values, column by column.
    pub(in crate::frame) values: Vec<u64>,
    /// For each loop and record, the first iteration.
    pub(in crate::frame) firsts: Vec<u32>,
}

impl Table {
    /// The symbol of the other actions.
    pub(in crate::frame) const OTHER: u32 = u32::MAX;

    /// A table of which nothing is known.
    pub(super) fn empty() -> Self {
        Self {
            symbol: Self::OTHER,
            records: 0,
            at: 0,
            shape: None,
            loops: Vec::new(),
        }
    }

    /// Reads how the table's columns are stored, and appends their values.
    pub(super) fn read(
        &mut self,
        symbol: u32,
        shape: &Arc<Shape>,
        heads: &mut Reader<'_>,
        planes: &mut Reader<'_>,
        columns: &mut Columns,
    ) -> Result<()> {
        (self.symbol, self.at) = (symbol, columns.values.len());
        let records = self.records;
        read_columns(
            shape.fields.len(),
            records,
            heads,
            planes,
            &mut columns.values,
        )?;
        for l in &shape.loops {
            let firsts = columns.firsts.len();
            let counts = &columns.values[self.at + l.count * records..][..records];
            let mut all = 0u64;
            for count in counts {
                // If more values come than fit, they are refused below.
                columns.firsts.push(u32::try_from(all).unwrap_or(u32::MAX));
                all = all.saturating_add(count.saturating_add(l.more));
            }
            let (at, all) = (
                columns.values.len(),
                usize::try_from(all).unwrap_or(usize::MAX),
            );
            read_columns(l.values.len(), all, heads, planes, &mut columns.values)?;
            self.loops.push(Iterations {
                at,
                all,
                width: l.values.len(),
                firsts,
            });
        }
        self.shape = Some(Arc::clone(shape));
        Ok(())
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
        columns
            .values
            .get(at + rows.start..at + rows.end)
            .unwrap_or(&[])
    }

    /// A field of one of the table's records.
    #[inline]
    pub(in crate::frame) fn value(&self, k: usize, row: usize, columns: &Columns) -> Option<u64> {
        let at = self.at + k * self.records + row;
        columns.values.get(at).copied()
    }

    /// What the iterations of a loop store in one of its records; `None` for one that stores nothing.
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

    /// Appends the values of one of the table's records, in the order of their execution.
    #[inline]
    pub(in crate::frame) fn row(&self, row: usize, columns: &Columns, out: &mut Vec<u64>) {
        let Some(shape) = &self.shape else { return };
        let fields = |range: Range<usize>| {
            range.map(|k| {
                let v = columns.values.get(self.at + k * self.records + row);
                v.copied().unwrap_or(0)
            })
        };
        let mut next = 0;
        for (i, l) in shape.loops.iter().enumerate() {
            out.extend(fields(next..l.count + 1));
            next = l.count + 1;
            let Some(own) = self.iterated(i, row, columns) else {
                continue;
            };
            let (start, width) = (out.len(), l.values.len());
            out.resize(start + own.len * width, 0);
            for k in 0..width {
                let to = out.get_mut(start + k..).unwrap_or_default();
                let to = to.iter_mut().step_by(width);
                to.zip(own.column(k)).for_each(|(to, v)| *to = *v);
            }
        }
        out.extend(fields(next..shape.fields.len()));
    }
}

/// What the iterations of a loop store in one record, column by column.
#[derive(Clone, Copy, Debug)]
pub(in crate::frame) struct Iterated<'c> {
    values: &'c [u64],
    all: usize,
    first: usize,
    /// Number of values of an iteration.
    width: usize,
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

    /// The values of one of the iterations, in order. There are none if the number is too large.
    #[inline]
    pub(in crate::frame) fn iteration(self, at: u64) -> impl Iterator<Item = u64> + use<'c> {
        let at = usize::try_from(at).ok().filter(|at| *at < self.len);
        let values = at.and_then(|at| self.values.get(self.first + at..));
        let values = values.unwrap_or(&[]).iter().step_by(self.all.max(1));
        values.take(self.width).copied()
    }
}

/// Appends several columns of the same length.
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
        let beside = out.len().checked_sub(length).filter(|at| *at >= start);
        head.read_values(planes, beside, length, out)?;
    }
    Ok(())
}
