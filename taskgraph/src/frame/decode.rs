//! Decodes whole frames into records, which name a path or block and its stored values. Nothing is computed here; see
//! [`Player`](crate::frame::Player).

use std::sync::{Arc, OnceLock};

pub(super) use self::table::{Columns, Iterated, Table};
use crate::action::Action;
use crate::codec::Unpacker;
use crate::error::{Result, malformed};
use crate::frame::Layout;
use crate::frame::plan::Plan;
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
    /// Index of the record's table.
    pub(super) table: u32,
    /// Number of the record among those of the table, or among the other actions.
    pub(super) row: u32,
}

/// The records of a frame.
#[derive(Debug, Default)]
pub(crate) struct DecodedFrame {
    pub(super) records: Vec<Record>,
    pub(super) tables: Vec<Table>,
    pub(super) columns: Columns,
    pub(super) others: Vec<Action<'static>>,
    /// How the records of each table are executed, once somebody asked.
    pub(super) plans: OnceLock<Vec<Plan>>,
    /// What the first path goes on with: the index of its function, and what is known of the function.
    pub(super) initial: Option<(u32, State)>,
}

impl DecodedFrame {
    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        let Columns { values, firsts } = &self.columns;
        8 * (self.records.capacity() + values.capacity())
            + 4 * firsts.capacity()
            + 32 * self.others.capacity()
    }

    /// The table of a record, which stands for a block or path.
    #[inline]
    pub(super) fn table(&self, record: Record) -> Option<&Table> {
        self.tables.get(record.table as usize)
    }

    /// Replaces `out` by the values of a record, in the order of their execution.
    #[inline]
    pub(super) fn row(&self, record: Record, out: &mut Vec<u64>) {
        out.clear();
        if let Some(table) = self.table(record) {
            table.row(record.row as usize, &self.columns, out);
        }
    }
}

/// Decodes frames of one program. Each thread can use one decoder for many frames.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    layout: Arc<Layout>,
    paths: Arc<PathSet>,
    /// For each symbol that was met, its shape.
    shapes: Vec<Option<Arc<Shape>>>,
    unpacker: Unpacker,
    parts: [Vec<u8>; PARTS],
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
        }
    }

    /// Decodes the payload of a frame into `out`. The contents of `out` are replaced, and its memory is used again.
    pub(crate) fn decode(&mut self, payload: &[u8], out: &mut DecodedFrame) -> Result<()> {
        out.records.clear();
        out.columns.values.clear();
        out.columns.firsts.clear();
        out.others.clear();
        out.initial = None;
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
        self.read_tables(out)
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

    /// Makes the records, and counts the records of each table.
    fn count(&self, records: usize, tables: usize, out: &mut DecodedFrame) -> Result<()> {
        out.tables.clear();
        out.tables.resize(tables, Table::empty());
        let ids = &self.parts[0];
        let plane = |byte: usize, i: usize| {
            let id = ids.get(byte * records + i).copied();
            u32::from(id.unwrap_or(0)) << (8 * byte)
        };
        out.records.reserve(records);
        for i in 0..records {
            let table = match ids.len() == records {
                true => ids[i].into(),
                false => plane(0, i) | plane(1, i) | plane(2, i),
            };
            let Some(own) = out.tables.get_mut(table as usize) else {
                return Err(malformed(WHAT, "a record of no table"));
            };
            // No frame has more records than a 32-bit number can count.
            let row = u32::try_from(own.records).unwrap_or(u32::MAX);
            own.records += 1;
            out.records.push(Record { table, row });
        }
        Ok(())
    }

    /// Reads the columns of all tables.
    fn read_tables(&mut self, out: &mut DecodedFrame) -> Result<()> {
        let [_, heads, planes, _] = &self.parts;
        let (mut heads, mut planes) = (Reader::new(WHAT, heads), Reader::new(WHAT, planes));
        let mut others_left = out.others.len();
        let blocks = self.layout.blocks.len();
        for table in &mut out.tables {
            let code = heads.varint()?;
            let number = usize::try_from(code.saturating_sub(1) / 2).unwrap_or(usize::MAX);
            let symbol = match code {
                0 => {
                    others_left = others_left.wrapping_sub(table.records);
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
            table.read(symbol, shape, &mut heads, &mut planes, &mut out.columns)?;
        }
        if others_left != 0 {
            return Err(heads.error("other actions than its records say"));
        }
        heads.end()?;
        planes.end()
    }
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
