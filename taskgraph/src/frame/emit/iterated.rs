//! Executes paths whose collapsed loops are not nested. Their iterations need no walk. If each address is a sum of
//! what is known before the loop and of what the iteration stores, all iterations are executed at once.

use contech_program::path::{Flat, MIN_RUN, Term};

use super::{Emission, Emitted, Emitter, FULL, SHORT};
use crate::compact::Compact;
use crate::error::{Result, malformed};
use crate::frame::decode::{DecodedFrame, Iterated, Record, Table, WHAT};
use crate::frame::play::{MOST_WRAPPING, Played, endless, short};
use crate::frame::template::{Iteration, Moving};
use crate::path::{CompiledFunction, CompiledLoop, Step};
use crate::space::{PREFIX, prefix};

/// The part of a record's stored values that comes next.
struct Values<'f> {
    frame: &'f DecodedFrame,
    table: &'f Table,
    row: usize,
    /// The next field; `iterated` is the next loop whose iterations store values.
    field: usize,
    iterated: usize,
}

impl<'f> Values<'f> {
    #[inline]
    fn field(&mut self) -> Option<u64> {
        let rows = self.row..self.row + 1;
        let field = self.table.field(self.field, rows, &self.frame.columns);
        self.field += 1;
        field.first().copied()
    }

    fn iterated(&mut self) -> Option<Iterated<'f>> {
        let at = self.iterated;
        self.iterated += 1;
        self.table.iterated(at, self.row, &self.frame.columns)
    }
}

impl Emitter {
    /// Executes a record of a path whose collapsed loops are not nested.
    pub(super) fn iterated(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        record: Record,
        path: usize,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        let (Some((path, function)), Some(table)) = (e.score.paths.get(path), frame.table(record))
        else {
            return Ok(());
        };
        let at = path.path.function;
        let player = &mut self.player;
        if path.path.fresh {
            player.state.begin(function);
            player.known = Some(at);
        } else if player.known != Some(at) || !player.state.fits(function) {
            return Err(malformed(WHAT, "a path goes on with what is not known"));
        }
        let mut values = Values {
            frame,
            table,
            row: record.row as usize,
            field: 0,
            iterated: 0,
        };
        for step in &path.path.steps {
            let iterations = &mut self.player.state.iterations;
            match *step {
                Step::Node(n) => self.node(e, function, (at, n), || values.field())?,
                Step::Enter(l) => iterations[l as usize] = 0,
                Step::Next(l) => iterations[l as usize] = iterations[l as usize].wrapping_add(1),
                Step::Loop {
                    index,
                    cut,
                    resumed,
                } => self.executed(e, function, (at, index, cut, resumed), &mut values, f)?,
            }
            self.flush_full(e, frame, f);
        }
        Ok(())
    }

    fn executed(
        &mut self,
        e: Emission<'_>,
        function: &CompiledFunction,
        (at, index, cut, resumed): (u32, u32, bool, bool),
        values: &mut Values<'_>,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        let i = index as usize;
        let Some(l) = &function.loops[i] else {
            return Ok(());
        };
        let base = match resumed {
            true => self.player.state.iterations[i].wrapping_add(1),
            false => 0,
        };
        let count = self.count(l, values)?;
        self.player.state.iterations[i] = base;
        let whole = if cut { count } else { count.saturating_add(1) };
        let flat = l.flat.as_ref().filter(|_| whole >= MIN_RUN);
        let run = match flat {
            Some(flat) => self.affine(e, values.frame, (function, flat), whole, f)?,
            None => false,
        };
        if !run {
            let stored = match l.leafy.is_empty() || !l.stored {
                true => None,
                false => Some(values.iterated().ok_or_else(short)?),
            };
            let iteration = e.templates.iterations[at as usize][i].as_ref();
            match iteration.filter(|_| count > 1) {
                Some(iteration) => {
                    self.together(e, (function, l), iteration, count, stored, values.frame, f)?;
                }
                None => {
                    for done in 0..count {
                        self.player.state.iterations[i] = base.wrapping_add(done);
                        let mut next = stored.map(|s| s.iteration(done));
                        for n in &l.body {
                            self.node(e, function, (at, *n), || next.as_mut()?.next())?;
                        }
                        self.flush_full(e, values.frame, f);
                    }
                }
            }
            if !cut {
                self.player.state.iterations[i] = base.wrapping_add(count);
                let among = l.leafy_last == l.leafy.len();
                let mut next = stored.filter(|_| among).map(|s| s.iteration(count));
                for n in &l.body[..l.last] {
                    self.node(e, function, (at, *n), || match &mut next {
                        Some(next) => next.next(),
                        None => values.field(),
                    })?;
                }
            }
        }
        let ended = base.wrapping_add(count);
        self.player.state.iterations[i] = if cut { ended.wrapping_sub(1) } else { ended };
        Ok(())
    }

    /// Executes the whole iterations of a loop, many of them at a time.
    #[allow(clippy::too_many_arguments, reason = "one call")]
    fn together(
        &mut self,
        e: Emission<'_>,
        (function, l): (&CompiledFunction, &CompiledLoop),
        iteration: &Iteration,
        count: u64,
        stored: Option<Iterated<'_>>,
        frame: &DecodedFrame,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        let player = &mut self.player;
        let nodes = count.saturating_mul(l.body.len() as u64);
        player.left = player.left.checked_sub(nodes).ok_or_else(endless)?;
        if stored.is_some_and(|s| (s.len as u64) < count) {
            return Err(short());
        }
        let width = iteration.sites.len();
        // Without accesses, all that counts is what is known after the loop.
        let tile = FULL
            .checked_div(width)
            .map_or(u64::MAX, |n| n.max(1) as u64);
        let front = u64::from(e.space) << PREFIX;
        let state = &player.state;
        let mut fixed = std::mem::take(&mut self.row);
        fixed.clear();
        let known = iteration.moving.iter();
        fixed.extend(known.map(|m| m.fixed.eval(&state.slots, &state.iterations)));
        let mut from = 0;
        while from < count && width > 0 {
            let n = usize::try_from(tile.min(count - from)).unwrap_or(usize::MAX);
            let first = usize::try_from(from).unwrap_or(usize::MAX);
            self.room(n * width);
            let to = &mut self.addresses[self.end..self.end + n * width];
            for (k, (moving, fixed)) in iteration.moving.iter().zip(&fixed).enumerate() {
                let start = fixed.wrapping_add(moving.stride.wrapping_mul(from));
                moving.write(
                    start,
                    (stored, first),
                    front,
                    to[k..].iter_mut().step_by(width),
                );
            }
            let sites = &mut self.sites[self.end..self.end + n * width];
            let each = sites.chunks_exact_mut(width);
            each.for_each(|to| to.copy_from_slice(&iteration.sites));
            self.end += n * width;
            from += n as u64;
            self.flush_full(e, frame, f);
        }
        self.row = fixed;
        // Stores what the last of the iterations leaves.
        let state = &mut self.player.state;
        let mut last = stored.map(|s| s.iteration(count - 1));
        for leaf in l
            .leafy
            .iter()
            .flat_map(|n| &function.nodes[*n as usize].leaves)
        {
            let value = last.as_mut().and_then(Iterator::next);
            state.slots[leaf.slot as usize] = value.ok_or_else(short)?;
        }
        Ok(())
    }

    /// The count of a loop.
    fn count(&self, l: &CompiledLoop, values: &mut Values<'_>) -> Result<u64> {
        if l.stored {
            return values.field().ok_or_else(short);
        }
        let state = &self.player.state;
        let count = l.count.as_ref();
        Ok(count.map_or(0, |c| c.eval(&state.slots, &state.iterations)))
    }

    /// Executes a node, whose leaves start at the given place.
    #[inline]
    fn node(
        &mut self,
        e: Emission<'_>,
        function: &CompiledFunction,
        (at, n): (u32, u32),
        mut leaf: impl FnMut() -> Option<u64>,
    ) -> Result<()> {
        self.player.left = self.player.left.checked_sub(1).ok_or_else(endless)?;
        for own in &function.nodes[n as usize].leaves {
            self.player.state.slots[own.slot as usize] = leaf().ok_or_else(short)?;
        }
        let Some(Some(node)) = e.templates.nodes[at as usize].get(n as usize) else {
            return Ok(());
        };
        let count = node.sites.len();
        self.room(count);
        let front = u64::from(e.space) << PREFIX;
        let state = &self.player.state;
        let to = &mut self.addresses[self.end..self.end + count];
        for (to, value) in to.iter_mut().zip(&node.values) {
            *to = value.eval(&state.slots, &state.iterations) | front;
        }
        self.sites[self.end..self.end + count].copy_from_slice(&node.sites);
        self.end += count;
        Ok(())
    }

    /// Gives out all iterations of a flat loop as a run. Returns false if an operand would leave its bits on the way.
    fn affine(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        (function, flat): (&CompiledFunction, &Flat),
        iterations: u64,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<bool> {
        let player = &mut self.player;
        player.operands.clear();
        for ((node, k), stride) in flat.operands.iter().zip(&flat.strides) {
            let value = &function.nodes[*node as usize].operands[*k as usize];
            let start = value.eval(&player.state.slots, &player.state.iterations);
            if !value.stays(start, *stride, iterations) {
                return match iterations > MOST_WRAPPING {
                    true => Err(short()),
                    false => Ok(false),
                };
            }
            player.operands.push(start);
        }
        if flat.blocks.is_empty() {
            return Ok(true);
        }
        player.left = player.left.checked_sub(iterations).ok_or_else(endless)?;
        let mut played = Played::Run {
            blocks: &flat.blocks,
            strides: &flat.strides,
            iterations,
        };
        if e.space > 0 {
            prefix(e.info, &mut played, &mut player.operands, e.space);
        }
        if iterations <= SHORT && self.run(e, &flat.blocks, &flat.strides, iterations) {
            return Ok(true);
        }
        self.flush(e, frame, f);
        let operands = &self.player.operands;
        f(Emitted::Compact(Compact::new(e.info, played, operands)));
        Ok(true)
    }

    /// Gives out the batch if it is full.
    #[inline]
    fn flush_full(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        f: &mut impl FnMut(Emitted<'_>),
    ) {
        if self.end >= super::FULL {
            self.flush(e, frame, f);
        }
    }
}

impl Moving {
    /// Writes the addresses of iterations from a given one on; `start` is what is known of the first.
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
            [
                (
                    k,
                    Term {
                        shift: 0,
                        add,
                        factor,
                        ..
                    },
                ),
            ] => {
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
