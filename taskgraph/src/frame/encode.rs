//! Encodes actions into frames.

use std::sync::Arc;

use crate::action::AllocKind;
use crate::codec::Packer;
use crate::error::{Result, misuse};
use crate::frame::layout::Layout;
use crate::frame::predict::Predictor;
use crate::frame::{
    FRAME_HEADER, FULL_ACTIONS, FULL_OPERANDS, MAX_ACTIONS, MAX_OPERANDS, code, other, tag,
};
use crate::id::{BlockId, OpId};
use crate::statics::StaticInfo;
use crate::unit::{self, Tag};
use crate::wire::{put_delta, put_varint, zigzag};

/// Totals of actions, for the fields of a [`TaskRecord`](crate::TaskRecord).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

impl Counts {
    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_sub(earlier.blocks),
            reads: self.reads.wrapping_sub(earlier.reads),
            writes: self.writes.wrapping_sub(earlier.writes),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
        }
    }

    /// The sum of two totals.
    #[must_use]
    #[inline]
    pub fn plus(self, more: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_add(more.blocks),
            reads: self.reads.wrapping_add(more.reads),
            writes: self.writes.wrapping_add(more.writes),
            bytes: self.bytes.wrapping_add(more.bytes),
        }
    }
}

/// A finished frame, for [`GraphWriter::put_frame`](crate::GraphWriter::put_frame).
#[derive(Debug)]
pub struct EncodedFrame {
    /// The unit: header and payload.
    pub(crate) bytes: Vec<u8>,
    /// What was wrong with the calls that made it.
    pub(crate) fault: Option<String>,
    actions: u32,
}

impl EncodedFrame {
    /// Actions in the frame.
    #[must_use]
    pub fn action_count(&self) -> u32 {
        self.actions
    }

    /// Bytes it takes in the file.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Encodes actions into frames: one encoder per unit of work, independent of all others, `Send`.
///
/// ```
/// # use std::sync::Arc;
/// # use taskgraph::{BlockId, FrameEncoder, StaticInfo};
/// # fn encode(info: Arc<StaticInfo>, executions: &[(BlockId, &[u64])]) {
/// let mut encoder = FrameEncoder::new(info);
/// for (block, operands) in executions {
///     encoder.block(*block, operands);
///     if encoder.is_full() {
///         let frame = encoder.finish(); // to GraphWriter::put_frame
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct FrameEncoder {
    info: Arc<StaticInfo>,
    layout: Arc<Layout>,
    predictor: Predictor,
    counts: Counts,
    actions: usize,
    ids: Vec<u8>,
    tags: Vec<u8>,
    /// The data column; only the first `data_len` bytes count, the rest is room for 8-byte stores.
    data: Vec<u8>,
    data_len: usize,
    others: Vec<u8>,
    last_address: u64,
    packer: Option<Packer>,
    fault: Option<String>,
}

impl FrameEncoder {
    /// An encoder for the program with these static tables; O(blocks + operations).
    #[must_use]
    pub fn new(info: Arc<StaticInfo>) -> Self {
        let layout = Arc::new(Layout::new(&info));
        Self::with_layout(info, layout)
    }

    /// An empty encoder for the same program. Cheaper than [`FrameEncoder::new`]: what is derived from the static tables
    /// is shared.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self::with_layout(Arc::clone(&self.info), Arc::clone(&self.layout))
    }

    fn with_layout(info: Arc<StaticInfo>, layout: Arc<Layout>) -> Self {
        Self {
            predictor: Predictor::new(&layout),
            info,
            layout,
            counts: Counts::default(),
            actions: 0,
            ids: Vec::new(),
            tags: Vec::new(),
            data: Vec::new(),
            data_len: 0,
            others: Vec::new(),
            last_address: 0,
            packer: None,
            fault: None,
        }
    }

    /// Appends the execution of a block. `operands` are those of all its memory operations, in program order.
    ///
    /// A block that is not in the tables, or another number of operands than
    /// [`StaticInfo::operand_count`], makes [`GraphWriter::put_frame`](crate::GraphWriter::put_frame) refuse the frame.
    #[inline]
    pub fn block(&mut self, id: BlockId, operands: &[u64]) {
        let Some(&layout) = self.layout.blocks.get(id.index()) else {
            let n = self.layout.blocks.len();
            return self.refuse(|| format!("block {id} executed, the tables have {n} blocks"));
        };
        if operands.len() != layout.operands as usize {
            let n = operands.len();
            let want = layout.operands;
            return self.refuse(|| format!("block {id} executed with {n} operands, it has {want}"));
        }
        self.put_id(id);
        self.actions += 1;
        match layout.counts {
            Some(counts) => self.counts = self.counts.plus(counts),
            None => self.count(id, operands),
        }
        if operands.is_empty() {
            self.predictor.enter(id.index(), 0);
            return;
        }
        let first_tag = self.tags.len();
        self.tags.resize(first_tag + operands.len(), 0);
        let room = self.data_len + 8 * operands.len();
        if self.data.len() < room {
            self.data.resize(2 * room, 0);
        }
        let slots = self.predictor.enter(id.index(), layout.operands);
        let mut at = self.data_len;
        let mut neighbour = 0;
        for ((&value, slot), tag) in operands.iter().zip(slots).zip(&mut self.tags[first_tag..]) {
            let miss = value.wrapping_sub(slot.predicted());
            let coded = zigzag(miss.wrapping_sub(slot.followed(neighbour)));
            slot.learn(value, miss, neighbour);
            neighbour = miss;
            if coded < u64::from(tag::LONG) {
                *tag = coded.to_le_bytes()[0];
            } else {
                let bytes = 8 - coded.leading_zeros() / 8;
                *tag = tag::LONG - 1 + bytes.to_le_bytes()[0];
                self.data[at..at + 8].copy_from_slice(&coded.to_le_bytes());
                at += bytes as usize;
            }
        }
        self.data_len = at;
        self.predictor.last_operand = operands[operands.len() - 1];
    }

    #[inline]
    fn put_id(&mut self, id: BlockId) {
        let next = self.predictor.successors();
        if next[0] == id.get() {
            self.ids.push(code::AS_LAST.to_le_bytes()[0]);
        } else if next[1] == id.get() {
            next.swap(0, 1);
            self.ids.push(code::AS_BEFORE.to_le_bytes()[0]);
        } else {
            *next = [id.get(), next[0]];
            put_varint(&mut self.ids, code::FIRST_BLOCK + u64::from(id.get()));
        }
    }

    /// Counts an execution whose accesses depend on its operands.
    fn count(&mut self, id: BlockId, operands: &[u64]) {
        let mut counts = self.counts;
        counts.blocks += 1;
        let mut operands = operands;
        for op in self.info.ops_of(id) {
            let (own, rest) = operands.split_at(op.operand_count().min(operands.len()));
            op.expand(OpId::default(), own, |a| {
                counts.reads += u64::from(!a.write);
                counts.writes += u64::from(a.write);
                counts.bytes = counts.bytes.wrapping_add(a.size);
            });
            operands = rest;
        }
        self.counts = counts;
    }

    #[cold]
    fn refuse(&mut self, why: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(why);
    }

    /// Appends an allocation.
    pub fn alloc(&mut self, addr: u64, size: u64, kind: AllocKind) {
        self.other(kind as u8, addr, Some(size));
    }

    /// Appends the free of an allocation.
    pub fn free(&mut self, addr: u64) {
        self.other(other::FREE, addr, None);
    }

    /// Appends the mapping of a range of addresses.
    pub fn map(&mut self, addr: u64, size: u64) {
        self.other(other::MAP, addr, Some(size));
    }

    /// Appends the unmapping of a range of addresses.
    pub fn unmap(&mut self, addr: u64, size: u64) {
        self.other(other::UNMAP, addr, Some(size));
    }

    fn other(&mut self, what: u8, addr: u64, size: Option<u64>) {
        self.ids.push(code::OTHER.to_le_bytes()[0]);
        self.others.push(what);
        put_delta(&mut self.others, addr, self.last_address);
        self.last_address = addr;
        if let Some(size) = size {
            put_varint(&mut self.others, size);
        }
        self.actions += 1;
    }

    /// Actions in the frame so far; 0 right after [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn action_count(&self) -> u32 {
        u32::try_from(self.actions).unwrap_or(u32::MAX)
    }

    /// The frame has its 65536 actions or 32768 operands (256 KiB): call [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.actions >= FULL_ACTIONS || self.tags.len() >= FULL_OPERANDS
    }

    /// Totals of everything appended since the encoder was made; `finish` does not reset them. A task's own
    /// totals are the difference: [`Counts::since`].
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Ends the frame; `None` when it is empty. The encoder is then ready for the next one.
    pub fn finish(&mut self) -> Option<EncodedFrame> {
        if self.actions == 0 && self.fault.is_none() {
            return None;
        }
        let actions = self.action_count();
        let (bytes, mut fault) = match self.seal() {
            Ok(bytes) => (bytes, None),
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        fault = self.fault.take().or(fault);
        self.actions = 0;
        self.ids.clear();
        self.tags.clear();
        self.data_len = 0;
        self.others.clear();
        self.last_address = 0;
        self.predictor.reset();
        Some(EncodedFrame {
            bytes,
            fault,
            actions,
        })
    }

    /// The unit of the frame.
    fn seal(&mut self) -> Result<Vec<u8>> {
        if self.actions > MAX_ACTIONS || self.tags.len() > MAX_OPERANDS {
            let (actions, operands) = (self.actions, self.tags.len());
            return Err(misuse(format!(
                "a frame of {actions} actions and {operands} operands; finish the frame when is_full says so"
            )));
        }
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new(1)?),
        };
        let mut bytes = vec![0; unit::UNIT_HEADER + FRAME_HEADER];
        let ids = packer.pack(&self.ids, &mut bytes)?;
        let tags = packer.pack(&self.tags, &mut bytes)?;
        let data = packer.pack(&self.data[..self.data_len], &mut bytes)?;
        packer.pack(&self.others, &mut bytes)?;
        let lengths = [
            self.actions,
            self.tags.len(),
            self.ids.len(),
            ids,
            tags,
            self.data_len,
            data,
            self.others.len(),
        ];
        let fields = bytes[unit::UNIT_HEADER..].chunks_exact_mut(4);
        for (field, length) in fields.zip(lengths) {
            let length = u32::try_from(length).map_err(|_| misuse("a frame over 4 GiB"))?;
            field.copy_from_slice(&length.to_le_bytes());
        }
        let header = unit::header(Tag::Frame, &bytes[unit::UNIT_HEADER..])?;
        bytes[..unit::UNIT_HEADER].copy_from_slice(&header);
        Ok(bytes)
    }
}
