//! The contents of tasks in chunks. Executions and accesses are in columns, and loops stay loops, so that several
//! readers can use a chunk at once.

use std::ops::Range;
use std::sync::Arc;

use crate::action::{Action, BlockExec};
use crate::compact::AffineRun;
use crate::error::Result;
use crate::frame::{DecodedFrame, Played, Player};
use crate::graph::TaskGraph;
use crate::id::BlockId;
use crate::op::Access;
use crate::path::{Nest, NestShape};
use crate::record::FrameSpan;
use crate::space::prefix;
use crate::statics::StaticInfo;
use crate::task::Task;

/// Executions and accesses of a full chunk. They take 200 KB, which stay in the caches while every reader goes over
/// them.
const FULL: usize = 4096;

/// Some of what a task does, in program order.
#[derive(Debug, Default)]
pub struct Chunk<'g> {
    pieces: Vec<Stored<'g>>,
    /// Blocks that were executed one by one, and the ends of their accesses.
    blocks: Vec<(BlockId, u32)>,
    accesses: Vec<Access>,
    /// The operands of runs and nests.
    operands: Vec<u64>,
}

/// A piece of a chunk.
#[derive(Clone, Debug)]
enum Stored<'g> {
    Blocks(Range<usize>),
    Run {
        blocks: &'g [(BlockId, u32)],
        strides: &'g [u64],
        iterations: u64,
        operands: Range<usize>,
    },
    Nest {
        shape: &'g NestShape,
        cut: bool,
        operands: Range<usize>,
    },
    Action(Action<'static>),
}

/// A piece of what a task does.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Piece<'c> {
    /// Executions of blocks, one by one.
    Blocks(Executions<'c>),
    /// Many executions of the same blocks, whose accesses move by constants.
    Run(AffineRun<'c>),
    /// Many executions of blocks without operands.
    Nest(Nest<'c>),
    /// An action that is not an execution of a block.
    Action(Action<'c>),
}

impl Piece<'_> {
    /// The number of actions that the piece stands for.
    #[must_use]
    #[inline]
    pub fn actions(&self) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.len() as u64,
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
            Self::Blocks(blocks) => blocks.blocks.last().map(|last| last.0),
            Self::Run(run) => run.blocks.last().map(|last| last.0),
            Self::Nest(nest) => nest.block_at(nest.executions().checked_sub(1)?),
            Self::Action(_) => None,
        }
    }

    /// Calls `f` with pieces that together are the actions in a range, counted from 0. The other argument is the
    /// number of each piece's first action.
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
                // Whole iterations stay a run. What is before and after them becomes single executions.
                let (first, last) = (start.div_ceil(one), end / one);
                let mut chunk = Chunk::default();
                let mut single = |from: u64, to: u64, f: &mut dyn FnMut(u64, &Piece<'_>) -> _| {
                    chunk.expand(run, from..to);
                    let piece = chunk.piece(0, run.info);
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

    /// Calls `f` with blocks and how often they are executed. A block may come several times, and the blocks do not
    /// come in the order of execution.
    #[inline]
    pub fn for_each_times(&self, mut f: impl FnMut(BlockId, u64)) {
        match self {
            Self::Blocks(blocks) => blocks.blocks().for_each(|block| f(block, 1)),
            Self::Run(run) => run.for_each_times(f),
            Self::Nest(nest) => nest.for_each_times(f),
            Self::Action(_) => {}
        }
    }
}

/// Executions of blocks, one by one.
#[derive(Clone, Copy, Debug)]
pub struct Executions<'c> {
    blocks: &'c [(BlockId, u32)],
    /// The first access, counted like the ends of accesses.
    first: u32,
    accesses: &'c [Access],
}

impl<'c> Executions<'c> {
    /// The number of executions.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are no executions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The blocks, in order.
    #[inline]
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + 'c {
        self.blocks.iter().map(|block| block.0)
    }

    /// The blocks and their accesses, in order.
    pub fn each(&self) -> impl Iterator<Item = (BlockId, &'c [Access])> + 'c {
        let (mut from, base, accesses) = (self.first, self.first, self.accesses);
        self.blocks.iter().map(move |&(block, end)| {
            let own = (from - base) as usize..(end - base) as usize;
            from = end;
            (block, &accesses[own])
        })
    }

    /// All accesses of the executions, in order.
    #[must_use]
    #[inline]
    pub fn accesses(&self) -> &'c [Access] {
        self.accesses
    }

    /// The executions in a range, counted from 0.
    #[must_use]
    pub fn part(&self, range: Range<u64>) -> Self {
        let within = |index: u64| usize::try_from(index).unwrap_or(usize::MAX).min(self.len());
        let (from, to) = (within(range.start), within(range.end));
        let end = |at: usize| at.checked_sub(1).map_or(self.first, |at| self.blocks[at].1);
        let (first, last) = (end(from), end(to.max(from)));
        Self {
            blocks: self.blocks.get(from..to).unwrap_or(&[]),
            first,
            accesses: &self.accesses[(first - self.first) as usize..(last - self.first) as usize],
        }
    }
}

impl<'g> Chunk<'g> {
    /// Forgets the contents of the chunk.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.blocks.clear();
        self.accesses.clear();
        self.operands.clear();
    }

    /// The pieces of the chunk, in order.
    pub fn pieces<'c>(&'c self, info: &'c StaticInfo) -> impl Iterator<Item = Piece<'c>> {
        (0..self.pieces.len()).filter_map(|at| self.piece(at, info))
    }

    /// The piece with this number, counted from 0; `None` after the last.
    #[must_use]
    pub fn piece<'c>(&'c self, at: usize, info: &'c StaticInfo) -> Option<Piece<'c>> {
        Some(match self.pieces.get(at)? {
            Stored::Blocks(range) => {
                let end = |at: usize| at.checked_sub(1).map_or(0, |at| self.blocks[at].1);
                let first = end(range.start);
                Piece::Blocks(Executions {
                    blocks: &self.blocks[range.clone()],
                    first,
                    accesses: &self.accesses[first as usize..end(range.end) as usize],
                })
            }
            Stored::Run {
                blocks,
                strides,
                iterations,
                operands,
            } => Piece::Run(AffineRun {
                info,
                blocks,
                starts: &self.operands[operands.clone()],
                strides,
                iterations: *iterations,
            }),
            Stored::Nest {
                shape,
                cut,
                operands,
            } => Piece::Nest(Nest::new(shape, &self.operands[operands.clone()], *cut)),
            Stored::Action(action) => Piece::Action(*action),
        })
    }

    /// Replaces the contents of the chunk by some of the executions of a run, counted from 0, one by one.
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
                self.execution(&block);
            }
            index += 1;
        });
    }

    #[inline]
    fn execution(&mut self, block: &BlockExec<'_>) {
        let accesses = &mut self.accesses;
        block.for_each_access(|access| accesses.push(access));
        let end = u32::try_from(accesses.len()).unwrap_or(u32::MAX);
        let at = self.blocks.len();
        self.blocks.push((block.id(), end));
        match self.pieces.last_mut() {
            Some(Stored::Blocks(range)) => range.end = at + 1,
            _ => self.pieces.push(Stored::Blocks(at..at + 1)),
        }
    }

    fn is_full(&self) -> bool {
        self.blocks.len() + self.accesses.len() + self.pieces.len() >= FULL
    }

    #[inline]
    fn push(&mut self, info: &'g StaticInfo, played: Played<'g>, operands: &[u64]) {
        let from = self.operands.len();
        match played {
            Played::Block(id) => {
                self.execution(&BlockExec::new(info, id, operands));
            }
            Played::Run {
                blocks,
                strides,
                iterations,
            } => {
                self.operands.extend_from_slice(operands);
                self.pieces.push(Stored::Run {
                    blocks,
                    strides,
                    iterations,
                    operands: from..self.operands.len(),
                });
            }
            Played::Nest { shape, cut } => {
                self.operands.extend_from_slice(operands);
                self.pieces.push(Stored::Nest {
                    shape,
                    cut,
                    operands: from..self.operands.len(),
                });
            }
            Played::Other(action) => self.pieces.push(Stored::Action(action)),
        }
    }
}

/// Reads tasks chunk by chunk, and keeps decoded frames and memory from one task to the next.
#[derive(Debug)]
pub struct Reader<'g, D> {
    graph: &'g TaskGraph<D>,
    /// The frames that were read last, with their places. A frame's index is its context modulo the number of frames.
    recent: Vec<Option<(u64, Arc<DecodedFrame>)>>,
    at: usize,
    /// The task being read, its next span, and whether the player is in the span before.
    task: Option<Task<'g, D>>,
    span: usize,
    inside: bool,
    player: Player,
    space: u16,
}

impl<'g, D: AsRef<[u8]>> Reader<'g, D> {
    /// A reader that keeps `frames` frames, for as many contexts whose tasks alternate. It keeps at least one.
    #[must_use]
    pub fn new(graph: &'g TaskGraph<D>, frames: usize) -> Self {
        let mut recent = Vec::new();
        recent.resize_with(frames.max(1), || None);
        Self {
            graph,
            recent,
            at: 0,
            task: None,
            span: 0,
            inside: false,
            player: Player::default(),
            space: 0,
        }
    }

    /// Goes to the start of a task.
    pub fn open(&mut self, task: &Task<'g, D>) {
        let context = task.id().context;
        self.at = context.index() % self.recent.len();
        self.space = self.graph.space_of(context);
        self.player.restart(task.block_count());
        (self.span, self.inside) = (0, false);
        self.task = Some(task.clone());
    }

    /// Replaces the contents of `chunk` by what comes next. Returns false when the task is over.
    ///
    /// # Errors
    /// The frame is damaged.
    pub fn next(&mut self, chunk: &mut Chunk<'g>) -> Result<bool> {
        chunk.clear();
        let read = self.fill(chunk);
        self.graph.in_file(read)?;
        Ok(!chunk.pieces.is_empty())
    }

    fn fill(&mut self, chunk: &mut Chunk<'g>) -> Result<()> {
        let score = self.graph.score()?;
        let info = self.graph.info();
        while let Some(task) = &self.task {
            if !self.inside {
                let Some(span) = task.spans().get(self.span).copied() else {
                    self.task = None;
                    break;
                };
                self.span += 1;
                self.enter(&span)?;
            }
            let Some((_, frame)) = &self.recent[self.at] else {
                break;
            };
            while let Some(mut played) = self.player.next(score, frame)? {
                if self.space > 0 {
                    prefix(info, &mut played, &mut self.player.operands, self.space);
                }
                chunk.push(info, played, &self.player.operands);
                if chunk.is_full() {
                    return Ok(());
                }
            }
            self.inside = false;
        }
        Ok(())
    }

    fn enter(&mut self, span: &FrameSpan) -> Result<()> {
        let place = &mut self.recent[self.at];
        if place.as_ref().is_none_or(|known| known.0 != span.frame.0) {
            if let Some((_, old)) = place.take() {
                self.graph.recycle(old);
            }
            let (frame, _) = self.graph.frame(span)?;
            *place = Some((span.frame.0, frame));
        }
        if let Some((_, frame)) = place {
            let range = TaskGraph::<D>::records(frame, span)?;
            self.player.start(frame, range);
            self.inside = true;
        }
        Ok(())
    }
}
