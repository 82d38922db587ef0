//! Paths with collapsed loops, none of which is in another: their iterations are executed without a walk.

use contech_program::path::{Flat, MIN_RUN};

use super::{Emission, Emitted, Emitter, SHORT};
use crate::compact::Compact;
use crate::error::{Result, malformed};
use crate::frame::decode::{DecodedFrame, Record, WHAT};
use crate::frame::play::{MOST_WRAPPING, Played, endless, short};
use crate::path::{CompiledFunction, CompiledLoop, Step};
use crate::space::{PREFIX, prefix};

impl Emitter {
    /// Executes a record of such a path.
    pub(super) fn iterated(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        record: Record,
        path: usize,
        f: &mut impl FnMut(Emitted<'_>),
    ) -> Result<()> {
        let Some((path, function)) = e.score.paths.get(path) else {
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
        let mut next = record.start as usize;
        for step in &path.path.steps {
            let iterations = &mut self.player.state.iterations;
            match *step {
                Step::Node(n) => self.node(e, frame, function, (at, n), &mut next)?,
                Step::Enter(l) => iterations[l as usize] = 0,
                Step::Next(l) => iterations[l as usize] = iterations[l as usize].wrapping_add(1),
                Step::Loop {
                    index,
                    cut,
                    resumed,
                } => {
                    let i = index as usize;
                    let Some(l) = &function.loops[i] else {
                        continue;
                    };
                    let base = if resumed {
                        iterations[i].wrapping_add(1)
                    } else {
                        0
                    };
                    let count = self.count(frame, l, &mut next)?;
                    self.player.state.iterations[i] = base;
                    let whole = if cut { count } else { count.saturating_add(1) };
                    let flat = l.flat.as_ref().filter(|_| whole >= MIN_RUN);
                    let run = match flat {
                        Some(flat) => self.affine(e, frame, (function, flat), whole, f)?,
                        None => false,
                    };
                    if !run {
                        for done in 0..count {
                            self.player.state.iterations[i] = base.wrapping_add(done);
                            for n in &l.body {
                                self.node(e, frame, function, (at, *n), &mut next)?;
                            }
                            self.flush_full(e, frame, f);
                        }
                        if !cut {
                            self.player.state.iterations[i] = base.wrapping_add(count);
                            for n in &l.body[..l.last] {
                                self.node(e, frame, function, (at, *n), &mut next)?;
                            }
                        }
                    }
                    let ended = base.wrapping_add(count);
                    self.player.state.iterations[i] =
                        if cut { ended.wrapping_sub(1) } else { ended };
                }
            }
            self.flush_full(e, frame, f);
        }
        Ok(())
    }

    /// The count of a loop.
    fn count(&self, frame: &DecodedFrame, l: &CompiledLoop, next: &mut usize) -> Result<u64> {
        if l.stored {
            let count = frame.values.get(*next).copied();
            *next += 1;
            return count.ok_or_else(short);
        }
        let state = &self.player.state;
        let count = l.count.as_ref();
        Ok(count.map_or(0, |c| c.eval(&state.slots, &state.iterations)))
    }

    /// Executes a node.
    #[inline]
    fn node(
        &mut self,
        e: Emission<'_>,
        frame: &DecodedFrame,
        function: &CompiledFunction,
        (at, n): (u32, u32),
        next: &mut usize,
    ) -> Result<()> {
        self.player.left = self.player.left.checked_sub(1).ok_or_else(endless)?;
        let leaves = &function.nodes[n as usize].leaves;
        if !leaves.is_empty() {
            let values = frame.values.get(*next..*next + leaves.len());
            for (leaf, v) in leaves.iter().zip(values.ok_or_else(short)?) {
                self.player.state.slots[leaf.slot as usize] = *v;
            }
            *next += leaves.len();
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

    /// Gives out all iterations of a flat loop as a run; false when an operand would leave its bits on the way.
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
