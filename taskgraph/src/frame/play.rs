//! Plays the records of a frame: executions of blocks are computed from paths and their stored
//! values.

use std::cell::Cell;
use std::ops::Range;

use crate::action::Action;
use crate::error::{Result, malformed};
use crate::frame::Layout;
use crate::frame::WHAT;
use crate::frame::decode::{DecodedFrame, Record, Table};
use crate::frame::plan::NONE;
use crate::id::BlockId;
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, MOST_WRAPPING, NO_BLOCK, NestShape,
    PathSet, State, Visit, Walk, Walked,
};

/// What is needed to play frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score<'g> {
    pub(crate) layout: &'g Layout,
    pub(crate) paths: &'g PathSet,
}

/// What comes next when records are played.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Played<'g> {
    /// One execution of a block; its operands are in [`Player::operands`].
    Block(BlockId),
    /// Several executions of these blocks, each with the end of its operands. The operands start as
    /// [`Player::operands`], and change by these strides.
    Run { blocks: &'g [(BlockId, u32)], strides: &'g [u64], iterations: u64 },
    /// Executions of a nest, with the counts and operands that are in [`Player::operands`], if
    /// [`Player::nests`] asks for them.
    Nest { shape: &'g NestShape, cut: bool },
    /// An action that is not an execution.
    Other(Action<'static>),
}

/// The nests that a player plays as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Nests {
    /// Those without operands.
    #[default]
    Bare,
    /// Those whose operands change by constants, too.
    Moving,
    /// All. Their operands mean nothing.
    Counted,
}

/// A place within a range of a frame's records.
#[derive(Debug, Default)]
pub(crate) struct Player {
    records: Range<usize>,
    /// What is known of the function whose index is `known`. [`Player::start`] sets it.
    pub(super) state: State,
    pub(super) known: u32,
    /// The path being executed: its index, and the place in it.
    pub(super) inside: Option<usize>,
    pub(super) walk: Walk,
    /// The stored values of the record being executed.
    values: Vec<u64>,
    pub(super) stored: Stored,
    /// Number of executions that may still come.
    pub(super) left: u64,
    pub(crate) nests: Nests,
    /// Operands of what was played last.
    pub(crate) operands: Vec<u64>,
}

/// Stored values that are still to be used, and the run that was found last.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) next: usize,
    run: u64,
}

impl DecodedFrame {
    /// Whether the path of a record begins its function, so that it goes on with nothing; `None` if
    /// the record stands for no path.
    pub(crate) fn begins(&self, at: usize, score: Score<'_>) -> Option<bool> {
        let table = self.table(*self.records.get(at)?)?;
        let path = (table.symbol as usize).checked_sub(score.layout.blocks.len())?;
        score.paths.get(path).map(|(path, _)| path.path.fresh)
    }
}

/// Few nodes have no block: for each execution of a block, a path may have this many nodes, and
/// [`SLACK`] more.
const NODES: u64 = 16;
const SLACK: u64 = 1 << 20;

/// A nest of fewer executions with operands is played one by one.
const FEW: u64 = 32;

thread_local! {
    /// A player that is not in use, kept for its memory.
    static SPARE: Cell<Option<Box<Player>>> = const { Cell::new(None) };
}

impl Player {
    /// Takes a player for a short time. Give it back with [`Player::give_back`].
    pub(crate) fn lent(blocks: u64, nests: Nests) -> Box<Self> {
        let mut player = SPARE.take().unwrap_or_default();
        player.restart(blocks, nests);
        player
    }

    /// Uses the player for another task, which says that it executes this many blocks, and whose
    /// nests come as one if they are such.
    pub(crate) fn restart(&mut self, blocks: u64, nests: Nests) {
        // Damage cannot make it go on for much longer.
        self.left = blocks.saturating_mul(NODES).saturating_add(SLACK);
        self.stored = Stored::default();
        self.nests = nests;
    }

    /// Keeps the player's memory for the next player of this thread.
    pub(crate) fn give_back(self: Box<Self>) {
        SPARE.set(Some(self));
    }

    /// Goes to one record, with what is known now.
    pub(super) fn only(&mut self, record: usize) {
        self.inside = None;
        self.records = record..record + 1;
    }

    /// Goes to a range of the records of a frame, which must be within [`DecodedFrame::len`].
    pub(crate) fn start(&mut self, frame: &DecodedFrame, records: Range<usize>) {
        self.known = NONE;
        if let Some(known) = frame.known_at(records.start) {
            self.known = known.function;
            self.state.slots.clear();
            self.state.slots.extend_from_slice(known.slots);
            self.state.iterations.clear();
            self.state.iterations.extend_from_slice(known.iterations);
        }
        self.inside = None;
        self.records = records;
    }

    /// Plays on. Returns `None` after the last record of the range.
    #[inline]
    pub(crate) fn next<'g>(
        &mut self,
        score: Score<'g>,
        frame: &DecodedFrame,
    ) -> Result<Option<Played<'g>>> {
        loop {
            if let Some(index) = self.inside {
                if let Some(played) = self.inside(index, score)? {
                    return Ok(Some(played));
                }
                self.inside = None;
            }
            let Some(record) = self.records.next().and_then(|at| frame.records.get(at)) else {
                return Ok(None);
            };
            let record = *record;
            let symbol = frame.table(record).map_or(Table::OTHER, |t| t.symbol);
            if symbol == Table::OTHER {
                let action = frame.others.get(record.row as usize);
                return Ok(action.map(|a| Played::Other(*a)));
            }
            let Some(index) = (symbol as usize).checked_sub(score.layout.blocks.len()) else {
                frame.row(record, &mut self.operands);
                return Ok(Some(Played::Block(BlockId::new(symbol))));
            };
            self.enter(index, frame, record, score)?;
        }
    }

    /// Goes to the start of a path.
    fn enter(
        &mut self,
        index: usize,
        frame: &DecodedFrame,
        record: Record,
        score: Score<'_>,
    ) -> Result<()> {
        let Some((path, f)) = score.paths.get(index) else {
            return Err(malformed(WHAT, "a path that is not in the tables"));
        };
        self.goes_on(path, f)?;
        self.walk.restart();
        frame.row(record, &mut self.values);
        self.stored.next = 0;
        self.inside = Some(index);
        Ok(())
    }

    /// Prepares what is known for a path.
    #[inline]
    pub(super) fn goes_on(&mut self, path: &CompiledPath, f: &CompiledFunction) -> Result<()> {
        if path.path.fresh {
            self.state.begin(f);
            self.known = path.path.function;
        } else if self.known != path.path.function || !self.state.fits(f) {
            return Err(malformed(WHAT, "a path goes on with what is not known"));
        }
        Ok(())
    }

    /// Loads the leaves of a node, whose values begin at the given place. Returns where the next
    /// values begin.
    #[inline]
    fn load(&mut self, node: &CompiledNode, next: usize) -> Result<usize> {
        let end = next + node.leaves.len();
        let values = self.values.get(next..end).ok_or_else(short)?;
        for (leaf, v) in node.leaves.iter().zip(values) {
            self.state.slots[leaf.slot as usize] = *v;
        }
        Ok(end)
    }

    #[inline]
    fn inside<'g>(&mut self, index: usize, score: Score<'g>) -> Result<Option<Played<'g>>> {
        let Some((path, f)) = score.paths.get(index) else {
            return Ok(None);
        };
        loop {
            let mut visit = Reading {
                f,
                values: &self.values,
                stored: &mut self.stored,
                nests: self.nests,
                operands: &mut self.operands,
                short: false,
            };
            let walked = self.walk.next(f, path, &mut self.state, &mut visit);
            if visit.short {
                return Err(short());
            }
            match walked {
                Walked::End => return Ok(None),
                Walked::Run(l) => {
                    let flat = f.loops[l as usize].as_ref().and_then(|l| l.flat.as_ref());
                    if let Some(flat) = flat.filter(|flat| !flat.blocks.is_empty()) {
                        let run = self.stored.run;
                        self.left = self.left.checked_sub(run).ok_or_else(endless)?;
                        return Ok(Some(Played::Run {
                            blocks: &flat.blocks,
                            strides: &flat.strides,
                            iterations: self.stored.run,
                        }));
                    }
                }
                Walked::Nest(l, cut) => {
                    if let Some(shape) = &f.nests[l as usize]
                        && self.stored.run > 0
                    {
                        let run = self.stored.run;
                        self.left = self.left.checked_sub(run).ok_or_else(endless)?;
                        return Ok(Some(Played::Nest { shape, cut }));
                    }
                }
                Walked::Node(n) => {
                    self.left = self.left.checked_sub(1).ok_or_else(endless)?;
                    let node = &f.nodes[n as usize];
                    if !node.leaves.is_empty() {
                        self.stored.next = self.load(node, self.stored.next)?;
                    }
                    if node.block != NO_BLOCK {
                        let (slots, iterations) = (&self.state.slots, &self.state.iterations);
                        self.operands.clear();
                        let values = node.operands.iter().map(|v| v.eval(slots, iterations));
                        self.operands.extend(values);
                        return Ok(Some(Played::Block(BlockId::new(node.block))));
                    }
                }
            }
        }
    }
}

#[cold]
pub(super) fn short() -> crate::Error {
    malformed(WHAT, "a record that does not fit its path")
}

#[cold]
pub(super) fn endless() -> crate::Error {
    malformed(WHAT, "loops that execute more blocks than their task says")
}

/// The place where a walk finds trip counts.
struct Reading<'a> {
    f: &'a CompiledFunction,
    values: &'a [u64],
    stored: &'a mut Stored,
    operands: &'a mut Vec<u64>,
    nests: Nests,
    short: bool,
}

impl Visit for Reading<'_> {
    fn count(&mut self, _: u32, l: &CompiledLoop, state: &State) -> u64 {
        if l.stored {
            let count = self.values.get(self.stored.next).copied();
            self.stored.next += 1;
            self.short |= count.is_none();
            return count.unwrap_or(0);
        }
        let count = l.count.as_ref();
        count.map_or(0, |c| c.eval(&state.slots, &state.iterations))
    }

    fn nest(
        &mut self,
        nest: &NestShape,
        count: u64,
        cut: bool,
        f: &CompiledFunction,
        state: &State,
    ) -> Option<&[u64]> {
        let asked = match self.nests {
            Nests::Bare => !nest.has_operands(),
            Nests::Moving => !nest.only_counts(),
            Nests::Counted => true,
        };
        if !asked {
            return None;
        }
        let all = nest.count(count, cut, &f.loops, state, self.operands)?;
        if self.nests == Nests::Counted {
            nest.without_operands(self.operands);
        } else if nest.has_operands() && (all < FEW || !nest.start(&f.nodes, state, self.operands))
        {
            return None;
        }
        self.stored.run = all;
        Some(self.operands)
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, state: &State) -> bool {
        let Some(flat) = &l.flat else { return false };
        let stay = flat.start(&self.f.nodes, state, iterations, self.operands);
        self.short |= !stay && iterations > MOST_WRAPPING;
        self.stored.run = iterations;
        stay
    }
}
