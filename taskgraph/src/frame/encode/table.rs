//! The records of one block or path in a frame. They are rows of bytes as they were recorded, and
//! become columns at the end of the frame.

use crate::column::{self, Coding};
use crate::frame::shape::{Iterated, Shape, Take};
use crate::path::{CompiledFunction, CompiledPath};
use contech_program::path::COUNT_BYTES;

/// Number of frames that keep a coding. To choose a coding costs as much as to store a short
/// column.
const KEPT: u32 = 16;
/// A column with fewer values than this does not tell how the next frames should be coded.
const FEW: usize = 16;

/// The rows of a block or path.
#[derive(Debug)]
pub(super) struct Table {
    takes: Box<[Take]>,
    /// The row is the whole record.
    is_plain: bool,
    fields: Rows,
    loops: Box<[(u64, Rows)]>,
    /// How the columns were coded last; `kept` says for how many frames that is still good.
    codings: Box<[Coding]>,
    kept: u32,
    /// The table's number in the current frame.
    pub(super) local: Option<u32>,
}

/// Rows of values of fixed widths.
#[derive(Debug, Default)]
struct Rows {
    widths: Box<[u8]>,
    stride: usize,
    bytes: Vec<u8>,
    len: usize,
}

impl Rows {
    fn new(widths: &[u8]) -> Self {
        Self {
            widths: widths.into(),
            stride: widths.iter().map(|w| usize::from(*w)).sum(),
            ..Self::default()
        }
    }

    /// One column.
    fn column(&self, at: usize, width: u8, out: &mut Vec<u64>) {
        out.clear();
        let rows = self.bytes.chunks_exact(self.stride);
        let rows = rows.map(|row| row.get(at..).unwrap_or(&[]));
        match width {
            1 => out.extend(rows.map(word::<1>)),
            2 => out.extend(rows.map(word::<2>)),
            4 => out.extend(rows.map(word::<4>)),
            6 => out.extend(rows.map(word::<6>)),
            _ => out.extend(rows.map(word::<8>)),
        }
    }
}

/// The number that the first bytes of a row make.
#[inline]
fn word<const N: usize>(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    if let Some(own) = bytes.first_chunk::<N>() {
        word[..N].copy_from_slice(own);
    }
    u64::from_le_bytes(word)
}

/// Working memory for columns.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    column: Vec<u64>,
    before: Vec<u64>,
    coded: Vec<u64>,
    /// The lengths of the planes of a frame, in order.
    pub(super) lengths: Vec<usize>,
}

impl Table {
    pub(super) fn of_block(operands: usize) -> Self {
        Self::new(Shape::of_block(operands))
    }

    pub(super) fn of_path(path: &CompiledPath, f: &CompiledFunction) -> Self {
        Self::new(Shape::of_path(path, f))
    }

    fn new(shape: Shape) -> Self {
        let rows = |l: &Iterated| (l.more, Rows::new(&l.values));
        Self {
            is_plain: matches!(*shape.takes, [] | [Take::Bytes(_)]),
            fields: Rows::new(&shape.fields),
            loops: shape.loops.iter().map(rows).collect(),
            codings: vec![Coding::Plain; shape.columns()].into(),
            takes: shape.takes,
            kept: 0,
            local: None,
        }
    }

    /// Number of records so far.
    pub(super) fn len(&self) -> usize {
        self.fields.len
    }

    /// Bytes of memory that the rows take.
    pub(super) fn weight(&self) -> usize {
        let loops: usize = self.loops.iter().map(|l| l.1.bytes.capacity()).sum();
        self.fields.bytes.capacity() + loops
    }

    /// Appends the execution of a block. Returns the number of values stored.
    #[inline]
    pub(super) fn put_operands(&mut self, operands: &[u64]) {
        self.fields.len += 1;
        let bytes = operands.iter().flat_map(|v| v.to_le_bytes());
        self.fields.bytes.extend(bytes);
    }

    /// Appends the execution of a path. `counts` are those of its loops; the count of the first
    /// loop is last. Returns the number of values stored. If there are more iterations than bytes,
    /// it returns `None` and appends nothing.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8], counts: &[u64]) -> Option<usize> {
        if !self.is_plain {
            return self.put_iterated(bytes, counts);
        }
        self.put_plain(bytes);
        Some(self.fields.widths.len())
    }

    /// Number of values of each record, if it is one row.
    pub(super) fn plain(&self) -> Option<usize> {
        self.is_plain.then_some(self.fields.widths.len())
    }

    /// Appends a record that is one row.
    #[inline]
    pub(super) fn put_plain(&mut self, bytes: &[u8]) {
        let rows = &mut self.fields;
        rows.len += 1;
        // Most rows are short. It needs no call to copy some words and to take back what is too
        // much.
        let (len, stride) = (rows.bytes.len(), rows.stride);
        match (stride, bytes.first_chunk::<16>(), bytes.first_chunk::<32>()) {
            (..=16, Some(words), _) => rows.bytes.extend_from_slice(words),
            (..=32, _, Some(words)) => rows.bytes.extend_from_slice(words),
            _ => {
                let have = &bytes[..stride.min(bytes.len())];
                rows.bytes.extend_from_slice(have);
                rows.bytes.resize(len + stride, 0);
            }
        }
        rows.bytes.truncate(len + stride);
    }

    fn put_iterated(&mut self, bytes: &[u8], counts: &[u64]) -> Option<usize> {
        let mut counts = counts.iter().rev();
        let (mut at, mut iterations, mut next) = (0, 0, 0);
        let mut values = self.fields.widths.len();
        for take in &self.takes {
            match *take {
                Take::Bytes(n) => {
                    let end = self.fields.bytes.len() + n;
                    let have = bytes.get(at..).unwrap_or(&[]);
                    let have = &have[..n.min(have.len())];
                    self.fields.bytes.extend_from_slice(have);
                    self.fields.bytes.resize(end, 0);
                    at += n;
                }
                Take::Count => {
                    iterations = counts.next().copied().unwrap_or(0);
                    self.fields.bytes.extend(iterations.to_le_bytes());
                }
                Take::Loop => {
                    let (more, rows) = &mut self.loops[next];
                    next += 1;
                    let n = usize::try_from(iterations.saturating_add(*more)).ok();
                    let all = n.and_then(|n| n.checked_mul(rows.stride));
                    let own = all.and_then(|n| bytes.get(at..)?.get(..n));
                    let Some(own) = own else {
                        self.take_back();
                        return None;
                    };
                    rows.bytes.extend_from_slice(own);
                    values += own.len() / rows.stride * rows.widths.len();
                    at += own.len();
                }
                Take::Pass => at += COUNT_BYTES,
            }
        }
        self.fields.len += 1;
        for (_, rows) in &mut self.loops {
            rows.len = rows.bytes.len() / rows.stride;
        }
        Some(values)
    }

    /// Takes back what was appended of a record.
    #[cold]
    fn take_back(&mut self) {
        let loops = self.loops.iter_mut().map(|l| &mut l.1);
        for rows in std::iter::once(&mut self.fields).chain(loops) {
            rows.bytes.truncate(rows.len * rows.stride);
        }
    }

    /// Moves all rows to columns: how they are stored goes to `heads`, and their bytes to `planes`.
    pub(super) fn seal(
        &mut self,
        scratch: &mut Scratch,
        heads: &mut Vec<u8>,
        planes: &mut Vec<u8>,
    ) {
        let choosing = self.kept == 0 && self.fields.len >= FEW;
        self.kept = if choosing { KEPT } else { self.kept.saturating_sub(1) };
        let loops = self.loops.iter().map(|l| &l.1);
        let mut codings = self.codings.iter_mut();
        for rows in std::iter::once(&self.fields).chain(loops) {
            let mut at = 0;
            scratch.before.clear();
            for (&width, coding) in rows.widths.iter().zip(&mut codings) {
                let Scratch { column, before, coded, lengths } = scratch;
                rows.column(at, width, column);
                if choosing {
                    *coding = column::choose(column, before);
                }
                let from = planes.len();
                column::put(*coding, column, before, coded, heads, planes);
                let n = column.len();
                lengths.extend((from..planes.len()).step_by(n.max(1)).map(|_| n));
                std::mem::swap(column, before);
                at += usize::from(width);
            }
        }
    }

    /// Forgets the records and, with `free`, gives back their memory.
    pub(super) fn clear(&mut self, free: bool) {
        self.local = None;
        let loops = self.loops.iter_mut().map(|l| &mut l.1);
        for rows in std::iter::once(&mut self.fields).chain(loops) {
            rows.len = 0;
            rows.bytes.clear();
            if free {
                rows.bytes = Vec::new();
            }
        }
    }
}
