//! Executes paths whose collapsed loops are not nested. Their iterations need no walk. If each
//! address is a sum of what is known before the loop and of what the iteration stores, all
//! iterations are executed at once.

use contech_program::path::{Flat, MIN_RUN, MOST_WRAPPING, Term};

use super::{Emitter, Inside};
use crate::batch::{Batch, FULL};
use crate::error::Result;
use crate::frame::decode::{DecodedFrame, Iterated, Record, Table};
use crate::frame::emission::Emission;
use crate::frame::plan::NONE;
use crate::frame::play::{Played, endless, short};
use crate::frame::template::{Iteration, Moving};
use crate::path::{CompiledFunction, CompiledLoop, NO_BLOCK, Step};
use crate::space::{PREFIX, prefix};

/// A place in the execution of a record.
#[derive(Debug)]
pub(super) struct Place {
    path: usize,
    record: Record,
    step: usize,
    /// The next field; `iterated` is the next loop whose iterations store values.
    field: usize,
    iterated: usize,
    within: Option<Within>,
}

/// A place in a loop.
#[derive(Debug)]
struct Within {
    index: usize,
    cut: bool,
    base: u64,
    count: u64,
    done: u64,
    /// What the iterations store, as a number among such loops.
    stored: Option<usize>,
}

/// The function being executed and its index, and the record.
#[derive(Clone, Copy)]
struct Here<'g, 'f> {
    e: Emission<'g>,
    at: usize,
    function: &'g CompiledFunction,
    frame: &'f DecodedFrame,
    table: &'f Table,
}

impl<'f> Here<'_, 'f> {
    #[inline]
    fn field(self, place: &mut Place) -> Option<u64> {
        place.field += 1;
        let row = place.record.row as usize;
        self.table.value(place.field - 1, row, &self.frame.columns)
    }

    fn iterated(self, loops: Option<usize>, place: &Place) -> Result<Option<Iterated<'f>>> {
        let row = place.record.row as usize;
        let of = |at| self.table.iterated(at, row, &self.frame.columns);
        loops.map(|at| of(at).ok_or_else(short)).transpose()
    }
}

impl Emitter {
    /// Goes to the start of a record of such a path.
    pub(super) fn enter(&mut self, e: Emission<'_>, symbol: u32, record: Record) -> Result<Place> {
        let path = (symbol as usize).wrapping_sub(e.score.layout.blocks.len());
        if let Some((path, function)) = e.score.paths.get(path) {
            self.player.goes_on(path, function)?;
        }
        Ok(Place { path, record, step: 0, field: 0, iterated: 0, within: None })
    }

    /// Goes on with a record, until its end or until the batch is full.
    pub(super) fn iterated<'g>(
        &mut self,
        e: Emission<'g>,
        frame: &DecodedFrame,
        mut place: Place,
        batch: &mut Batch<'g>,
    ) -> Result<()> {
        let (Some((path, function)), Some(table)) =
            (e.score.paths.get(place.path), frame.table(place.record))
        else {
            return Ok(());
        };
        let here = Here { e, at: path.path.function as usize, function, frame, table };
        while !batch.is_full() {
            if let Some(mut within) = place.within.take() {
                if !self.iterations(here, &mut within, &mut place, batch)? {
                    place.within = Some(within);
                }
                continue;
            }
            let Some(step) = path.path.steps.get(place.step) else {
                return Ok(());
            };
            place.step += 1;
            match *step {
                Step::Node(n) => self.node(here, n, || here.field(&mut place), batch)?,
                Step::Enter(_) | Step::Next(_) => self.player.state.step(*step),
                Step::Loop { index, cut, resumed } => {
                    let base = match resumed {
                        true => self.player.state.iterations[index as usize].wrapping_add(1),
                        false => 0,
                    };
                    self.begin_loop(here, (index as usize, cut, base), &mut place, batch)?;
                }
            }
        }
        self.inside = Inside::Loops(place);
        Ok(())
    }

    fn begin_loop<'g>(
        &mut self,
        here: Here<'g, '_>,
        (index, cut, base): (usize, bool, u64),
        place: &mut Place,
        batch: &mut Batch<'g>,
    ) -> Result<()> {
        let Some(l) = &here.function.loops[index] else {
            return Ok(());
        };
        let state = &self.player.state;
        let count = match &l.count {
            _ if l.stored => here.field(place).ok_or_else(short)?,
            Some(count) => count.eval(&state.slots, &state.iterations),
            None => 0,
        };
        self.player.state.iterations[index] = base;
        let mut within = Within { index, cut, base, count, done: 0, stored: None };
        let whole = l.whole(count, cut);
        if let Some(flat) = l.flat.as_ref().filter(|_| whole >= MIN_RUN)
            && self.affine(here, flat, whole, batch)?
        {
            self.player.state.iterations[index] = base.wrapping_add(count);
            for n in &l.body[..l.tail(cut)] {
                self.node(here, *n, || None, batch)?;
            }
            within.leave(&mut self.player.state.iterations);
            return Ok(());
        }
        if l.stored && !l.leafy.is_empty() {
            within.stored = Some(place.iterated);
            place.iterated += 1;
        }
        if within.together(here).is_some() {
            let nodes = count.saturating_mul(l.body.len() as u64);
            let left = self.player.left.checked_sub(nodes);
            self.player.left = left.ok_or_else(endless)?;
            let stored = here.iterated(within.stored, place)?;
            if stored.is_some_and(|s| (s.len as u64) < count) {
                return Err(short());
            }
        }
        place.within = Some(within);
        Ok(())
    }

    /// Executes iterations until the loop is over or the batch is full. Returns whether the loop is
    /// over.
    fn iterations(
        &mut self,
        here: Here<'_, '_>,
        within: &mut Within,
        place: &mut Place,
        batch: &mut Batch<'_>,
    ) -> Result<bool> {
        let Some(l) = &here.function.loops[within.index] else {
            return Ok(true);
        };
        let stored = here.iterated(within.stored, place)?;
        if let Some(iteration) = within.together(here) {
            self.together(here, iteration, within, stored, batch);
            if within.done < within.count {
                return Ok(false);
            }
            self.leaves(here.function, l, stored, within.count)?;
        }
        while within.done < within.count {
            if batch.is_full() {
                return Ok(false);
            }
            self.player.state.iterations[within.index] = within.base.wrapping_add(within.done);
            let mut next = stored.map(|s| s.iteration(within.done));
            for n in &l.body {
                self.node(here, *n, || next.as_mut()?.next(), batch)?;
            }
            within.done += 1;
        }
        if !within.cut {
            self.player.state.iterations[within.index] = within.base.wrapping_add(within.count);
            let among = l.leafy_last == l.leafy.len();
            let mut next = stored.filter(|_| among).map(|s| s.iteration(within.count));
            for n in &l.body[..l.last] {
                let leaf = || match &mut next {
                    Some(next) => next.next(),
                    None => here.field(place),
                };
                self.node(here, *n, leaf, batch)?;
            }
        }
        within.leave(&mut self.player.state.iterations);
        Ok(true)
    }

    /// Executes whole iterations of a loop, as many as there is room for.
    fn together(
        &mut self,
        here: Here<'_, '_>,
        iteration: &Iteration,
        within: &mut Within,
        stored: Option<Iterated<'_>>,
        batch: &mut Batch<'_>,
    ) {
        let left = within.count - within.done;
        let width = match here.e.counting {
            true => 0,
            false => iteration.sites.len(),
        };
        // Without accesses, there is always room.
        let room = FULL.saturating_sub(batch.end).checked_div(width);
        let room = room.map_or(u64::MAX, |n| n.max(1) as u64).min(left);
        let state = &self.player.state;
        let fixed = |m: &Moving| m.fixed.eval(&state.slots, &state.iterations);
        if iteration.script != NONE {
            batch.execute(iteration.script, room);
        }
        if width > 0 {
            let n = usize::try_from(room).unwrap_or(usize::MAX);
            let first = usize::try_from(within.done).unwrap_or(usize::MAX);
            let front = u64::from(here.e.space) << PREFIX;
            let to = batch.append(&iteration.sites, n);
            for (k, moving) in iteration.moving.iter().enumerate() {
                let moved = moving.stride.wrapping_mul(within.done);
                let to = to[k..].iter_mut().step_by(width);
                moving.write(fixed(moving).wrapping_add(moved), (stored, first), front, to);
            }
        }
        within.done += room;
    }

    /// Stores what the last of the iterations leaves.
    fn leaves(
        &mut self,
        function: &CompiledFunction,
        l: &CompiledLoop,
        stored: Option<Iterated<'_>>,
        count: u64,
    ) -> Result<()> {
        let mut last = stored.map(|s| s.iteration(count - 1));
        let nodes = l.leafy.iter().map(|n| &function.nodes[*n as usize]);
        for leaf in nodes.flat_map(|node| &node.leaves) {
            let value = last.as_mut().and_then(Iterator::next);
            self.player.state.slots[leaf.slot as usize] = value.ok_or_else(short)?;
        }
        Ok(())
    }

    /// Executes a node, whose leaves come one after the other.
    #[inline]
    fn node(
        &mut self,
        here: Here<'_, '_>,
        n: u32,
        mut leaf: impl FnMut() -> Option<u64>,
        batch: &mut Batch<'_>,
    ) -> Result<()> {
        self.player.left = self.player.left.checked_sub(1).ok_or_else(endless)?;
        let node = &here.function.nodes[n as usize];
        for own in &node.leaves {
            self.player.state.slots[own.slot as usize] = leaf().ok_or_else(short)?;
        }
        if node.block == NO_BLOCK {
            return Ok(());
        }
        let Some(Some(template)) = here.e.templates.nodes[here.at].get(n as usize) else {
            return Ok(());
        };
        batch.execute(node.block, 1);
        if here.e.counting {
            return Ok(());
        }
        let front = u64::from(here.e.space) << PREFIX;
        let state = &self.player.state;
        let to = batch.append(&template.sites, 1);
        for (to, value) in to.iter_mut().zip(&template.values) {
            *to = value.eval(&state.slots, &state.iterations) | front;
        }
        Ok(())
    }

    /// Appends all iterations of a flat loop as a run. Returns false if an operand would leave its
    /// bits on the way.
    fn affine<'g>(
        &mut self,
        here: Here<'g, '_>,
        flat: &'g Flat,
        iterations: u64,
        batch: &mut Batch<'g>,
    ) -> Result<bool> {
        let player = &mut self.player;
        let nodes = &here.function.nodes;
        if !flat.start(nodes, &player.state, iterations, &mut player.operands) {
            return match iterations > MOST_WRAPPING {
                true => Err(short()),
                false => Ok(false),
            };
        }
        if flat.blocks.is_empty() {
            return Ok(true);
        }
        player.left = player.left.checked_sub(iterations).ok_or_else(endless)?;
        let mut played = Played::Run { blocks: &flat.blocks, strides: &flat.strides, iterations };
        let e = here.e;
        if e.space > 0 {
            prefix(e.info, &mut played, &mut player.operands, e.space);
        }
        self.played(e, played, batch);
        Ok(true)
    }
}

impl Within {
    /// How whole iterations are executed together, if they are.
    fn together<'g>(&self, here: Here<'g, '_>) -> Option<&'g Iteration> {
        let iteration = here.e.templates.iterations[here.at][self.index].as_ref();
        iteration.filter(|_| self.count > 1)
    }

    /// The number of the last iteration.
    fn leave(&self, iterations: &mut [u64]) {
        let ended = self.base.wrapping_add(self.count);
        iterations[self.index] = ended.wrapping_sub(self.cut.into());
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
