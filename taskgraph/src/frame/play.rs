//! Plays the records of a frame: executions of blocks are computed from paths and their stored
//! values.

use std::ops::{ControlFlow, Range};

use contech_program::path::{Flat, MIN_RUN, Step};

use crate::action::Action;
use crate::error::{Error, Result, malformed};
use crate::frame::Layout;
use crate::frame::WHAT;
use crate::frame::decode::{DecodedFrame, Record, Table};
use crate::frame::plan::NONE;
use crate::frame::stored::{Place, Values, or_stop, short};
use crate::id::BlockId;
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledPath, Entered, MOST_WRAPPING, NO_BLOCK, NestShape,
    PathSet, State, Visit, Walk,
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

impl<'g> Played<'g> {
    pub(super) fn run(flat: &'g Flat, iterations: u64) -> Self {
        Self::Run { blocks: &flat.blocks, strides: &flat.strides, iterations }
    }
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
    /// The record being executed, and the place among its stored values.
    pub(super) record: Record,
    pub(super) place: Place,
    /// Number of executions that may still come.
    pub(super) left: u64,
    pub(crate) nests: Nests,
    /// Operands of what was played last.
    pub(crate) operands: Vec<u64>,
}

impl DecodedFrame {
    /// Whether the path of a record begins its function, so that it goes on with nothing; `None` if
    /// the record stands for no path.
    pub(crate) fn begins(&self, at: usize, score: Score<'_>) -> Option<bool> {
        let table = self.table(*self.records.get(at)?)?;
        let path = (table.symbol as usize).checked_sub(score.layout.blocks.len())?;
        score.paths.get(path).map(|(path, _)| path.path.fresh)
    }

    /// The block that a record ends with, as far as that is known without playing it.
    pub(crate) fn ends_with(&self, at: usize, score: Score<'_>) -> Ends {
        let record = self.records.get(at);
        let table = record.and_then(|record| self.table(*record));
        let Some(table) = table.filter(|table| table.symbol != Table::OTHER) else {
            return Ends::Before;
        };
        let Some(path) = (table.symbol as usize).checked_sub(score.layout.blocks.len()) else {
            return Ends::With(BlockId::new(table.symbol));
        };
        let Some((path, f)) = score.paths.get(path) else {
            return Ends::Unknown;
        };
        for step in path.path.steps.iter().rev() {
            match *step {
                Step::Loop { index, cut, .. } => return loop_ends_with(f, index, cut),
                Step::Node(n) => match f.nodes.get(n as usize).map(|node| node.block) {
                    None => return Ends::Unknown,
                    Some(NO_BLOCK) => {}
                    Some(block) => return Ends::With(BlockId::new(block)),
                },
                Step::Enter(_) | Step::Next(_) => {}
            }
        }
        Ends::Before
    }
}

/// The block that all iterations of a collapsed loop end with. A loop that is cut has at least one.
fn loop_ends_with(f: &CompiledFunction, index: u32, cut: bool) -> Ends {
    let Some(Some(own)) = f.loops.get(index as usize) else {
        return Ends::Unknown;
    };
    let last = if cut { own.body.len() } else { own.last };
    let Some((&node, before)) = own.body.get(..last).and_then(<[u32]>::split_last) else {
        return Ends::Unknown;
    };
    match f.nodes.get(node as usize) {
        Some(node) => match node.collapsed.filter(|_| !before.is_empty()) {
            Some(inner) => loop_ends_with(f, inner, false),
            None if node.block == NO_BLOCK => Ends::Unknown,
            None => Ends::With(BlockId::new(node.block)),
        },
        None => Ends::Unknown,
    }
}

/// What the executions of a record end with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ends {
    With(BlockId),
    /// The record executes no block.
    Before,
    /// A loop tells.
    Unknown,
}

/// Few nodes have no block: for each execution of a block, a path may have this many nodes, and
/// [`SLACK`] more.
const NODES: u64 = 16;
const SLACK: u64 = 1 << 20;

/// A nest of fewer executions with operands is played one by one.
const FEW: u64 = 32;

impl Player {
    /// A player of a task that says that it executes this many blocks.
    pub(crate) fn new(blocks: u64, nests: Nests) -> Self {
        let mut player = Self::default();
        player.restart(blocks, nests);
        player
    }

    /// Uses the player for another task, which says that it executes this many blocks, and whose
    /// nests come as one if they are such.
    pub(crate) fn restart(&mut self, blocks: u64, nests: Nests) {
        // Damage cannot make it go on for much longer.
        self.left = blocks.saturating_mul(NODES).saturating_add(SLACK);
        self.nests = nests;
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
                if let Some(played) = self.inside(index, frame, score)? {
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
            self.enter(index, record, score)?;
        }
    }

    /// Goes to the start of a path.
    pub(super) fn enter(&mut self, path: usize, record: Record, score: Score<'_>) -> Result<()> {
        let (own, f) = score
            .paths
            .get(path)
            .ok_or_else(|| malformed(WHAT, "a path that is not in the tables"))?;
        self.goes_on(own, f)?;
        self.walk.restart();
        (self.record, self.place) = (record, Place::default());
        self.inside = Some(path);
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

    #[inline]
    fn inside<'g>(
        &mut self,
        index: usize,
        frame: &DecodedFrame,
        score: Score<'g>,
    ) -> Result<Option<Played<'g>>> {
        let Some((path, f)) = score.paths.get(index) else {
            return Ok(None);
        };
        let mut playing = Playing {
            f,
            values: Values::new(frame, self.record, self.place)?,
            nests: self.nests,
            left: &mut self.left,
            operands: &mut self.operands,
        };
        let went = self.walk.go(f, path, &mut self.state, &mut playing);
        self.place = playing.values.at;
        went.break_value().map(|Stop(played)| played).transpose()
    }
}

#[cold]
pub(super) fn endless() -> crate::Error {
    malformed(WHAT, "loops that execute more blocks than their task says")
}

/// Takes so many executions from those that may still come.
#[inline]
pub(super) fn spend(left: &mut u64, executions: u64) -> Result<()> {
    *left = left.checked_sub(executions).ok_or_else(endless)?;
    Ok(())
}

/// Stops at what is played.
struct Playing<'p, 'g> {
    f: &'g CompiledFunction,
    values: Values<'p>,
    nests: Nests,
    left: &'p mut u64,
    operands: &'p mut Vec<u64>,
}

/// What a walk is stopped with.
struct Stop<'g>(Result<Played<'g>>);

impl From<Error> for Stop<'_> {
    fn from(error: Error) -> Self {
        Self(Err(error))
    }
}

/// Starts a loop whose operands change by constants; see [`Flat::start`]. `None` if it is none, or
/// if an operand would leave its bits on the way.
pub(super) fn start<'g>(
    l: Entered<'g>,
    f: &CompiledFunction,
    state: &State,
    operands: &mut Vec<u64>,
) -> Result<Option<&'g Flat>> {
    match l.own.flat.as_ref().filter(|_| l.whole >= MIN_RUN) {
        Some(flat) if flat.start(&f.nodes, state, l.whole, operands) => Ok(Some(flat)),
        Some(_) if l.whole > MOST_WRAPPING => Err(short()),
        _ => Ok(None),
    }
}

/// Takes a nest as one, if it is one of these. Its counts and operands are then in `operands`.
/// Returns the number of its executions.
pub(super) fn nest(
    nests: Nests,
    shape: &NestShape,
    outermost: Entered<'_>,
    f: &CompiledFunction,
    state: &mut State,
    operands: &mut Vec<u64>,
) -> Option<u64> {
    let asked = match nests {
        Nests::Bare => !shape.has_operands(),
        Nests::Moving => !shape.only_counts(),
        Nests::Counted => true,
    };
    let Entered { count, cut, .. } = outermost;
    let counted = || shape.count(count, cut, &f.loops, state, operands);
    let all = asked.then(counted)??;
    if nests == Nests::Counted {
        shape.without_operands(operands);
    } else if shape.has_operands() && (all < FEW || !shape.start(&f.nodes, state, operands)) {
        return None;
    }
    shape.leave(operands, cut, state);
    Some(all)
}

impl<'g> Visit<'g> for Playing<'_, 'g> {
    type Stop = Stop<'g>;

    #[inline]
    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<Stop<'g>> {
        or_stop(spend(self.left, 1))?;
        let node = &self.f.nodes[n as usize];
        or_stop(self.values.leaves(node, state))?;
        if node.block == NO_BLOCK {
            return ControlFlow::Continue(());
        }
        self.operands.clear();
        if self.nests != Nests::Counted {
            let values = node.operands.iter().map(|v| v.eval(&state.slots, &state.iterations));
            self.operands.extend(values);
        }
        ControlFlow::Break(Stop(Ok(Played::Block(BlockId::new(node.block)))))
    }

    fn count(&mut self, l: &CompiledLoop, state: &State) -> ControlFlow<Stop<'g>, u64> {
        or_stop(self.values.trips(l, state))
    }

    fn run(&mut self, l: Entered<'g>, state: &mut State) -> ControlFlow<Stop<'g>, bool> {
        let Some(flat) = or_stop(start(l, self.f, state, self.operands))? else {
            return ControlFlow::Continue(false);
        };
        if flat.blocks.is_empty() {
            return ControlFlow::Continue(true);
        }
        or_stop(spend(self.left, l.whole))?;
        ControlFlow::Break(Stop(Ok(Played::run(flat, l.whole))))
    }

    fn nest(
        &mut self,
        shape: &'g NestShape,
        outermost: Entered<'g>,
        state: &mut State,
    ) -> ControlFlow<Stop<'g>, bool> {
        let Some(all) = nest(self.nests, shape, outermost, self.f, state, self.operands) else {
            return ControlFlow::Continue(false);
        };
        if all == 0 {
            return ControlFlow::Continue(true);
        }
        or_stop(spend(self.left, all))?;
        ControlFlow::Break(Stop(Ok(Played::Nest { shape, cut: outermost.cut })))
    }
}
