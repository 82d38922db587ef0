//! Decodes whole frames into records: which path or block, and its stored values. Nothing is computed here; see
//! [`Player`](crate::frame::Player).

use std::sync::Arc;

use self::table::Table;
use crate::action::Action;
use crate::codec::Unpacker;
use crate::error::{Result, malformed};
use crate::frame::Layout;
use crate::frame::shape::Shape;
use crate::frame::{MAX_PART, MAX_RECORDS, PARTS, id_bytes};
use crate::path::{CompiledFunction, PathSet, State};
use crate::wire::Reader;

mod others;
mod table;

pub(super) const WHAT: &str = "frame";

/// One record of a decoded frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// A block; or the number of blocks + index of a path; or [`Record::OTHER`].
    pub(super) symbol: u32,
    /// First stored value, or index of the other action.
    pub(super) start: u32,
}

impl Record {
    pub(super) const OTHER: u32 = u32::MAX;
}

/// The records of a frame.
#[derive(Debug, Default)]
pub(crate) struct DecodedFrame {
    pub(super) records: Vec<Record>,
    pub(super) values: Vec<u64>,
    pub(super) others: Vec<Action<'static>>,
    /// What the first path goes on with: its function (an index), and what is known.
    pub(super) initial: Option<(u32, State)>,
}

impl DecodedFrame {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        8 * (self.records.capacity() + self.values.capacity()) + 32 * self.others.capacity()
    }
}

/// Decodes frames of one program; reusable, one per thread.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    layout: Arc<Layout>,
    paths: Arc<PathSet>,
    /// By symbol, as far as it was met.
    shapes: Vec<Option<Box<Shape>>>,
    unpacker: Unpacker,
    parts: [Vec<u8>; PARTS],
    tables: Vec<Table>,
    /// The values of all tables, column by column.
    columns: Vec<u64>,
    /// By table, where the values of its records start.
    places: Vec<u32>,
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
            tables: Vec::new(),
            columns: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Decodes the payload of a frame, replacing what is in `out` (its memory is used again).
    pub(crate) fn decode(&mut self, payload: &[u8], out: &mut DecodedFrame) -> Result<()> {
        out.records.clear();
        out.values.clear();
        out.others.clear();
        out.initial = None;
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
        let state = r.varint32()? as usize;
        if lengths[0].0 != records * id_bytes(tables) {
            return Err(malformed(WHAT, "other ids than records"));
        }
        for ((raw, packed), to) in lengths.into_iter().zip(&mut self.parts) {
            let packed = r.take(packed)?;
            self.unpacker.unpack(WHAT, packed, raw, MAX_PART, to)?;
        }
        let state = r.take(state)?;
        r.end()?;
        self.decode_state(state, out)?;
        others::decode(&self.parts[3], &mut out.others)?;
        self.count(records, tables, out)?;
        self.read_tables(out.others.len())?;
        self.place(out);
        Ok(())
    }

    fn decode_state(&self, bytes: &[u8], out: &mut DecodedFrame) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut r = Reader::new(WHAT, bytes);
        let number = r.varint32()?;
        let function = self.paths.function(number);
        let function = function.ok_or_else(|| r.error(format!("function {number}")))?;
        let f: &CompiledFunction = &self.paths.functions[function as usize];
        let mut state = State::default();
        state.begin(f);
        let mut last = 0;
        for v in state.slots.iter_mut().chain(&mut state.iterations) {
            last = r.delta(last)?;
            *v = last;
        }
        out.initial = Some((function, state));
        r.end()
    }

    /// Makes the records, for now with the number of their table, and counts those of each table.
    fn count(&mut self, records: usize, tables: usize, out: &mut DecodedFrame) -> Result<()> {
        let empty = Table::empty();
        self.tables.clear();
        self.tables.resize(tables, empty);
        let ids = &self.parts[0];
        let record = |symbol| Record { symbol, start: 0 };
        if ids.len() == records {
            out.records
                .extend(ids.iter().map(|id| record((*id).into())));
        } else {
            let plane = |byte: usize, i: usize| {
                let id = ids.get(byte * records + i).copied();
                u32::from(id.unwrap_or(0)) << (8 * byte)
            };
            let id = |i| plane(0, i) | plane(1, i) | plane(2, i);
            out.records.extend((0..records).map(|i| record(id(i))));
        }
        for record in &out.records {
            match self.tables.get_mut(record.symbol as usize) {
                Some(table) => table.records += 1,
                None => return Err(malformed(WHAT, "a record of no table")),
            }
        }
        Ok(())
    }

    /// Reads the columns of all tables.
    fn read_tables(&mut self, others: usize) -> Result<()> {
        self.columns.clear();
        let [_, heads, planes, _] = &self.parts;
        let (mut heads, mut planes) = (Reader::new(WHAT, heads), Reader::new(WHAT, planes));
        let (mut first, mut others_left) = (0, others);
        let blocks = self.layout.blocks.len();
        for table in &mut self.tables {
            let code = heads.varint()?;
            let number = usize::try_from(code.saturating_sub(1) / 2).unwrap_or(usize::MAX);
            let symbol = match code {
                0 => {
                    others_left = others_left.wrapping_sub(table.records);
                    table.symbol = Record::OTHER;
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
            let place = (first, table.records);
            first += table.records;
            *table = Table::read(
                u32::try_from(symbol).unwrap_or(u32::MAX),
                shape,
                place,
                &mut heads,
                &mut planes,
                &mut self.columns,
            )?;
        }
        if others_left != 0 {
            return Err(heads.error("other actions than its records say"));
        }
        self.places.clear();
        self.places.resize(first, 0);
        heads.end()?;
        planes.end()
    }

    /// Gives each record its values.
    fn place(&mut self, out: &mut DecodedFrame) {
        for table in &self.tables {
            if let Some(Some(shape)) = self.shapes.get(table.symbol as usize) {
                let lengths = &mut self.places[table.first..][..table.records];
                table.lengths(shape, &self.columns, lengths);
            }
        }
        // Each length becomes a place; `first` runs through the records of the table.
        let (mut start, mut other) = (0, 0);
        for record in &mut out.records {
            let table = &mut self.tables[record.symbol as usize];
            record.symbol = table.symbol;
            if table.symbol == Record::OTHER {
                record.start = other;
                other += 1;
                continue;
            }
            record.start = start;
            start += std::mem::replace(&mut self.places[table.first], start);
            table.first += 1;
        }
        out.values.resize(self.columns.len(), 0);
        for table in &self.tables {
            if let Some(Some(shape)) = self.shapes.get(table.symbol as usize) {
                let places = &mut self.places[table.first - table.records..][..table.records];
                table.scatter(shape, &self.columns, places, &mut out.values);
            }
        }
    }
}

fn shape<'s>(
    shapes: &'s mut [Option<Box<Shape>>],
    symbol: usize,
    layout: &Layout,
    paths: &PathSet,
) -> &'s Shape {
    let new = || {
        let blocks = layout.blocks.len();
        let path = symbol.checked_sub(blocks).and_then(|at| paths.get(at));
        Box::new(match path {
            Some((path, f)) => Shape::of_path(path, f),
            None => Shape::of_block(layout.blocks[symbol].operands as usize),
        })
    };
    shapes[symbol].get_or_insert_with(new)
}
