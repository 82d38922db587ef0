//! Encodes actions into frames.

use std::sync::Arc;

use crate::action::AllocKind;
use crate::codec::Packer;
use crate::error::{Result, misuse};
use crate::frame::layout::Layout;
use crate::frame::planes::Planes;
use crate::frame::predict::Predictor;
use crate::frame::{COLUMNS, FULL_RECORDS, FULL_VALUES, MAX_RECORDS, MAX_VALUES, code, other};
use crate::id::{BlockId, OpId};
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, NO_BLOCK, Path, PathTable, State,
    Step, Stored, Visit, Walk, Walked,
};
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
    /// Actions that are no executions of blocks: allocations, frees, mappings.
    pub others: u64,
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
            others: self.others.wrapping_sub(earlier.others),
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
            others: self.others.wrapping_add(more.others),
        }
    }

    /// That many times this.
    #[must_use]
    #[inline]
    pub fn times(self, n: u64) -> Self {
        Self {
            blocks: self.blocks.wrapping_mul(n),
            reads: self.reads.wrapping_mul(n),
            writes: self.writes.wrapping_mul(n),
            bytes: self.bytes.wrapping_mul(n),
            others: self.others.wrapping_mul(n),
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
    /// Numbers of the paths in it.
    pub(crate) paths: Vec<u32>,
    pub(crate) counts: Counts,
    records: u32,
}

impl EncodedFrame {
    /// Records in the frame.
    #[must_use]
    pub fn record_count(&self) -> u32 {
        self.records
    }

    /// Bytes it takes in the file.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.bytes.len()
    }
}

/// One recorded execution of a path, for [`FrameEncoder::segment`].
#[derive(Debug)]
pub struct Segment<'a> {
    /// Number of the path.
    pub path: u32,
    /// Its leaves in execution order, little-endian, each in its width; after the iterations of a loop whose count is not
    /// computed, 6 bytes that are passed over. What follows is not looked at; with 8 bytes more this is faster.
    pub bytes: &'a [u8],
    /// The counts of these loops, the first one last; those used are taken.
    pub counts: &'a mut Vec<u64>,
    /// Leaf slots of the function: what is known before, then what is known after.
    pub slots: &'a mut Vec<u64>,
    /// Its iteration numbers, likewise.
    pub iterations: &'a mut Vec<u64>,
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
    table: Arc<PathTable>,
    running: Running,
}

/// All but the path tables, which are read while this changes.
#[derive(Debug)]
struct Running {
    info: Arc<StaticInfo>,
    layout: Arc<Layout>,
    predictor: Predictor,
    counts: Counts,
    /// Totals before this frame.
    counts_before: Counts,
    records: usize,
    columns: Columns,
    others: Vec<u8>,
    last_address: u64,
    /// The frame says what the function being executed knows.
    known: bool,
    /// The state the frame starts with, encoded.
    initial: Vec<u8>,
    /// Paths in this frame; by path, whether it is among them.
    paths: Vec<u32>,
    is_used: Vec<bool>,
    walk: Walk,
    operands: Vec<u64>,
    packer: Option<Packer>,
    fault: Option<String>,
}

/// Where ids and values go.
#[derive(Debug, Default)]
struct Columns {
    ids: Vec<u8>,
    planes: Planes,
}

impl FrameEncoder {
    /// An encoder of blocks for the program with these static tables; O(blocks + operations).
    #[must_use]
    pub fn new(info: Arc<StaticInfo>) -> Self {
        let layout = Arc::new(Layout::new(&info));
        let table = Arc::new(PathTable::without_paths(&layout));
        Self::with_layout(info, layout, table)
    }

    /// An encoder of blocks and paths. The table was made for the same static tables.
    #[must_use]
    pub fn with_paths(info: Arc<StaticInfo>, table: Arc<PathTable>) -> Self {
        let layout = Arc::new(Layout::new(&info));
        Self::with_layout(info, layout, table)
    }

    /// An empty encoder for the same program. Cheaper than [`FrameEncoder::new`]: what is derived from the static tables
    /// is shared.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let of = &self.running;
        Self::with_layout(
            Arc::clone(&of.info),
            Arc::clone(&of.layout),
            Arc::clone(&self.table),
        )
    }

    fn with_layout(info: Arc<StaticInfo>, layout: Arc<Layout>, table: Arc<PathTable>) -> Self {
        let symbols = layout.blocks.len() + table.capacity();
        let running = Running {
            predictor: Predictor::new(table.units, symbols),
            is_used: vec![false; table.capacity()],
            info,
            layout,
            counts: Counts::default(),
            counts_before: Counts::default(),
            records: 0,
            columns: Columns::default(),
            others: Vec::new(),
            last_address: 0,
            known: false,
            initial: Vec::new(),
            paths: Vec::new(),
            walk: Walk::default(),
            operands: Vec::new(),
            packer: None,
            fault: None,
        };
        Self { table, running }
    }

    /// Appends the execution of a block. `operands` are those of all its memory operations, in program order.
    ///
    /// A block that is not in the tables, or another number of operands than
    /// [`StaticInfo::operand_count`], makes [`GraphWriter::put_frame`](crate::GraphWriter::put_frame) refuse the frame.
    #[inline]
    pub fn block(&mut self, id: BlockId, operands: &[u64]) {
        self.running.block(id, operands);
    }

    /// Appends the execution of a path, which `define` describes if it is not known yet. False when there is no such path,
    /// or the segment is not one of it: nothing of it is then in the frame.
    #[must_use]
    pub fn segment(&mut self, segment: Segment<'_>, define: impl FnOnce() -> Option<Path>) -> bool {
        let Self { table, running } = self;
        let Some(path) = table.path(segment.path, define) else {
            return false;
        };
        let f = &table.functions[path.path.function as usize];
        running.segment(path, f, segment)
    }

    /// Appends an allocation.
    pub fn alloc(&mut self, addr: u64, size: u64, kind: AllocKind) {
        self.running.other(kind as u8, addr, Some(size));
    }

    /// Appends the free of an allocation.
    pub fn free(&mut self, addr: u64) {
        self.running.other(other::FREE, addr, None);
    }

    /// Appends the mapping of a range of addresses.
    pub fn map(&mut self, addr: u64, size: u64) {
        self.running.other(other::MAP, addr, Some(size));
    }

    /// Appends that a range of addresses begins a new life.
    pub fn begin_life(&mut self, addr: u64, size: u64) {
        self.running.other(other::FRESH, addr, Some(size));
    }

    /// Appends the unmapping of a range of addresses.
    pub fn unmap(&mut self, addr: u64, size: u64) {
        self.running.other(other::UNMAP, addr, Some(size));
    }

    /// Records in the frame so far; 0 right after [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn record_count(&self) -> u32 {
        u32::try_from(self.running.records).unwrap_or(u32::MAX)
    }

    /// The frame has its 65536 records or 32768 values (256 KiB): call [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.running.records >= FULL_RECORDS || self.running.columns.planes.values() >= FULL_VALUES
    }

    /// Totals of everything appended since the encoder was made; `finish` does not reset them. A task's own
    /// totals are the difference: [`Counts::since`].
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.running.counts
    }

    /// Ends the frame; `None` when it is empty. The encoder is then ready for the next one.
    pub fn finish(&mut self) -> Option<EncodedFrame> {
        self.running.finish()
    }
}

impl Running {
    #[inline]
    fn block(&mut self, id: BlockId, operands: &[u64]) {
        let Some(&layout) = self.layout.blocks.get(id.index()) else {
            let n = self.layout.blocks.len();
            return self.refuse(|| format!("block {id} executed, the tables have {n} blocks"));
        };
        if operands.len() != layout.operands as usize {
            let n = operands.len();
            let want = layout.operands;
            return self.refuse(|| format!("block {id} executed with {n} operands, it has {want}"));
        }
        self.put_symbol(id.get(), u64::from(id.get()) << 1);
        match layout.counts {
            Some(counts) => self.counts = self.counts.plus(counts),
            None => self.counts = self.counts.plus(count(&self.info, id, operands)),
        }
        if !operands.is_empty() {
            let values = operands.iter().copied();
            self.columns
                .put(&mut self.predictor, id.index(), operands.len(), values);
        }
    }

    #[inline]
    fn segment(&mut self, path: &CompiledPath, f: &CompiledFunction, segment: Segment<'_>) -> bool {
        let sizes = (segment.slots.len(), segment.iterations.len());
        if sizes != (f.slots, f.loops.len()) || segment.bytes.len() > MAX_VALUES {
            return false;
        }
        let mut state = State {
            slots: std::mem::take(segment.slots),
            iterations: std::mem::take(segment.iterations),
        };
        if !path.path.fresh && !self.known {
            self.put_state(path.path.function, &state);
        }
        self.known = true;
        let symbol = self.layout.blocks.len() + segment.path as usize;
        // Symbols fit: the predictor has an entry for each.
        self.put_symbol(
            u32::try_from(symbol).unwrap_or(u32::MAX),
            u64::from(segment.path) << 1 | 1,
        );
        if !std::mem::replace(&mut self.is_used[segment.path as usize], true) {
            self.paths.push(segment.path);
        }
        if path.simple {
            self.simple(path, f, segment.bytes, &mut state);
        } else {
            self.walk(path, f, segment.bytes, segment.counts, &mut state);
        }
        (*segment.slots, *segment.iterations) = (state.slots, state.iterations);
        true
    }

    /// A path without collapsed loops.
    fn simple(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        bytes: &[u8],
        state: &mut State,
    ) {
        let mut at = 0;
        if let (true, Some(counts)) = (path.still, path.counts) {
            for stored in &path.stored {
                if let Stored::Leaves(n) = *stored {
                    self.leaves(f, n, bytes, &mut at, state);
                }
            }
            self.counts = self.counts.plus(counts);
            return;
        }
        for step in &path.path.steps {
            match *step {
                Step::Node(n) => {
                    let node = &f.nodes[n as usize];
                    self.leaves(f, n, bytes, &mut at, state);
                    if path.counts.is_none() {
                        self.executed(node, state);
                    }
                }
                Step::Enter(l) => state.iterations[l as usize] = 0,
                Step::Next(l) => {
                    let i = &mut state.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Step::Loop { .. } => {}
            }
        }
        if let Some(counts) = path.counts {
            self.counts = self.counts.plus(counts);
        }
    }

    fn walk(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        bytes: &[u8],
        counts: &mut Vec<u64>,
        state: &mut State,
    ) {
        let mut walk = std::mem::take(&mut self.walk);
        walk.restart();
        let mut at = 0;
        loop {
            let mut visit = Counting {
                encoder: self,
                f,
                counts,
                at: &mut at,
            };
            match walk.next(f, path, state, &mut visit) {
                Walked::End => break,
                Walked::Run(_) => {}
                Walked::Node(n) => {
                    self.leaves(f, n, bytes, &mut at, state);
                    self.executed(&f.nodes[n as usize], state);
                }
            }
        }
        self.walk = walk;
    }

    /// Stores the leaves of a node.
    #[inline]
    fn leaves(
        &mut self,
        f: &CompiledFunction,
        n: u32,
        bytes: &[u8],
        at: &mut usize,
        state: &mut State,
    ) {
        let leaves = &f.nodes[n as usize].leaves;
        if leaves.is_empty() {
            return;
        }
        let slots = &mut state.slots;
        let values = leaves.iter().map(|leaf| {
            let v = read(bytes, *at, leaf.width);
            *at += usize::from(leaf.width);
            slots[leaf.slot as usize] = v;
            v
        });
        self.columns
            .put(&mut self.predictor, f.node_unit(n), leaves.len(), values);
    }

    /// Counts an execution of a node.
    #[inline]
    fn executed(&mut self, node: &CompiledNode, state: &State) {
        match node.counts {
            Some(counts) => self.counts = self.counts.plus(counts),
            None if node.block != NO_BLOCK => {
                let (slots, iterations) = (&state.slots, &state.iterations);
                self.operands.clear();
                let values = node.operands.iter().map(|v| v.eval(slots, iterations));
                self.operands.extend(values);
                let counts = count(&self.info, BlockId::new(node.block), &self.operands);
                self.counts = self.counts.plus(counts);
            }
            None => {}
        }
    }

    #[cold]
    fn put_state(&mut self, function: u32, state: &State) {
        put_varint(&mut self.initial, u64::from(function));
        let mut last = 0;
        for &v in state.slots.iter().chain(&state.iterations) {
            put_delta(&mut self.initial, v, last);
            last = v;
        }
    }

    #[inline]
    fn put_symbol(&mut self, symbol: u32, code: u64) {
        let next = self.predictor.successors();
        let ids = &mut self.columns.ids;
        if next[0] == symbol {
            ids.push(code::AS_LAST.to_le_bytes()[0]);
        } else if next[1] == symbol {
            next.swap(0, 1);
            ids.push(code::AS_BEFORE.to_le_bytes()[0]);
        } else {
            *next = [symbol, next[0]];
            put_varint(ids, code::FIRST + code);
        }
        self.predictor.follow(symbol as usize);
        self.records += 1;
    }

    #[cold]
    fn refuse(&mut self, why: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(why);
    }

    fn other(&mut self, what: u8, addr: u64, size: Option<u64>) {
        self.columns.ids.push(code::OTHER.to_le_bytes()[0]);
        self.others.push(what);
        put_delta(&mut self.others, addr, self.last_address);
        self.last_address = addr;
        if let Some(size) = size {
            put_varint(&mut self.others, size);
        }
        self.records += 1;
        self.counts.others += 1;
    }

    fn finish(&mut self) -> Option<EncodedFrame> {
        if self.records == 0 && self.fault.is_none() {
            return None;
        }
        let records = u32::try_from(self.records).unwrap_or(u32::MAX);
        let (bytes, mut fault) = match self.seal() {
            Ok(bytes) => (bytes, None),
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        fault = self.fault.take().or(fault);
        self.records = 0;
        self.columns.ids.clear();
        self.columns.planes.clear();
        self.others.clear();
        self.last_address = 0;
        self.known = false;
        self.initial.clear();
        self.predictor.reset();
        let paths = std::mem::take(&mut self.paths);
        for p in &paths {
            self.is_used[*p as usize] = false;
        }
        let counts = self.counts.since(self.counts_before);
        self.counts_before = self.counts;
        Some(EncodedFrame {
            bytes,
            fault,
            paths,
            counts,
            records,
        })
    }

    /// The unit of the frame.
    fn seal(&mut self) -> Result<Vec<u8>> {
        let c = &self.columns;
        if self.records > MAX_RECORDS || c.planes.values() > MAX_VALUES {
            let (records, values) = (self.records, c.planes.values());
            return Err(misuse(format!(
                "a frame of {records} records and {values} values; finish the frame when is_full says so"
            )));
        }
        let packer = match &mut self.packer {
            Some(packer) => packer,
            none => none.insert(Packer::new(1)?),
        };
        let [tags, first, second, rest] = c.planes.columns();
        let columns: [&[u8]; COLUMNS] = [&c.ids, tags, first, second, rest, &self.others];
        let mut packed = Vec::new();
        let mut bytes = vec![0; unit::UNIT_HEADER];
        put_varint(&mut bytes, self.records as u64);
        for column in columns {
            let length = packer.pack(column, &mut packed)?;
            put_varint(&mut bytes, column.len() as u64);
            put_varint(&mut bytes, length as u64);
        }
        put_varint(&mut bytes, self.initial.len() as u64);
        bytes.append(&mut packed);
        bytes.extend_from_slice(&self.initial);
        let header = unit::header(Tag::Frame, &bytes[unit::UNIT_HEADER..])?;
        bytes[..unit::UNIT_HEADER].copy_from_slice(&header);
        Ok(bytes)
    }
}

impl Columns {
    /// Appends the `n` values of an execution of a unit.
    #[inline]
    fn put(
        &mut self,
        predictor: &mut Predictor,
        unit: usize,
        n: usize,
        values: impl Iterator<Item = u64>,
    ) {
        self.planes.reserve(n);
        let slots = predictor.enter(unit, n);
        let mut neighbour = 0;
        let mut last = 0;
        for (value, slot) in values.zip(slots) {
            let miss = value.wrapping_sub(slot.predicted());
            let coded_miss = zigzag(miss.wrapping_sub(slot.followed(neighbour)));
            let coded = if slot.is_plain() { value } else { coded_miss };
            slot.weigh(value, coded_miss);
            slot.learn(value, miss, neighbour);
            neighbour = miss;
            last = value;
            self.planes.put(coded);
        }
        predictor.last_value = last;
    }
}

/// Counts what a walk executes, and stores trip counts.
struct Counting<'e, 'a> {
    encoder: &'e mut Running,
    f: &'a CompiledFunction,
    counts: &'a mut Vec<u64>,
    at: &'a mut usize,
}

/// Bytes of a recorded trip count.
const COUNT_BYTES: usize = 6;

impl Visit for Counting<'_, '_> {
    fn count(&mut self, index: u32, l: &CompiledLoop, state: &State) -> u64 {
        let count = match &l.count {
            Some(count) => count.eval(&state.slots, &state.iterations),
            None => self.counts.pop().unwrap_or(0),
        };
        if l.stored {
            let e = &mut *self.encoder;
            let unit = self.f.loop_unit(index);
            e.columns
                .put(&mut e.predictor, unit, 1, std::iter::once(count));
        }
        count
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, _: &State) -> bool {
        let Some(counts) = l.flat.as_ref().and_then(|flat| flat.counts) else {
            return false;
        };
        let e = &mut *self.encoder;
        e.counts = e.counts.plus(counts.times(iterations));
        self.ended(l);
        true
    }

    fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            *self.at += COUNT_BYTES;
        }
    }
}

/// What an execution whose accesses depend on its operands counts.
fn count(info: &StaticInfo, id: BlockId, operands: &[u64]) -> Counts {
    let mut counts = Counts {
        blocks: 1,
        ..Counts::default()
    };
    let mut operands = operands;
    for op in info.ops_of(id) {
        let (own, rest) = operands.split_at(op.operand_count().min(operands.len()));
        op.expand(OpId::default(), own, |a| {
            counts.reads += u64::from(!a.write);
            counts.writes += u64::from(a.write);
            counts.bytes = counts.bytes.wrapping_add(a.size);
        });
        operands = rest;
    }
    counts
}

/// A little-endian value of 1, 2, 4, 6 or 8 bytes; what lies outside the bytes reads as 0.
#[inline]
fn read(bytes: &[u8], at: usize, width: u8) -> u64 {
    let unused = 64 - 8 * u32::from(width.clamp(1, 8));
    if let Some(word) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        return u64::from_le_bytes(*word) << unused >> unused;
    }
    let mut word = [0; 8];
    let have = bytes.get(at..).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(have).take(usize::from(width)) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
