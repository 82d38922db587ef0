//! What tasks do, in batches. Accesses are in columns, executions of blocks in rows of equal ones,
//! and loops stay loops. Several readers can use a batch at once.

use std::ops::Range;

use crate::action::{Action, BlockExec};
use crate::frame::{Emission, NONE, Played, Site};
use crate::id::BlockId;
use crate::path::Nest;
use crate::run::AffineRun;
use crate::statics::StaticInfo;

mod executions;

pub(crate) use executions::number;
pub use executions::{Accesses, ExecutedRow, Executions};
use executions::{Row, Scripts, Sizes};

/// Accesses, rows and pieces of a full batch. They stay in the caches while every reader goes over
/// them.
pub(crate) const FULL: usize = 1 << 13;

/// Some of what a task does, in program order.
#[derive(Debug, Default)]
pub struct Batch<'g> {
    /// The graph that the batch was read from, if any.
    pub(crate) source: Option<Emission<'g>>,
    pieces: Vec<Stored<'g>>,
    rows: Vec<Row>,
    /// Blocks of single executions, whose accesses have sizes of their own.
    singles: Vec<(BlockId, u32)>,
    /// The accesses. The columns are longer than the number of accesses, `end`.
    pub(crate) addresses: Vec<u64>,
    pub(crate) sites: Vec<Site>,
    pub(crate) end: usize,
    /// Sizes of accesses in pieces that have them.
    sizes: Vec<u64>,
    /// The operands of runs and nests.
    operands: Vec<u64>,
    /// The piece of executions that goes on, and the script of its last row.
    open: Option<Open>,
    last: u32,
}

/// The first row and the first access of a piece, and its first size if its accesses have sizes of
/// their own.
#[derive(Clone, Copy, Debug)]
struct Open {
    row: usize,
    access: usize,
    size: Option<usize>,
}

/// A piece of a batch.
#[derive(Clone, Debug)]
enum Stored<'g> {
    Blocks {
        rows: Range<usize>,
        accesses: Range<usize>,
        size: Option<usize>,
    },
    /// What was played, and the places of its operands.
    Played(Played<'g>, Range<usize>),
}

/// A piece of what a task does.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Piece<'c> {
    /// Executions of blocks, with the accesses in columns.
    Blocks(Executions<'c>),
    /// Many executions of the same blocks, whose accesses move by constants.
    Run(AffineRun<'c>),
    /// Many executions of blocks in loops. Their blocks have no operands, unless
    /// [`Reader::with_nests`](crate::Reader::with_nests) asks for them. Of a reader [without
    /// accesses](crate::Reader::without_accesses) the operands mean nothing.
    Nest(Nest<'c>),
    /// An action that is not an execution of a block.
    Action(Action<'c>),
}

impl<'c> Piece<'c> {
    /// What was played, with its operands; `None` for a single block.
    pub(crate) fn of(
        info: &'c StaticInfo,
        played: Played<'c>,
        operands: &'c [u64],
    ) -> Option<Self> {
        Some(match played {
            Played::Block(_) => return None,
            Played::Run { blocks, strides, iterations } => {
                Self::Run(AffineRun { info, blocks, starts: operands, strides, iterations })
            }
            Played::Nest { shape, cut } => Self::Nest(Nest::new(info, shape, operands, cut)),
            Played::Other(action) => Self::Action(action),
        })
    }
}

impl Piece<'_> {
    /// The number of actions that the piece stands for.
    #[must_use]
    #[inline]
    pub fn actions(&self) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.len(),
            Self::Run(run) => run.executions(),
            Self::Nest(nest) => nest.executions(),
            Self::Action(_) => 1,
        }
    }

    /// The block that is executed last; `None` if no block is executed.
    #[must_use]
    #[inline]
    pub fn last_block(&self) -> Option<BlockId> {
        match self {
            Self::Blocks(blocks) => blocks.last(),
            Self::Run(run) => run.blocks.last().map(|last| last.0),
            Self::Nest(nest) => nest.block_at(nest.executions().checked_sub(1)?),
            Self::Action(_) => None,
        }
    }

    /// Calls `f` with pieces that together are the actions in a range, counted from 0. The other
    /// argument is the number of each piece's first action.
    ///
    /// # Errors
    /// What `f` returns first.
    pub fn for_each_part<E>(
        &self,
        range: Range<u64>,
        mut f: impl FnMut(u64, &Piece<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let Range { start, end } = range;
        match self {
            _ if (start, end) == (0, self.actions()) => f(0, self),
            Self::Blocks(blocks) => f(start, &Piece::Blocks(blocks.part(start..end))),
            Self::Nest(nest) => f(start, &Piece::Nest(nest.part(start..end))),
            Self::Run(run) => {
                let one = (run.blocks.len() as u64).max(1);
                // Whole iterations stay a run. What is before and after them becomes single
                // executions.
                let (first, last) = (start.div_ceil(one), end / one);
                let mut batch = Batch::default();
                let mut single = |from: u64, to: u64, f: &mut dyn FnMut(u64, &Piece<'_>) -> _| {
                    batch.expand(run, from..to);
                    let piece = batch.piece(0);
                    piece.map_or(Ok(()), |piece| f(from, &piece))
                };
                if first >= last {
                    return single(start, end, &mut f);
                }
                single(start, first * one, &mut f)?;
                let mut starts = Vec::new();
                let whole = run.part(first..last, &mut starts);
                f(first * one, &Piece::Run(whole))?;
                single(last * one, end, &mut f)
            }
            Self::Action(_) => f(start, self),
        }
    }

    /// Calls `f` with blocks and how often they are executed. A block may come several times, and
    /// the blocks do not come in the order of execution.
    #[inline]
    pub fn for_each_times(&self, f: impl FnMut(BlockId, u64)) {
        match self {
            Self::Blocks(blocks) => blocks.for_each_times(f),
            Self::Run(run) => run.for_each_times(f),
            Self::Nest(nest) => nest.for_each_times(f),
            Self::Action(_) => {}
        }
    }
}

impl<'g> Batch<'g> {
    /// Forgets the contents of the batch.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.rows.clear();
        self.singles.clear();
        self.sizes.clear();
        self.operands.clear();
        (self.end, self.open, self.last) = (0, None, NONE);
    }

    /// Whether the batch has no pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The pieces of the batch, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        (0..self.pieces.len()).filter_map(|at| self.piece(at))
    }

    fn scripts(&self) -> Scripts<'_> {
        Scripts { known: self.source.map_or(&[], |e| &e.templates.scripts), singles: &self.singles }
    }

    /// The piece with this number, counted from 0; `None` after the last.
    #[must_use]
    pub fn piece(&self, at: usize) -> Option<Piece<'_>> {
        Some(match self.pieces.get(at)? {
            Stored::Blocks { rows, accesses, size } => {
                let sizes = match *size {
                    Some(first) => Sizes::Each(&self.sizes[first..first + accesses.len()]),
                    None => Sizes::ByOp(self.source.map_or(&[], |e| &e.templates.sizes)),
                };
                Piece::Blocks(Executions::new(
                    &self.rows[rows.clone()],
                    self.scripts(),
                    Accesses {
                        addresses: &self.addresses[accesses.clone()],
                        sites: &self.sites[accesses.clone()],
                        sizes,
                    },
                ))
            }
            Stored::Played(played, operands) => {
                Piece::of(self.source?.info, *played, &self.operands[operands.clone()])?
            }
        })
    }

    /// Replaces the contents of the batch by some of the executions of a run, counted from 0, one
    /// by one.
    pub fn expand(&mut self, run: &AffineRun<'_>, executions: Range<u64>) {
        self.clear();
        let blocks = run.blocks.len() as u64;
        let Some(first) = executions.start.checked_div(blocks) else {
            return;
        };
        let iterations = first..executions.end.div_ceil(blocks).min(run.iterations);
        let mut starts = Vec::new();
        let mut index = first * blocks;
        run.part(iterations, &mut starts).for_each_block(|block| {
            if executions.contains(&index) {
                self.single(&block);
            }
            index += 1;
        });
        self.close();
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.end + self.rows.len() + self.pieces.len() >= FULL
    }

    /// Makes room for this many more accesses.
    #[inline]
    pub(crate) fn room(&mut self, n: usize) {
        let needed = self.end + n;
        if self.addresses.len() < needed {
            self.addresses.resize(needed.next_power_of_two(), 0);
            self.sites.resize(needed.next_power_of_two(), Site::default());
        }
    }

    /// Appends accesses at these sites, several times. Returns the place for their addresses.
    #[inline]
    pub(crate) fn append(&mut self, sites: &[Site], times: usize) -> &mut [u64] {
        let (from, n) = (self.end, sites.len() * times);
        self.room(n);
        self.end += n;
        let to = self.sites[from..self.end].chunks_exact_mut(sites.len().max(1));
        to.for_each(|to| to.copy_from_slice(sites));
        &mut self.addresses[from..self.end]
    }

    /// Appends executions of a script of the graph's templates. Their accesses are appended by the
    /// caller.
    #[inline]
    pub(crate) fn execute(&mut self, script: u32, times: u64) {
        if self.last == script
            && let Some(row) = self.rows.last_mut()
        {
            row.times += times;
            return;
        }
        if self.open.is_none_or(|open| open.size.is_some()) {
            self.close();
            self.begin(None);
        }
        self.last = script;
        self.rows.push(Row::new(script, times));
    }

    #[cold]
    fn begin(&mut self, size: Option<usize>) {
        self.open = Some(Open { row: self.rows.len(), access: self.end, size });
    }

    /// Appends the execution of a block whose accesses have sizes of their own.
    pub(crate) fn single(&mut self, block: &BlockExec<'_>) {
        if self.open.is_none_or(|open| open.size.is_none()) {
            self.close();
            self.begin(Some(self.sizes.len()));
        }
        let before = self.end;
        block.for_each_access(|access| {
            self.room(1);
            self.addresses[self.end] = access.addr;
            self.sites[self.end] = Site::new(access.op.get(), access.write);
            self.sizes.push(access.size);
            self.end += 1;
        });
        self.rows.push(Row::single(number(self.singles.len())));
        self.singles.push((block.id(), number(self.end - before)));
    }

    /// Ends the piece of executions that goes on.
    pub(crate) fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.last = NONE;
        let scripts = Scripts {
            known: self.source.map_or(&[], |e| &e.templates.scripts),
            singles: &self.singles,
        };
        Row::place(&mut self.rows[open.row..], scripts);
        self.pieces.push(Stored::Blocks {
            rows: open.row..self.rows.len(),
            accesses: open.access..self.end,
            size: open.size,
        });
    }

    /// Appends what was played, with its operands.
    pub(crate) fn push(&mut self, info: &'g StaticInfo, played: Played<'g>, operands: &[u64]) {
        if let Played::Block(id) = played {
            return self.single(&BlockExec::new(info, id, operands));
        }
        self.close();
        let from = self.operands.len();
        self.operands.extend_from_slice(operands);
        self.pieces.push(Stored::Played(played, from..self.operands.len()));
    }
}
