//! Encodes actions into frames.

use std::sync::Arc;

use self::size::Size;
use self::table::{Scratch, Table};
use crate::action::Action;
use crate::codec::Packer;
use crate::frame::Layout;
use crate::frame::others;
use crate::frame::resume::ResumesWriter;
use crate::id::BlockId;
use crate::path::{Path, PathTable, State, Walk};
use crate::sample::CodeOf;
use crate::statics::StaticInfo;
use contech_program::{Counts, Room, count};

mod seal;
mod segment;
mod size;
mod table;

/// A record is copied faster with so many bytes more than it has.
const SLACK: usize = 32;

/// A finished frame, for [`GraphWriter::put_frame`](crate::GraphWriter::put_frame).
#[derive(Debug)]
pub struct EncodedFrame {
    /// The unit of the file: header and payload.
    pub(crate) bytes: Vec<u8>,
    /// What was wrong with the calls that made the frame.
    pub(crate) fault: Option<String>,
    /// Numbers of the paths in the frame.
    pub(crate) paths: Vec<u32>,
    /// Which code it has, if the graph has a sample.
    pub(crate) code: CodeOf,
    records: u32,
}

impl EncodedFrame {
    /// Number of records in the frame.
    #[must_use]
    pub fn record_count(&self) -> u32 {
        self.records
    }

    /// Says which code of a sample it has.
    pub fn set_code(&mut self, code: CodeOf) {
        self.code = code;
    }

    /// Number of bytes that the frame takes in the file.
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
    /// The leaves of the path in execution order, little-endian, each in its width. After the
    /// iterations of a loop whose count is not computed, there are 6 bytes that are skipped. The
    /// encoder does not look at what follows the record, but is faster with 32 bytes more.
    pub bytes: &'a [u8],
    /// The counts of the loops whose count is not computed; that of the first loop is last.
    pub counts: &'a [u64],
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

/// All state except the path tables, which are read while this state changes.
#[derive(Debug, Default)]
struct Running {
    info: Arc<StaticInfo>,
    layout: Arc<Layout>,
    counts: Counts,
    /// The numbers of the records: 0 for other actions, or 1 + the place in `used` for those of a
    /// block or path.
    ids: Vec<u32>,
    /// For each symbol (block, or number of blocks + path), the table of what it has stored.
    tables: Room<Table>,
    /// The symbols in this frame, in the order of their first records.
    used: Vec<u32>,
    /// Values in this frame.
    values: usize,
    size: Size,
    scratch: Scratch,
    others: Vec<u8>,
    last_address: u64,
    /// What is known of the function being executed needs not be stored: the frame has it, and no
    /// task begins here.
    known: bool,
    resumes: ResumesWriter,
    /// What is known before the segment at hand, if it is a resume.
    resumed: Vec<u64>,
    walk: Walk,
    operands: Vec<u64>,
    packer: Option<Packer>,
    fault: Option<String>,
}

impl FrameEncoder {
    /// Makes an encoder of blocks for the program with these static tables; O(blocks + operations).
    #[must_use]
    pub fn new(info: Arc<StaticInfo>) -> Self {
        Self::with_paths(Arc::new(PathTable::of_blocks(info)))
    }

    /// Makes an encoder of the blocks and paths of a table. Encoders for the same program share it.
    #[must_use]
    pub fn with_paths(table: Arc<PathTable>) -> Self {
        let (info, layout) = (Arc::clone(&table.info), Arc::clone(&table.layout));
        let tables = Room::new(layout.blocks.len() + table.capacity());
        let running = Running { info, layout, tables, ..Running::default() };
        Self { table, running }
    }

    /// Appends the execution of a block. `operands` are those of all its memory operations, in
    /// program order.
    ///
    /// A block that is not in the tables, or another number of operands than
    /// [`StaticInfo::operand_count`], makes
    /// [`GraphWriter::put_frame`](crate::GraphWriter::put_frame) refuse the frame.
    #[inline]
    pub fn block(&mut self, id: BlockId, operands: &[u64]) {
        self.running.block(id, operands);
    }

    /// Appends the execution of a path, which `define` describes if it is not known yet. Returns
    /// false if there is no such path, or if the segment does not fit the path. The frame then
    /// holds nothing of the segment.
    ///
    /// `known` gives the state before the path (any state, if the path is fresh), which becomes the
    /// state after it. It is called only if the path goes on after [`FrameEncoder::cut`] or with
    /// values that are not in this frame, or must be executed to know what it counts.
    #[must_use]
    pub fn segment<'s>(
        &mut self,
        segment: Segment<'_>,
        known: impl FnOnce() -> &'s mut State,
        define: impl FnOnce() -> Option<Path>,
    ) -> bool {
        let Self { table, running } = self;
        let Some((path, f)) = table.path(segment.path, define) else {
            return false;
        };
        running.segment(path, f, segment, known)
    }

    /// Appends the first of `times` executions of a path without counts, of which each is recorded
    /// `stride` bytes after the one before, and those after it for which nothing must be known,
    /// until the frame is full. Returns how many, and 0 where [`FrameEncoder::segment`] returns
    /// false.
    #[must_use]
    pub fn segments<'s>(
        &mut self,
        first: Segment<'_>,
        (times, stride): (usize, usize),
        known: impl FnOnce() -> &'s mut State,
        define: impl FnOnce() -> Option<Path>,
    ) -> usize {
        let Self { table, running } = self;
        let Some((path, f)) = table.path(first.path, define) else {
            return 0;
        };
        let Segment { path: number, bytes, counts } = first;
        let own = Segment { bytes: &bytes[..bytes.len().min(stride + SLACK)], ..first };
        if !running.segment(path, f, own, known) {
            return 0;
        }
        let left = times.saturating_sub(1);
        let rest = bytes.get(stride..).unwrap_or(&[]);
        match counts {
            [] => 1 + running.repeat(path, number, (rest, left), stride),
            _ => 1,
        }
    }

    /// Appends an action: the execution of a block, or what executes none.
    pub fn action(&mut self, action: &Action<'_>) {
        match action {
            Action::Block(block) => self.block(block.id(), block.operands()),
            other => self.running.other(other),
        }
    }

    /// Says that a task may begin here. What the next path goes on with is stored.
    pub fn cut(&mut self) {
        self.running.known = false;
    }

    /// Number of records in the frame so far; 0 right after [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn record_count(&self) -> u32 {
        u32::try_from(self.running.ids.len()).unwrap_or(u32::MAX)
    }

    /// The frame has its 131072 values, up to 524288 where that pays, or half as many records: call
    /// [`FrameEncoder::finish`].
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        let Running { ids, values, size, .. } = &self.running;
        2 * ids.len() >= size.values() || *values >= size.values()
    }

    /// Totals of everything appended since the encoder was made; `finish` does not reset them. A
    /// task's own totals are the difference: [`Counts::since`].
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
        match layout.counts {
            Some(counts) => self.counts = self.counts.plus(counts),
            None => self.counts = self.counts.plus(count(&self.info, id, operands)),
        }
        let n = operands.len();
        let made = || Table::of_block(n);
        if let Some(table) = self.tables.get_mut_or_init(id.index(), made) {
            table.put_operands(operands);
            self.values += n;
            let local = table.local;
            self.recorded(id.get(), local);
        }
    }

    /// Notes that a record was appended to the table of a symbol, which has this number in the
    /// frame.
    #[inline]
    fn recorded(&mut self, symbol: u32, local: Option<u32>) {
        let local = local.unwrap_or_else(|| self.first_of(symbol));
        self.ids.push(local);
    }

    #[cold]
    fn first_of(&mut self, symbol: u32) -> u32 {
        self.used.push(symbol);
        // No frame has as many records as numbers.
        let local = u32::try_from(self.used.len()).unwrap_or(u32::MAX);
        if let Some(table) = self.tables.get_mut(symbol as usize) {
            table.local = Some(local);
        }
        local
    }

    #[cold]
    fn refuse(&mut self, why: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(why);
    }

    fn other(&mut self, action: &Action<'_>) {
        self.ids.push(0);
        others::encode(action, &mut self.last_address, &mut self.others);
        self.counts.others += 1;
    }
}
