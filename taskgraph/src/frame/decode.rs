//! Decodes whole frames into records: which path or block, and its stored values. Nothing is computed here; see
//! [`Player`](crate::frame::Player).

use std::sync::Arc;

use self::columns::Columns;
use self::head::named;
use crate::action::Action;
use crate::codec::{MAX_PAGE, Unpacker};
use crate::error::{Result, malformed};
use crate::frame::Layout;
use crate::frame::predict::Predictor;
use crate::frame::{MAX_RECORDS, MAX_VALUES, code, v1};
use crate::path::{CompiledFunction, PathSet, State, Stored};
use crate::unit::Tag;
use crate::wire::Reader;

mod columns;
mod head;
mod long;

pub(super) use head::{Lengths, Named};

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
    predictor: Predictor,
    unpacker: Unpacker,
    ids: Vec<u8>,
    columns: Columns,
}

impl FrameDecoder {
    pub(crate) fn new(layout: Arc<Layout>, paths: Arc<PathSet>) -> Self {
        let symbols = layout.blocks.len() + paths.paths.len();
        Self {
            predictor: Predictor::new(paths.units, symbols),
            layout,
            paths,
            unpacker: Unpacker::new(),
            ids: Vec::new(),
            columns: Columns::default(),
        }
    }

    /// Decodes the payload of a frame, replacing what is in `out` (its memory is used again).
    pub(crate) fn decode(
        &mut self,
        tag: Tag,
        payload: &[u8],
        out: &mut DecodedFrame,
    ) -> Result<()> {
        out.records.clear();
        out.values.clear();
        out.others.clear();
        out.initial = None;
        self.predictor.reset();
        let mut r = Reader::new(WHAT, payload);
        let n = match tag {
            Tag::FrameV1 => v1::lengths(&mut r)?,
            _ => Lengths::read(&mut r)?,
        };
        if n.records > MAX_RECORDS || n.values() > MAX_VALUES {
            let (a, o) = (n.records, n.values());
            let detail = format!("{a} records and {o} values are over the limit");
            return Err(malformed(WHAT, detail));
        }
        let c = &mut self.columns;
        (c.next_value, c.next_other) = (0, 0);
        c.plain = tag != Tag::FrameV1;
        let [p0, p1, p2] = &mut c.long.planes;
        let columns = [&mut self.ids, &mut c.tags, p0, p1, p2, &mut c.others];
        for ((raw, packed), to) in n.columns.into_iter().zip(columns) {
            let packed = r.take(packed)?;
            self.unpacker.unpack(WHAT, packed, raw, MAX_PAGE, to)?;
        }
        c.long.begin();
        let state = r.take(n.state)?;
        r.end()?;
        self.decode_state(state, out)?;
        self.columns.decode_others(out)?;
        // Each record has at least one byte of id, each value one tag: the reservations follow bytes that are there.
        out.records.reserve(n.records.min(self.ids.len()));
        out.values.resize(self.columns.tags.len(), 0);
        let named = if tag == Tag::FrameV1 {
            v1::named
        } else {
            named
        };
        self.decode_records(n.records, named, out)
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

    fn decode_records(
        &mut self,
        records: usize,
        named: fn(u64) -> Named,
        out: &mut DecodedFrame,
    ) -> Result<()> {
        let ids = std::mem::take(&mut self.ids);
        let done = self.decode_ids(&ids, records, named, out);
        self.ids = ids;
        done?;
        let c = &self.columns;
        let all = c.next_value == c.tags.len() && c.next_other == out.others.len();
        if !all || !c.long.is_done() {
            return Err(malformed(WHAT, "its columns do not end together"));
        }
        Ok(())
    }

    fn decode_ids(
        &mut self,
        ids: &[u8],
        records: usize,
        named: fn(u64) -> Named,
        out: &mut DecodedFrame,
    ) -> Result<()> {
        let mut ids = Reader::new(WHAT, ids);
        let blocks = self.layout.blocks.len();
        for _ in 0..records {
            let coded = ids.varint()?;
            let symbol = match coded {
                code::AS_LAST => self.predictor.successors()[0],
                code::AS_BEFORE => {
                    let next = self.predictor.successors();
                    next.swap(0, 1);
                    next[0]
                }
                code::OTHER => {
                    let start = narrow(self.columns.next_other);
                    if self.columns.next_other == out.others.len() {
                        return Err(ids.error("more other actions than their column has"));
                    }
                    self.columns.next_other += 1;
                    out.records.push(Record {
                        symbol: Record::OTHER,
                        start,
                    });
                    continue;
                }
                _ => {
                    let symbol = match named(coded - code::FIRST) {
                        Named::Block(b) if (b as usize) < blocks => b,
                        Named::Block(b) => return Err(ids.error(format!("block {b} of {blocks}"))),
                        Named::Path(p) => match self.paths.index(p) {
                            Some(index) => narrow(blocks + index as usize),
                            None => return Err(ids.error(format!("path {p} is not in the tables"))),
                        },
                    };
                    let next = self.predictor.successors();
                    *next = [symbol, next[0]];
                    symbol
                }
            };
            let start = narrow(self.columns.next_value);
            self.values(symbol as usize, out)
                .ok_or_else(|| ids.error("fewer values than its records have"))?;
            self.predictor.follow(symbol as usize);
            out.records.push(Record { symbol, start });
        }
        ids.end()
    }

    /// The stored values of one record.
    #[inline]
    fn values(&mut self, symbol: usize, out: &mut DecodedFrame) -> Option<()> {
        let blocks = &self.layout.blocks;
        let (c, p) = (&mut self.columns, &mut self.predictor);
        if let Some(block) = blocks.get(symbol) {
            return c.unit(p, symbol, block.operands as usize, &mut out.values);
        }
        let (path, f) = self.paths.get(symbol - blocks.len())?;
        for stored in &path.stored {
            match *stored {
                Stored::Leaves(n) => {
                    let leaves = f.nodes[n as usize].leaves.len();
                    c.unit(p, f.node_unit(n), leaves, &mut out.values)?;
                }
                Stored::Loop { index, cut } => {
                    let l = f.loops[index as usize].as_ref()?;
                    c.unit(p, f.loop_unit(index), 1, &mut out.values)?;
                    let count = out.values[c.next_value - 1];
                    if l.leafy.is_empty() {
                        continue;
                    }
                    let iteration = |nodes: &[u32],
                                     c: &mut Columns,
                                     p: &mut Predictor,
                                     out: &mut DecodedFrame| {
                        nodes.iter().try_for_each(|n| {
                            let leaves = f.nodes[*n as usize].leaves.len();
                            c.unit(p, f.node_unit(*n), leaves, &mut out.values)
                        })
                    };
                    // Each iteration takes a value at least: a count too large ends with the values.
                    for _ in 0..count {
                        iteration(&l.leafy, c, p, out)?;
                    }
                    if !cut {
                        iteration(&l.leafy[..l.leafy_last], c, p, out)?;
                    }
                }
            }
        }
        Some(())
    }
}

/// An index below [`MAX_VALUES`], which fits.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
