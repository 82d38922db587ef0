//! Decodes whole frames into records: which path or block, and its stored values. Nothing is computed here; see
//! [`Player`](crate::frame::Player).

use std::sync::Arc;

use crate::action::{Action, AllocKind};
use crate::codec::{MAX_PAGE, Unpacker};
use crate::error::{Result, malformed};
use crate::frame::layout::Layout;
use crate::frame::predict::{Predictor, Slot};
use crate::frame::{COLUMNS, MAX_RECORDS, MAX_VALUES, code, other, tag, v1};
use crate::path::{CompiledFunction, PathSet, State, Stored};
use crate::unit::Tag;
use crate::wire::{Reader, unzigzag, zigzag};

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

/// The lengths at the start of a frame.
pub(super) struct Lengths {
    pub(super) records: usize,
    /// Raw and packed.
    pub(super) columns: [(usize, usize); COLUMNS],
    /// As it is, after the packed columns.
    pub(super) state: usize,
}

impl Lengths {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut next = || r.varint32().map(|n| n as usize);
        let records = next()?;
        let mut columns = [(0, 0); COLUMNS];
        for column in &mut columns {
            *column = (next()?, next()?);
        }
        Ok(Self {
            records,
            columns,
            state: next()?,
        })
    }

    fn values(&self) -> usize {
        self.columns[1].0
    }
}

/// What an explicit code of the id column stands for.
pub(super) enum Named {
    Block(u32),
    /// By its number in the file.
    Path(u32),
}

fn named(code: u64) -> Named {
    let number = u32::try_from(code >> 1).unwrap_or(u32::MAX);
    if code & 1 == 0 {
        Named::Block(number)
    } else {
        Named::Path(number)
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

/// The columns values come from.
#[derive(Debug, Default)]
struct Columns {
    tags: Vec<u8>,
    /// Bytes of long values.
    long: Long,
    others: Vec<u8>,
    /// Values decoded, other actions used.
    next_value: usize,
    next_other: usize,
    /// Some values are stored as they are (since version 2).
    plain: bool,
}

/// The bytes of long values: the first ones, the second ones, and the others; each with room for 8-byte loads at its end.
#[derive(Debug, Default)]
struct Long {
    planes: [Vec<u8>; 3],
    at: [usize; 3],
}

impl Long {
    /// Adds the room.
    fn begin(&mut self) {
        self.at = [0; 3];
        for plane in &mut self.planes {
            plane.resize(plane.len() + 8, 0);
        }
    }

    /// All bytes were taken, and no more.
    fn is_done(&self) -> bool {
        self.planes
            .iter()
            .zip(self.at)
            .all(|(p, at)| p.len() == at + 8)
    }

    /// The next value of `n` bytes, 1 to 8; all 0 beyond the end.
    #[inline]
    fn next(&mut self, n: usize) -> u64 {
        let [first, second, rest] = &self.planes;
        let byte = |plane: &[u8], at: usize| u64::from(plane.get(at).copied().unwrap_or(0));
        let mut value = byte(first, self.at[0]);
        self.at[0] += 1;
        if n > 1 {
            value |= byte(second, self.at[1]) << 8;
            self.at[1] += 1;
        }
        if n > 2 {
            value |= load(rest, self.at[2], n - 2) << 16;
            self.at[2] += n - 2;
        }
        value
    }

    /// The same with all bytes in the last plane (version 1).
    #[inline]
    fn next_v1(&mut self, n: usize) -> u64 {
        let value = load(&self.planes[2], self.at[2], n);
        self.at[2] += n;
        value
    }
}

/// `n` bytes (1 to 8) at a place of a plane that has room for 8-byte loads at its end; beyond it, anything.
#[inline]
fn load(plane: &[u8], at: usize, n: usize) -> u64 {
    let last = plane.len() - 8;
    let word = plane[at.min(last)..].first_chunk::<8>();
    word.map_or(0, |w| u64::from_le_bytes(*w)) & (u64::MAX >> (64 - 8 * n))
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

impl Columns {
    /// The values of one execution of a unit.
    #[inline]
    fn unit(&mut self, p: &mut Predictor, unit: usize, n: usize, values: &mut [u64]) -> Option<()> {
        let start = self.next_value;
        let end = start.checked_add(n)?;
        let tags = self.tags.get(start..end)?;
        let slots = p.enter(unit, n);
        let values = &mut values[start..end];
        if self.plain {
            decode_values::<true>(tags, &mut self.long, slots, values);
        } else {
            decode_values::<false>(tags, &mut self.long, slots, values);
        }
        self.next_value = end;
        if let Some(&last) = values.last() {
            p.last_value = last;
        }
        Some(())
    }

    fn decode_others(&self, out: &mut DecodedFrame) -> Result<()> {
        let mut r = Reader::new(WHAT, &self.others);
        let mut addr = 0;
        while r.remaining() > 0 {
            let what = r.u8()?;
            addr = r.delta(addr)?;
            let mut size = || r.varint();
            let action = match what {
                other::FREE => Action::Free { addr },
                other::MAP => Action::Map {
                    addr,
                    size: size()?,
                },
                other::FRESH => Action::Fresh {
                    addr,
                    size: size()?,
                },
                other::UNMAP => Action::Unmap {
                    addr,
                    size: size()?,
                },
                kind => match AllocKind::from_u8(kind) {
                    Some(kind) => Action::Alloc {
                        addr,
                        size: size()?,
                        kind,
                    },
                    None => return Err(r.error(format!("action {kind} is none of this version"))),
                },
            };
            out.others.push(action);
        }
        Ok(())
    }
}

/// The values of one execution. Where bytes are cut off, [`Long::is_done`] tells later.
#[inline]
fn decode_values<const PLAIN: bool>(
    tags: &[u8],
    long: &mut Long,
    slots: &mut [Slot],
    values: &mut [u64],
) {
    let mut neighbour = 0;
    for ((&tag, slot), value) in tags.iter().zip(slots).zip(values) {
        let mut coded = u64::from(tag);
        if tag >= tag::LONG {
            let bytes = usize::from(tag - tag::LONG) + 1;
            coded = if PLAIN {
                long.next(bytes)
            } else {
                long.next_v1(bytes)
            };
        }
        let followed = slot.followed(neighbour);
        let miss = if PLAIN && slot.is_plain() {
            coded.wrapping_sub(slot.predicted())
        } else {
            unzigzag(coded).wrapping_add(followed)
        };
        *value = slot.predicted().wrapping_add(miss);
        if PLAIN {
            slot.weigh(*value, zigzag(miss.wrapping_sub(followed)));
        }
        slot.learn(*value, miss, neighbour);
        neighbour = miss;
    }
}

/// An index below [`MAX_VALUES`], which fits.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
