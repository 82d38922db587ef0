//! Decodes whole frames.

use std::sync::Arc;

use crate::action::{Action, AllocKind, BlockExec};
use crate::codec::{MAX_PAGE, Unpacker};
use crate::error::{Result, malformed};
use crate::frame::layout::Layout;
use crate::frame::predict::{Predictor, Slot};
use crate::frame::{FRAME_HEADER, MAX_ACTIONS, MAX_OPERANDS, code, other, tag};
use crate::id::BlockId;
use crate::statics::StaticInfo;
use crate::wire::{Reader, unzigzag};

const WHAT: &str = "frame";

/// One action of a decoded frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The block, or [`Entry::OTHER`].
    block: u32,
    /// First operand, or index of the other action.
    start: u32,
    /// Operands.
    len: u32,
}

impl Entry {
    const OTHER: u32 = u32::MAX;
}

/// The actions of a frame, ready to be walked in any order.
#[derive(Debug, Default)]
pub(crate) struct DecodedFrame {
    entries: Vec<Entry>,
    operands: Vec<u64>,
    others: Vec<Action<'static>>,
}

impl DecodedFrame {
    /// Number of actions.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        12 * self.entries.capacity() + 8 * self.operands.capacity() + 32 * self.others.capacity()
    }

    /// Calls `f` for the actions of a range, which must be within [`DecodedFrame::len`].
    #[inline]
    pub(crate) fn for_each(
        &self,
        info: &StaticInfo,
        range: std::ops::Range<usize>,
        mut f: impl FnMut(Action<'_>),
    ) {
        for entry in self.entries.get(range).unwrap_or(&[]) {
            f(self.action(info, entry));
        }
    }

    /// The `i`-th action.
    pub(crate) fn get<'f>(&'f self, info: &'f StaticInfo, i: usize) -> Option<Action<'f>> {
        self.entries.get(i).map(|e| self.action(info, e))
    }

    #[inline]
    fn action<'f>(&'f self, info: &'f StaticInfo, entry: &Entry) -> Action<'f> {
        let start = entry.start as usize;
        if entry.block == Entry::OTHER {
            return self.others[start];
        }
        let operands = &self.operands[start..start + entry.len as usize];
        Action::Block(BlockExec::new(info, BlockId::new(entry.block), operands))
    }
}

/// The lengths at the start of a frame.
struct Lengths {
    actions: usize,
    operands: usize,
    ids: usize,
    packed_ids: usize,
    packed_tags: usize,
    data: usize,
    packed_data: usize,
    others: usize,
}

impl Lengths {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut next = || r.u32().map(|n| n as usize);
        let this = Self {
            actions: next()?,
            operands: next()?,
            ids: next()?,
            packed_ids: next()?,
            packed_tags: next()?,
            data: next()?,
            packed_data: next()?,
            others: next()?,
        };
        if this.actions > MAX_ACTIONS || this.operands > MAX_OPERANDS {
            let (a, o) = (this.actions, this.operands);
            return Err(malformed(
                WHAT,
                format!("{a} actions and {o} operands are over the limit"),
            ));
        }
        Ok(this)
    }
}

/// Decodes frames of one program; reusable, one per thread.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    layout: Arc<Layout>,
    predictor: Predictor,
    unpacker: Unpacker,
    ids: Vec<u8>,
    tags: Vec<u8>,
    data: Vec<u8>,
    others: Vec<u8>,
}

impl FrameDecoder {
    pub(crate) fn new(layout: Arc<Layout>) -> Self {
        Self {
            predictor: Predictor::new(&layout),
            layout,
            unpacker: Unpacker::new(),
            ids: Vec::new(),
            tags: Vec::new(),
            data: Vec::new(),
            others: Vec::new(),
        }
    }

    /// Decodes the payload of a frame, replacing what is in `out` (its memory is used again).
    pub(crate) fn decode(&mut self, payload: &[u8], out: &mut DecodedFrame) -> Result<()> {
        out.entries.clear();
        out.operands.clear();
        out.others.clear();
        self.predictor.reset();
        let mut r = Reader::new(WHAT, payload);
        let n = Lengths::read(&mut r)?;
        debug_assert_eq!(payload.len() - r.remaining(), FRAME_HEADER);
        let unpacker = &mut self.unpacker;
        unpacker.unpack(WHAT, r.take(n.packed_ids)?, n.ids, MAX_PAGE, &mut self.ids)?;
        unpacker.unpack(
            WHAT,
            r.take(n.packed_tags)?,
            n.operands,
            MAX_PAGE,
            &mut self.tags,
        )?;
        unpacker.unpack(
            WHAT,
            r.take(n.packed_data)?,
            n.data,
            MAX_PAGE,
            &mut self.data,
        )?;
        unpacker.unpack(
            WHAT,
            r.take(r.remaining())?,
            n.others,
            MAX_PAGE,
            &mut self.others,
        )?;
        self.decode_others(out)?;
        // Each action has at least one byte of id, each operand one tag: the reservations follow bytes that are there.
        out.entries.reserve(n.actions.min(self.ids.len()));
        out.operands.resize(self.tags.len(), 0);
        self.decode_blocks(n.actions, out)
    }

    fn decode_others(&mut self, out: &mut DecodedFrame) -> Result<()> {
        let mut r = Reader::new(WHAT, &self.others);
        let mut addr = 0;
        while r.remaining() > 0 {
            let what = r.u8()?;
            addr = r.delta(addr)?;
            let action = match what {
                other::FREE => Action::Free { addr },
                other::MAP => Action::Map {
                    addr,
                    size: r.varint()?,
                },
                other::UNMAP => Action::Unmap {
                    addr,
                    size: r.varint()?,
                },
                kind => match AllocKind::from_u8(kind) {
                    Some(kind) => Action::Alloc {
                        addr,
                        size: r.varint()?,
                        kind,
                    },
                    None => return Err(r.error(format!("action {kind} is none of this version"))),
                },
            };
            out.others.push(action);
        }
        Ok(())
    }

    fn decode_blocks(&mut self, actions: usize, out: &mut DecodedFrame) -> Result<()> {
        let mut ids = Reader::new(WHAT, &self.ids);
        let data_len = self.data.len();
        // Room for 8-byte loads at any place.
        self.data.resize(data_len + 8, 0);
        let (mut at, mut start, mut others) = (0usize, 0usize, 0usize);
        for _ in 0..actions {
            let coded = ids.varint()?;
            let block = match coded {
                code::AS_LAST => self.predictor.successors()[0],
                code::AS_BEFORE => {
                    let next = self.predictor.successors();
                    next.swap(0, 1);
                    next[0]
                }
                code::OTHER => {
                    if others == out.others.len() {
                        return Err(ids.error("more other actions than their column has"));
                    }
                    let index = narrow(others);
                    out.entries.push(Entry {
                        block: Entry::OTHER,
                        start: index,
                        len: 0,
                    });
                    others += 1;
                    continue;
                }
                _ => {
                    let block = u32::try_from(coded - code::FIRST_BLOCK).unwrap_or(u32::MAX);
                    let next = self.predictor.successors();
                    *next = [block, next[0]];
                    block
                }
            };
            let Some(&layout) = self.layout.blocks.get(block as usize) else {
                let n = self.layout.blocks.len();
                return Err(ids.error(format!("block {block} of {n}")));
            };
            let len = layout.operands as usize;
            let Some(tags) = self.tags.get(start..start.saturating_add(len)) else {
                return Err(ids.error("fewer operands than its blocks have"));
            };
            let slots = self.predictor.enter(block as usize, layout.operands);
            let values = &mut out.operands[start..start + len];
            at = decode_operands(tags, &self.data, at, slots, values);
            if let Some(&last) = values.last() {
                self.predictor.last_operand = last;
            }
            out.entries.push(Entry {
                block,
                start: narrow(start),
                len: layout.operands,
            });
            start += len;
        }
        ids.end()?;
        if start != self.tags.len() || at != data_len || others != out.others.len() {
            return Err(malformed(WHAT, "its columns do not end together"));
        }
        Ok(())
    }
}

/// The operands of one execution. `at` is the place in the data column, which has 8 bytes of room at its end; returns the
/// place after the operands, which is beyond the column when they are cut off.
#[inline]
fn decode_operands(
    tags: &[u8],
    data: &[u8],
    mut at: usize,
    slots: &mut [Slot],
    values: &mut [u64],
) -> usize {
    let last_load = data.len() - 8;
    let mut neighbour = 0;
    for ((&tag, slot), value) in tags.iter().zip(slots).zip(values) {
        let mut coded = u64::from(tag);
        if tag >= tag::LONG {
            let bytes = usize::from(tag - tag::LONG) + 1;
            let word = data[at.min(last_load)..].first_chunk::<8>();
            coded = word.map_or(0, |w| u64::from_le_bytes(*w)) & (u64::MAX >> (64 - 8 * bytes));
            at += bytes;
        }
        let miss = unzigzag(coded).wrapping_add(slot.followed(neighbour));
        *value = slot.predicted().wrapping_add(miss);
        slot.learn(*value, miss, neighbour);
        neighbour = miss;
    }
    at
}

/// An index below [`MAX_OPERANDS`], which fits.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
