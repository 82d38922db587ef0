//! Decodes frames, or parts of them, into records, which name a path or block and its stored
//! values. Nothing is computed here; see [`Player`](crate::frame::Player).

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use self::table::Parts;
pub(super) use self::table::{Columns, Iterated, Table};
use crate::action::Action;
use crate::codec::Unpacker;
use crate::error::{Error, Result, malformed};
use crate::frame::Layout;
use crate::frame::plan::Plan;
use crate::frame::resume::{Known, Resumes};
use crate::frame::shape::Shape;
use crate::frame::{MAX_PART, MAX_RECORDS, PARTS, WHAT, id_bytes, others};
use crate::path::PathSet;
use crate::wire::Reader;

mod table;

/// One record of a decoded frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// Index of the record's table.
    pub(super) table: u32,
    /// Number of the record among those of the table, or among the other actions.
    pub(super) row: u32,
}

/// The records of a frame, or of a part of it, which are then counted from the start of the part.
#[derive(Debug, Default)]
pub(crate) struct DecodedFrame {
    /// Number of records in the whole frame.
    all: usize,
    pub(super) records: Vec<Record>,
    pub(super) tables: Vec<Table>,
    pub(super) columns: Columns,
    pub(super) others: Vec<Action<'static>>,
    /// How the records of each table are executed, once somebody asked.
    pub(super) plans: OnceLock<Vec<Plan>>,
    resumes: Resumes,
    /// Symbols from this one on are paths.
    first_path: usize,
}

impl DecodedFrame {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of records in the whole frame.
    pub(crate) fn whole(&self) -> usize {
        self.all
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        let Columns { values, firsts, .. } = &self.columns;
        8 * (self.records.capacity() + values.capacity())
            + 4 * firsts.capacity()
            + 32 * self.others.capacity()
            + self.resumes.weight()
    }

    /// The table of a record, which stands for a block or path.
    #[inline]
    pub(super) fn table(&self, record: Record) -> Option<&Table> {
        self.tables.get(record.table as usize)
    }

    /// The actions among some records that execute no block.
    pub(crate) fn others_in(
        &self,
        records: &Range<usize>,
    ) -> impl Iterator<Item = &Action<'static>> {
        let records = self.records.get(records.clone()).unwrap_or(&[]).iter();
        let other = |table: &Table| table.symbol == Table::OTHER;
        let others = records.filter(move |record| self.table(**record).is_some_and(other));
        others.filter_map(|record| self.others.get(record.row as usize))
    }

    /// What is known before a record where a span begins. `None` if the first path from there on
    /// begins its function.
    pub(super) fn known_at(&self, start: usize) -> Option<Known<'_>> {
        let resume = self.resumes.next(start)?;
        // What is no path changes nothing of it.
        let is_path = |record: &Record| {
            let table = self.table(*record);
            table.is_some_and(|t| t.symbol != Table::OTHER && t.symbol as usize >= self.first_path)
        };
        let between = self.records.get(start..resume)?;
        match between.iter().any(is_path) {
            true => None,
            false => self.resumes.at(resume),
        }
    }

    /// Replaces `out` by the operands of a record of a block.
    #[inline]
    pub(super) fn row(&self, record: Record, out: &mut Vec<u64>) {
        out.clear();
        if let Some(table) = self.table(record) {
            table.row(record.row as usize, &self.columns, out);
        }
    }
}

/// Records are looked at in groups of so many, because loops make many of one table in a row.
const TOGETHER: usize = 16;

/// Decodes frames of one program. Each thread can use one decoder for many frames.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    layout: Arc<Layout>,
    paths: Arc<PathSet>,
    /// For each symbol that was met, its shape.
    shapes: Vec<Option<Arc<Shape>>>,
    unpacker: Unpacker,
    parts: [Vec<u8>; PARTS],
    /// For each table of the frame, which of its rows are in the part.
    rows: Vec<Rows>,
}

/// The rows of a table from `first` on, of `all` in the frame.
#[derive(Clone, Copy, Debug)]
struct Rows {
    first: usize,
    all: usize,
}

impl FrameDecoder {
    pub(crate) fn new(layout: Arc<Layout>, paths: Arc<PathSet>) -> Self {
        let mut shapes = Vec::new();
        shapes.resize_with(layout.blocks.len() + paths.paths.len(), || None);
        Self {
            layout,
            paths,
            shapes,
            unpacker: Unpacker::new(),
            parts: Default::default(),
            rows: Vec::new(),
        }
    }

    /// Decodes some records of the payload of a frame into `out`: those of `part` that there are.
    /// The contents of `out` are replaced, and its memory is used again.
    pub(crate) fn decode(
        &mut self,
        payload: &[u8],
        part: Range<usize>,
        out: &mut DecodedFrame,
    ) -> Result<()> {
        out.records.clear();
        out.columns.clear();
        out.others.clear();
        out.resumes.clear();
        out.first_path = self.layout.blocks.len();
        out.plans.take();
        let mut r = Reader::new(WHAT, payload);
        let (records, tables) = (r.varint32()? as usize, r.varint32()? as usize);
        if records > MAX_RECORDS || tables > records {
            let detail = format!("{records} records of {tables} kinds");
            return Err(malformed(WHAT, detail));
        }
        let mut lengths = [(0, 0); PARTS];
        for length in &mut lengths {
            *length = (r.varint32()? as usize, r.varint32()? as usize);
        }
        if lengths[0].0 != records * id_bytes(tables) {
            return Err(malformed(WHAT, "other ids than records"));
        }
        for ((raw, packed), to) in lengths.into_iter().zip(&mut self.parts) {
            let packed = r.take(packed)?;
            self.unpacker.unpack(WHAT, packed, raw, MAX_PART, to)?;
        }
        r.end()?;
        others::decode(&self.parts[3], &mut out.others)?;
        out.all = records;
        let end = part.end.min(records);
        let part = part.start.min(end)..end;
        out.resumes.decode(&self.parts[4], part.start, &self.paths)?;
        self.count(tables, part, out)?;
        self.read_tables(out)
    }

    /// Makes the records of a part, and counts the records of each table.
    fn count(&mut self, tables: usize, part: Range<usize>, out: &mut DecodedFrame) -> Result<()> {
        out.tables.clear();
        out.tables.resize(tables, Table::empty());
        let (ids, all) = (&self.parts[0], out.all);
        let mut counts = vec![0; tables];
        out.records.reserve(part.len());
        let firsts = if ids.len() == all {
            tally(&ids[..part.start], &mut counts)?;
            let firsts = counts.clone();
            tally(&ids[part.end..], &mut counts)?;
            for ids in ids[part].chunks(TOGETHER) {
                let alike = ids.iter().all(|id| *id == ids[0]);
                let (tables, records) = (&mut out.tables, &mut out.records);
                match alike {
                    true => more_records(ids.len(), ids[0].into(), tables, records)?,
                    false => make_records(ids.iter().map(|id| (*id).into()), tables, records)?,
                }
            }
            firsts
        } else {
            let plane = |byte: usize, i: usize| {
                let id = ids.get(byte * all + i).copied();
                u32::from(id.unwrap_or(0)) << (8 * byte)
            };
            let id = |i: usize| plane(0, i) | plane(1, i) | plane(2, i);
            for i in 0..part.start {
                *counts.get_mut(id(i) as usize).ok_or_else(no_table)? += 1;
            }
            let firsts = counts.clone();
            for i in part.end..all {
                *counts.get_mut(id(i) as usize).ok_or_else(no_table)? += 1;
            }
            make_records(part.map(id), &mut out.tables, &mut out.records)?;
            firsts
        };
        let tables = out.tables.iter().zip(&firsts).zip(&counts);
        let rows = |((own, first), outside): ((&Table, &u32), &u32)| Rows {
            first: *first as usize,
            all: own.records + *outside as usize,
        };
        self.rows = tables.map(rows).collect();
        Ok(())
    }

    /// Reads the columns of all tables.
    fn read_tables(&mut self, out: &mut DecodedFrame) -> Result<()> {
        let [_, heads, planes, ..] = &self.parts;
        let mut parts =
            Parts { heads: Reader::new(WHAT, heads), planes: Reader::new(WHAT, planes) };
        let mut others_left = out.others.len();
        let blocks = self.layout.blocks.len();
        for (table, rows) in out.tables.iter_mut().zip(&self.rows) {
            let heads = &mut parts.heads;
            let code = heads.varint()?;
            let number = usize::try_from(code.saturating_sub(1) / 2).unwrap_or(usize::MAX);
            let symbol = match code {
                0 => {
                    others_left = others_left.wrapping_sub(rows.all);
                    out.others.drain(..rows.first.min(out.others.len()));
                    continue;
                }
                _ if code % 2 == 1 => Some(number).filter(|b| *b < blocks),
                _ => {
                    let index = u32::try_from(number).ok().and_then(|n| self.paths.index(n));
                    index.map(|i| blocks + i as usize)
                }
            };
            let Some(symbol) = symbol else {
                let what = ["path", "block"][usize::from(code % 2 == 1)];
                return Err(heads.error(format!("{what} {number} is not in the tables")));
            };
            let shape = shape(&mut self.shapes, symbol, &self.layout, &self.paths);
            let symbol = u32::try_from(symbol).unwrap_or(u32::MAX);
            table.read((symbol, shape), *rows, &mut parts, &mut out.columns)?;
        }
        if others_left != 0 {
            return Err(malformed(WHAT, "other actions than its records say"));
        }
        parts.heads.end()?;
        parts.planes.end()
    }
}

/// Counts records by their tables' numbers. Four counts of a table do not wait for each other.
fn tally(ids: &[u8], counts: &mut [u32]) -> Result<()> {
    let mut own = [[0u32; 256]; 4];
    for four in ids.chunks(4) {
        for (id, own) in four.iter().zip(&mut own) {
            own[usize::from(*id)] += 1;
        }
    }
    for id in 0..256 {
        let n: u32 = own.iter().map(|own| own[id]).sum();
        match counts.get_mut(id) {
            Some(count) => *count += n,
            None if n > 0 => return Err(no_table()),
            None => {}
        }
    }
    Ok(())
}

/// Numbers the records of each table.
fn make_records(
    ids: impl Iterator<Item = u32>,
    tables: &mut [Table],
    records: &mut Vec<Record>,
) -> Result<()> {
    for table in ids {
        let own = tables.get_mut(table as usize).ok_or_else(no_table)?;
        // No frame has more records than a 32-bit number can count.
        let row = u32::try_from(own.records).unwrap_or(u32::MAX);
        own.records += 1;
        records.push(Record { table, row });
    }
    Ok(())
}

/// Numbers so many records of one table.
fn more_records(
    times: usize,
    table: u32,
    tables: &mut [Table],
    records: &mut Vec<Record>,
) -> Result<()> {
    let own = tables.get_mut(table as usize).ok_or_else(no_table)?;
    let row = u32::try_from(own.records).unwrap_or(u32::MAX);
    own.records += times;
    let rows = (row..).take(times);
    records.extend(rows.map(|row| Record { table, row }));
    Ok(())
}

#[cold]
fn no_table() -> Error {
    malformed(WHAT, "a record of no table")
}

fn shape<'s>(
    shapes: &'s mut [Option<Arc<Shape>>],
    symbol: usize,
    layout: &Layout,
    paths: &PathSet,
) -> &'s Arc<Shape> {
    let new = || {
        let blocks = layout.blocks.len();
        let path = symbol.checked_sub(blocks).and_then(|at| paths.get(at));
        Arc::new(match path {
            Some((path, f)) => Shape::of_path(path, f),
            None => Shape::of_block(layout.blocks[symbol].operands as usize),
        })
    };
    shapes[symbol].get_or_insert_with(new)
}
