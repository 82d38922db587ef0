//! Executes paths that are walked. If each address of a loop is a sum of what is known before the
//! loop and of what the iteration stores, all iterations are executed at once.

use std::ops::ControlFlow;

use contech_program::path::{Flat, Term};

use super::kernel::write;
use super::{Emitter, push};
use crate::batch::{Batch, FULL};
use crate::error::{Error, Result};
use crate::frame::decode::{DecodedFrame, Iterated};
use crate::frame::emission::Emission;
use crate::frame::plan::NONE;
use crate::frame::play::{Nests, Played, nest, spend, start};
use crate::frame::stored::{Values, or_stop};
use crate::frame::template::{Iteration, Moving, Node};
use crate::id::BlockId;
use crate::path::{CompiledFunction, CompiledLoop, Entered, NO_BLOCK, NestShape, State, Visit};
use crate::run::advance;
use crate::space::PREFIX;

/// Runs of at most this many iterations, of blocks with at most `FEW` operands, are given out
/// access by access.
const SHORT: u64 = 16;
const FEW: usize = 16;

/// Whole iterations of a loop that are executed at once, as far as there is room in a batch. The
/// player's operands are what is known before the loop of each of their addresses.
#[derive(Debug)]
pub(super) struct Together {
    /// The number of the loop.
    l: usize,
    done: u64,
    whole: u64,
}

/// Emits what is executed, until the batch is full.
struct Emitting<'v, 'g> {
    e: Emission<'g>,
    f: &'g CompiledFunction,
    nodes: &'g [Option<Node>],
    loops: &'g [Option<Iteration>],
    values: Values<'v>,
    nests: Nests,
    left: &'v mut u64,
    operands: &'v mut Vec<u64>,
    batch: &'v mut Batch<'g>,
    /// What is left where the batch is full.
    together: Option<Together>,
}

/// Why a walk stops: the batch is full, or there is damage.
struct Stop(Result<()>);

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self(Err(error))
    }
}

impl Emitter {
    /// Goes on with a record of a path, until its end or until the batch has no more room. Returns
    /// whether there is more of the path.
    pub(super) fn path<'g>(
        &mut self,
        e: Emission<'g>,
        frame: &DecodedFrame,
        together: Option<Together>,
        batch: &mut Batch<'g>,
    ) -> Result<bool> {
        let player = &mut self.player;
        let Some((path, f)) = player.inside.and_then(|path| e.score.paths.get(path)) else {
            return Ok(false);
        };
        let at = path.path.function as usize;
        let mut emitting = Emitting {
            e,
            f,
            nodes: &e.templates.nodes[at],
            loops: &e.templates.iterations[at],
            values: Values::new(frame, player.record, player.place)?,
            nests: player.nests,
            left: &mut player.left,
            operands: &mut player.operands,
            batch,
            together: None,
        };
        let mut went = match together {
            Some(together) => emitting.together(together),
            None => ControlFlow::Continue(()),
        };
        if went.is_continue() {
            went = player.walk.go(f, path, &mut player.state, &mut emitting);
        }
        player.place = emitting.values.at;
        match went {
            ControlFlow::Continue(()) => player.inside = None,
            ControlFlow::Break(Stop(stopped)) => {
                self.together = emitting.together;
                stopped?;
            }
        }
        Ok(player.inside.is_some())
    }
}

impl<'g> Emitting<'_, 'g> {
    /// Appends what is played, with its operands.
    fn push(&mut self, mut played: Played<'g>) {
        push(self.e, &mut played, self.operands, self.batch);
    }

    /// Appends the accesses of a run whose operands are known, if it is short and its blocks have
    /// few operands and accesses of known sizes. Returns false, and appends nothing, if not.
    fn short(&mut self, flat: &Flat, iterations: u64) -> bool {
        let templates = &self.e.templates.straight;
        let straight = |block: BlockId| templates.get(block.index()).and_then(Option::as_ref);
        if iterations > SHORT
            || self.e.counting
            || flat.strides.len() > FEW
            || !flat.blocks.iter().all(|block| straight(block.0).is_some())
        {
            return false;
        }
        let front = u64::from(self.e.space) << PREFIX;
        for _ in 0..iterations {
            let mut from = 0;
            for &(block, end) in &flat.blocks {
                let own = from..end as usize;
                from = own.end;
                if let Some(t) = straight(block)
                    && let Some(operands) = self.operands.get(own)
                {
                    self.batch.execute(block.get(), 1);
                    write(&t.addresses, operands, self.batch.append(&t.sites, 1), front);
                }
            }
            advance(self.operands, &flat.strides);
        }
        true
    }

    /// Goes on unless the batch is full.
    #[inline]
    fn room(&self) -> ControlFlow<Stop> {
        match self.batch.is_full() {
            true => ControlFlow::Break(Stop(Ok(()))),
            false => ControlFlow::Continue(()),
        }
    }

    /// Executes iterations of a loop, as many as there is room for.
    fn together(&mut self, mut all: Together) -> ControlFlow<Stop> {
        let Some(Some(iteration)) = self.loops.get(all.l) else {
            return ControlFlow::Continue(());
        };
        let width = match self.e.counting {
            true => 0,
            false => iteration.sites.len(),
        };
        // Without accesses, there is always room.
        let room = FULL.saturating_sub(self.batch.end).checked_div(width);
        let room = room.map_or(u64::MAX, |n| n.max(1) as u64).min(all.whole - all.done);
        if iteration.script != NONE {
            self.batch.execute(iteration.script, room);
        }
        if width > 0 {
            let n = usize::try_from(room).unwrap_or(usize::MAX);
            let first = usize::try_from(all.done).unwrap_or(usize::MAX);
            let front = u64::from(self.e.space) << PREFIX;
            let to = self.batch.append(&iteration.sites, n);
            for ((k, moving), known) in iteration.moving.iter().enumerate().zip(&*self.operands) {
                let start = known.wrapping_add(moving.stride.wrapping_mul(all.done));
                let to = to[k..].iter_mut().step_by(width);
                moving.write(start, (self.values.iterated, first), front, to);
            }
        }
        all.done += room;
        if all.done < all.whole {
            self.together = Some(all);
            return ControlFlow::Break(Stop(Ok(())));
        }
        self.room()
    }
}

impl<'g> Visit<'g> for Emitting<'_, 'g> {
    type Stop = Stop;

    #[inline]
    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<Stop> {
        or_stop(spend(self.left, 1))?;
        let node = &self.f.nodes[n as usize];
        or_stop(self.values.leaves(node, state))?;
        if node.block == NO_BLOCK {
            return ControlFlow::Continue(());
        }
        let Some(template) = &self.nodes[n as usize] else {
            self.operands.clear();
            let values = node.operands.iter().map(|v| v.eval(&state.slots, &state.iterations));
            self.operands.extend(values);
            self.push(Played::Block(BlockId::new(node.block)));
            return self.room();
        };
        self.batch.execute(node.block, 1);
        if !self.e.counting {
            let front = u64::from(self.e.space) << PREFIX;
            let to = self.batch.append(&template.sites, 1);
            for (to, value) in to.iter_mut().zip(&template.values) {
                *to = value.eval(&state.slots, &state.iterations) | front;
            }
        }
        self.room()
    }

    #[inline]
    fn count(&mut self, l: &CompiledLoop, state: &State) -> ControlFlow<Stop, u64> {
        or_stop(self.values.trips(l, state))
    }

    fn run(&mut self, l: Entered<'g>, state: &mut State) -> ControlFlow<Stop, bool> {
        if let Some(flat) = or_stop(start(l, self.f, state, self.operands))? {
            if flat.blocks.is_empty() {
                return ControlFlow::Continue(true);
            }
            or_stop(spend(self.left, l.whole))?;
            if !self.short(flat, l.whole) {
                self.push(Played::run(flat, l.whole));
            }
            return self.room().map_continue(|()| true);
        }
        let Some(iteration) = self.loops[l.index].as_ref().filter(|_| l.whole > 1) else {
            return ControlFlow::Continue(false);
        };
        or_stop(spend(self.left, l.whole.saturating_mul(l.own.body.len() as u64)))?;
        let fixed = iteration.moving.iter().map(|moving| &moving.fixed);
        self.operands.clear();
        self.operands.extend(fixed.map(|fixed| fixed.eval(&state.slots, &state.iterations)));
        or_stop(self.values.iterations(l, self.f, state))?;
        let all = Together { l: l.index, done: 0, whole: l.whole };
        self.together(all).map_continue(|()| true)
    }

    fn nest(
        &mut self,
        shape: &'g NestShape,
        l: Entered<'g>,
        state: &mut State,
    ) -> ControlFlow<Stop, bool> {
        // Loops without inner ones are runs, or executed at once.
        if !l.own.nested && (l.own.flat.is_some() || self.loops[l.index].is_some()) {
            return ControlFlow::Continue(false);
        }
        let Some(all) = nest(self.nests, shape, l, self.f, state, self.operands) else {
            return ControlFlow::Continue(false);
        };
        if all > 0 {
            or_stop(spend(self.left, all))?;
            self.push(Played::Nest { shape, cut: l.cut });
        }
        self.room().map_continue(|()| true)
    }
}

impl Moving {
    /// Writes the addresses of iterations from a given one on; `start` is what is known of the
    /// first.
    #[inline]
    fn write<'t>(
        &self,
        start: u64,
        (stored, first): (Option<Iterated<'_>>, usize),
        front: u64,
        to: impl Iterator<Item = &'t mut u64>,
    ) {
        let column = |k: usize| {
            let column = stored.map_or(&[][..], |s| s.column(k));
            column.get(first..).unwrap_or(&[])
        };
        let mut fixed = start;
        let mut next = || {
            let now = fixed;
            fixed = fixed.wrapping_add(self.stride);
            now
        };
        let mask = self.mask;
        match *self.terms {
            [] => to.for_each(|to| *to = (next() & mask) | front),
            [(k, Term { shift: 0, add, factor, .. })] => {
                for (to, v) in to.zip(column(k)) {
                    let moved = v.wrapping_add(add).wrapping_mul(factor);
                    *to = (next().wrapping_add(moved) & mask) | front;
                }
            }
            [(k, term)] => {
                for (to, v) in to.zip(column(k)) {
                    *to = (next().wrapping_add(term.eval(*v)) & mask) | front;
                }
            }
            ref terms => {
                for (i, to) in to.enumerate() {
                    let value =
                        |(k, term): &(usize, Term)| column(*k).get(i).map_or(0, |v| term.eval(*v));
                    let sum = terms.iter().map(value).fold(next(), u64::wrapping_add);
                    *to = (sum & mask) | front;
                }
            }
        }
    }
}
