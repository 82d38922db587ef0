//! Executions of blocks in rows of equal ones, and their accesses in columns.

use std::ops::Range;

use crate::frame::Site;
use crate::id::BlockId;
use crate::op::Access;

/// A script that is executed several times in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    script: u32,
    /// Accesses and executions of the piece before the row; see [`Row::place`].
    accesses: u32,
    start: u64,
    pub(super) times: u64,
}

/// The blocks of scripts, each with the end of its accesses. There is at least one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scripts<'c> {
    pub(super) known: &'c [Box<[(BlockId, u32)]>],
    pub(super) singles: &'c [(BlockId, u32)],
}

/// The bit of a script that is one of the singles.
const SINGLE: u32 = 1 << 31;

impl<'c> Scripts<'c> {
    #[inline]
    fn of(self, row: &Row) -> &'c [(BlockId, u32)] {
        let at = row.script & !SINGLE;
        let known = self.known.get(row.script as usize).map(|blocks| &**blocks);
        let single = || self.singles.get(at as usize).map(std::slice::from_ref);
        known.or_else(single).unwrap_or(&[])
    }
}

impl Row {
    pub(super) fn new(script: u32, times: u64) -> Self {
        Self { script, accesses: 0, start: 0, times }
    }

    pub(super) fn single(at: u32) -> Self {
        Self::new(at | SINGLE, 1)
    }

    /// Tells the rows of a piece what is before them.
    pub(super) fn place(rows: &mut [Self], scripts: Scripts<'_>) {
        let (mut start, mut accesses) = (0u64, 0u64);
        for row in rows {
            row.start = start;
            row.accesses = u32::try_from(accesses).unwrap_or(u32::MAX);
            let blocks = scripts.of(row);
            start = start.saturating_add(row.times.saturating_mul(blocks.len() as u64));
            let one = blocks.last().map_or(0, |last| last.1);
            accesses = accesses.saturating_add(row.times.saturating_mul(one.into()));
        }
    }

    /// The executions of the piece up to the end of the row.
    #[inline]
    fn end(&self, scripts: Scripts<'_>) -> u64 {
        let one = scripts.of(self).len() as u64;
        self.start.saturating_add(self.times.saturating_mul(one))
    }

    /// The accesses of the piece before one of the row's executions, counted from 0.
    fn accesses_before(&self, at: u64, scripts: Scripts<'_>) -> usize {
        let blocks = scripts.of(self);
        let one = (blocks.len() as u64).max(1);
        let of_one = blocks.last().map_or(0, |last| u64::from(last.1));
        let before = (at / one).saturating_mul(of_one) + u64::from(ends(blocks, at % one));
        self.accesses as usize + index(before)
    }
}

/// The accesses of these blocks before one of them.
#[inline]
fn ends(blocks: &[(BlockId, u32)], at: u64) -> u32 {
    let last = at.checked_sub(1).and_then(|last| blocks.get(index(last)));
    last.map_or(0, |last| last.1)
}

#[inline]
fn index(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// A length as a smaller number. A batch has few accesses.
#[inline]
pub(crate) fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Executions of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Executions<'c> {
    rows: &'c [Row],
    scripts: Scripts<'c>,
    /// The part of the piece that is meant.
    from: u64,
    to: u64,
    accesses: Accesses<'c>,
}

/// Blocks that are executed several times in a row, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct ExecutedRow<'c> {
    /// The blocks, each with the end of its accesses. Those of the first begin at `start`.
    blocks: &'c [(BlockId, u32)],
    start: u32,
    times: u64,
    /// The script, if these are all its blocks and others may have executed it, too.
    script: Option<u32>,
}

impl<'c> ExecutedRow<'c> {
    /// What the blocks are known by: rows of one graph with the same number have the same blocks.
    /// The numbers are small. `None` for blocks that have no number.
    #[must_use]
    #[inline]
    pub fn number(&self) -> Option<usize> {
        self.script.map(|script| script as usize)
    }

    /// How often the blocks are executed.
    #[must_use]
    #[inline]
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The blocks, once.
    #[inline]
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = BlockId> + Clone + use<'c> {
        self.blocks.iter().map(|block| block.0)
    }
}

impl<'c> Executions<'c> {
    pub(super) fn new(rows: &'c [Row], scripts: Scripts<'c>, accesses: Accesses<'c>) -> Self {
        Self { rows, scripts, from: 0, to: rows.last().map_or(0, |row| row.end(scripts)), accesses }
    }

    /// The number of executions.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u64 {
        self.to - self.from
    }

    /// Whether there are no executions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is meant of a row: the end of an iteration, whole iterations, the start of one.
    #[inline]
    fn parts(&self, row: &Row) -> [ExecutedRow<'c>; 3] {
        let blocks = self.scripts.of(row);
        let one = (blocks.len() as u64).max(1);
        let from = self.from.max(row.start) - row.start;
        let to = self.to.min(row.end(self.scripts)) - row.start;
        let part = |from: u64, to: u64, times| ExecutedRow {
            blocks: blocks.get(index(from)..index(to)).unwrap_or(&[]),
            start: ends(blocks, from),
            times,
            script: Some(row.script).filter(|script| script & SINGLE == 0 && to - from == one),
        };
        if to - from == row.times.saturating_mul(one) {
            return [part(0, one, row.times), part(0, 0, 0), part(0, 0, 0)];
        }
        let (first, last) = (from.div_ceil(one), to / one);
        if first > last {
            return [part(from % one, to % one, 1), part(0, 0, 0), part(0, 0, 0)];
        }
        let before = (one - from % one) % one;
        [part(one - before, one, 1), part(0, one, last - first), part(0, to % one, 1)]
    }

    #[inline]
    fn repeated(&self) -> impl Iterator<Item = ExecutedRow<'c>> + use<'c> {
        let this = *self;
        let rows = this.rows.iter().flat_map(move |row| this.parts(row));
        rows.filter(|part| part.times > 0 && !part.blocks.is_empty())
    }

    /// Calls `f` with rows of blocks, in order: each row is executed as often as it says before the
    /// next one begins.
    #[inline]
    pub fn for_each_row(&self, mut f: impl FnMut(ExecutedRow<'c>)) {
        for row in self.rows {
            for part in self.parts(row) {
                if part.times > 0 && !part.blocks.is_empty() {
                    f(part);
                }
            }
        }
    }

    /// Calls `f` with blocks and how often they are executed. A block may come several times, and
    /// the blocks do not come in the order of execution.
    #[inline]
    pub fn for_each_times(&self, mut f: impl FnMut(BlockId, u64)) {
        self.for_each_row(|row| row.blocks().for_each(|block| f(block, row.times())));
    }

    /// The blocks, in order.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<'c> {
        let all = |part: ExecutedRow<'c>| (0..part.times).flat_map(move |_| part.blocks);
        self.repeated().flat_map(all).map(|block| block.0)
    }

    /// The block that is executed last.
    #[inline]
    pub(super) fn last(&self) -> Option<BlockId> {
        let row = self.rows.last()?;
        let last = self.to.checked_sub(row.start + 1)?;
        let blocks = self.scripts.of(row);
        let last = last.checked_rem(blocks.len() as u64)?;
        (self.from < self.to).then(|| blocks[index(last)].0)
    }

    /// The blocks and their accesses, in order.
    pub fn each(&self) -> impl Iterator<Item = (BlockId, Accesses<'c>)> + use<'c> {
        let counts = |part: ExecutedRow<'c>| {
            (0..part.times).flat_map(move |_| {
                let mut from = part.start;
                part.blocks.iter().map(move |&(block, end)| {
                    let count = end - from;
                    from = end;
                    (block, count as usize)
                })
            })
        };
        let (mut at, accesses) = (0, self.accesses);
        self.repeated().flat_map(counts).map(move |(block, count)| {
            at += count;
            (block, accesses.part(at - count..at))
        })
    }

    /// All accesses of the executions, in order.
    #[must_use]
    #[inline]
    pub fn accesses(&self) -> Accesses<'c> {
        self.accesses
    }

    /// The executions in a range, counted from 0.
    #[must_use]
    pub fn part(&self, range: Range<u64>) -> Self {
        let scripts = self.scripts;
        let within = |at: u64| self.from.saturating_add(at).min(self.to);
        let from = within(range.start);
        let to = within(range.end).max(from);
        let first = self.rows.partition_point(|row| row.end(scripts) <= from);
        let rows = &self.rows[first..];
        let rows = &rows[..rows.partition_point(|row| row.start < to)];
        let accesses = match (rows.first(), rows.last()) {
            (Some(first), Some(last)) => {
                let before = self.rows.first().map_or(0, |row| {
                    row.accesses_before(self.from.saturating_sub(row.start), scripts)
                });
                let start = first.accesses_before(from.saturating_sub(first.start), scripts);
                let end = last.accesses_before(to - last.start, scripts);
                start - before..end - before
            }
            _ => 0..0,
        };
        Self { rows, scripts, from, to, accesses: self.accesses.part(accesses) }
    }
}

/// Accesses as columns of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Accesses<'c> {
    pub(super) addresses: &'c [u64],
    pub(super) sites: &'c [Site],
    pub(super) sizes: Sizes<'c>,
}

/// Where the sizes of accesses are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sizes<'c> {
    ByOp(&'c [u64]),
    /// A column like the addresses.
    Each(&'c [u64]),
}

impl<'c> Accesses<'c> {
    /// The number of accesses.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are no accesses.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The first byte of each access.
    #[must_use]
    #[inline]
    pub fn addresses(&self) -> &'c [u64] {
        self.addresses
    }

    /// The operation of each access, and whether it writes.
    #[must_use]
    #[inline]
    pub fn sites(&self) -> &'c [Site] {
        self.sites
    }

    /// The bytes of an access, counted from 0.
    #[must_use]
    #[inline]
    pub fn size(&self, at: usize) -> u64 {
        let size = match self.sizes {
            Sizes::ByOp(sizes) => self.sites.get(at).and_then(|site| sizes.get(site.op().index())),
            Sizes::Each(sizes) => sizes.get(at),
        };
        size.copied().unwrap_or(0)
    }

    /// All accesses, one by one.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Access> + use<'c> {
        let this = *self;
        let columns = self.addresses.iter().zip(self.sites).enumerate();
        columns.map(move |(at, (addr, site))| Access {
            addr: *addr,
            size: this.size(at),
            write: site.write(),
            op: site.op(),
        })
    }

    /// The accesses in a range, counted from 0.
    #[inline]
    fn part(self, range: Range<usize>) -> Self {
        let cut = |column: &'c [u64]| column.get(range.clone()).unwrap_or(&[]);
        Self {
            addresses: cut(self.addresses),
            sites: self.sites.get(range.clone()).unwrap_or(&[]),
            sizes: match self.sizes {
                Sizes::Each(sizes) => Sizes::Each(cut(sizes)),
                by_op @ Sizes::ByOp(_) => by_op,
            },
        }
    }
}
