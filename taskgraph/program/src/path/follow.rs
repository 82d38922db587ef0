//! What is known after the execution of a path, from its recorded bytes.

use std::convert::Infallible;

use crate::path::compiled::{CompiledFunction, CompiledPath};
use crate::path::nest::NestShape;
use crate::path::parts::{CompiledLoop, CompiledNode, MOST_WRAPPING, State};
use crate::path::walk::{Visit, Walk, Walked};
use crate::path::{COUNT_BYTES, Step};

/// What an execution does beside what its path counts by itself.
#[derive(Clone, Copy, Debug)]
pub enum Followed<'f, 'v> {
    /// It executes a node; only of a path that does not know what it counts.
    Node(&'f CompiledNode),
    /// So many whole iterations of a loop.
    Iterations(&'f CompiledLoop, u64),
    /// A nest with these counts, see [`NestShape::count`], and whether it is cut.
    Nest(&'f NestShape, &'v [u64], bool),
}

/// The values that an execution of a path stored, in order.
pub trait Source {
    /// Why a value cannot be had.
    type Error;
    /// Makes the leaves of nodes known that are executed next.
    ///
    /// # Errors
    /// They are not there.
    fn nodes(&mut self, nodes: &[u32], state: &mut State) -> Result<(), Self::Error>;
    /// The whole iterations of a loop that is executed now.
    ///
    /// # Errors
    /// They are not there.
    fn count(&mut self, l: &CompiledLoop, state: &State) -> Result<u64, Self::Error>;
    /// Makes known what `count` whole iterations of a loop leave and, unless the path is cut there,
    /// the part of an iteration after them.
    ///
    /// # Errors
    /// It is not there.
    fn iterations(
        &mut self,
        l: &CompiledLoop,
        count: u64,
        cut: bool,
        state: &mut State,
    ) -> Result<(), Self::Error>;
}

/// Where an execution was recorded.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// Its leaves, in order; what lies outside the bytes reads as 0.
    pub bytes: &'a [u8],
    /// The recorded counts of its loops, the first one last; those used are taken off.
    pub counts: &'a [u64],
}

impl State {
    /// Makes what is known before an execution what is known after it. `visit` also sees what is
    /// known then. Returns false if a loop has more iterations than its operands have room for; see
    /// [`MOST_WRAPPING`].
    pub fn follow<'f>(
        &mut self,
        path: &CompiledPath,
        f: &'f CompiledFunction,
        recorded: &mut Recorded<'_>,
        walk: &mut Walk,
        mut visit: impl FnMut(Followed<'f, '_>, &State),
    ) -> bool {
        if path.counts.is_some() {
            let (mut stay, mut bytes) = (true, Bytes { f, recorded, at: 0 });
            let Ok(()) = self.settle(path, f, &mut bytes, |l, n, cut, state| {
                stay &= state.stays(f, l, l.whole(n, cut));
                visit(Followed::Iterations(l, n), state);
            });
            return stay;
        }
        walk.restart();
        let (mut at, mut stay) = (0, true);
        let mut counts = std::mem::take(&mut walk.counts);
        loop {
            let mut following = Following {
                f,
                recorded,
                at: &mut at,
                ran: 0,
                counts: &mut counts,
                stay: &mut stay,
            };
            let walked = walk.next(f, path, self, &mut following);
            let ran = following.ran;
            match walked {
                Walked::End => {
                    walk.counts = counts;
                    return stay;
                }
                Walked::Nest(l, cut) => {
                    if let Some(shape) = &f.nests[l as usize] {
                        visit(Followed::Nest(shape, &counts, cut), self);
                    }
                }
                Walked::Run(l) => {
                    if let Some(l) = &f.loops[l as usize] {
                        visit(Followed::Iterations(l, ran), self);
                    }
                }
                Walked::Node(n) => {
                    let node = &f.nodes[n as usize];
                    self.leaves(node, recorded.bytes, &mut at);
                    visit(Followed::Node(node), self);
                }
            }
        }
    }

    /// Makes what is known before an execution what is known after it. The path counts the same but
    /// for the iterations of its loops, none of which is in another. `visit` sees each loop as it
    /// is entered, how many whole iterations it has, and whether the path is cut there.
    ///
    /// # Errors
    /// The first error of `source`.
    pub fn settle<'f, S: Source>(
        &mut self,
        path: &CompiledPath,
        f: &'f CompiledFunction,
        source: &mut S,
        mut visit: impl FnMut(&'f CompiledLoop, u64, bool, &Self),
    ) -> Result<(), S::Error> {
        for step in &path.path.steps {
            let (index, cut, resumed) = match *step {
                Step::Node(n) => {
                    source.nodes(&[n], self)?;
                    continue;
                }
                Step::Enter(_) | Step::Next(_) => {
                    self.step(*step);
                    continue;
                }
                Step::Loop { index, cut, resumed } => (index as usize, cut, resumed),
            };
            let Some(l) = &f.loops[index] else { continue };
            let n = source.count(l, self)?;
            let base = match resumed {
                true => self.iterations[index].wrapping_add(1),
                false => 0,
            };
            self.iterations[index] = base;
            visit(l, n, cut, self);
            source.iterations(l, n, cut, self)?;
            let ended = base.wrapping_add(n);
            self.iterations[index] = ended.wrapping_sub(cut.into());
        }
        Ok(())
    }

    /// Whether a loop that is entered now has no more iterations than its operands have room for.
    fn stays(&self, f: &CompiledFunction, l: &CompiledLoop, iterations: u64) -> bool {
        let flat = l.flat.as_ref().filter(|_| iterations > MOST_WRAPPING);
        flat.is_none_or(|flat| flat.start(&f.nodes, self, iterations, &mut Vec::new()))
    }

    /// Makes the iteration numbers of plain loops what they are after an execution.
    #[inline]
    pub fn moved(&mut self, path: &CompiledPath) {
        path.moves.iter().for_each(|step| self.step(*step));
    }

    /// Learns the leaves of a node.
    #[inline]
    fn leaves(&mut self, node: &CompiledNode, bytes: &[u8], at: &mut usize) {
        for leaf in &node.leaves {
            self.slots[leaf.slot as usize] = leaf.read(bytes, *at);
            *at += usize::from(leaf.width);
        }
    }
}

impl Recorded<'_> {
    /// The count of a loop that is executed now.
    pub fn trips(&mut self, l: &CompiledLoop, state: &State) -> u64 {
        match &l.count {
            Some(count) => count.eval(&state.slots, &state.iterations),
            None => match self.counts.split_last() {
                Some((count, rest)) => {
                    self.counts = rest;
                    *count
                }
                None => 0,
            },
        }
    }
}

/// The recorded bytes of a path that is settled.
struct Bytes<'r, 'a> {
    f: &'r CompiledFunction,
    recorded: &'r mut Recorded<'a>,
    at: usize,
}

impl Source for Bytes<'_, '_> {
    type Error = Infallible;

    fn nodes(&mut self, nodes: &[u32], state: &mut State) -> Result<(), Infallible> {
        for n in nodes {
            let node = &self.f.nodes[*n as usize];
            state.leaves(node, self.recorded.bytes, &mut self.at);
        }
        Ok(())
    }

    fn count(&mut self, l: &CompiledLoop, state: &State) -> Result<u64, Infallible> {
        Ok(self.recorded.trips(l, state))
    }

    fn iterations(
        &mut self,
        l: &CompiledLoop,
        count: u64,
        cut: bool,
        state: &mut State,
    ) -> Result<(), Infallible> {
        let leaves = |n: &u32| &self.f.nodes[*n as usize].leaves;
        let each = l.leafy.iter().flat_map(leaves);
        let each: usize = each.map(|l| usize::from(l.width)).sum();
        // Only what the last iteration stores is still known after them.
        let skipped = usize::try_from(count.saturating_sub(1)).ok();
        let after = skipped.and_then(|n| n.checked_mul(each)?.checked_add(self.at));
        self.at = after.unwrap_or(usize::MAX).min(self.recorded.bytes.len());
        if count > 0 {
            self.nodes(&l.leafy, state)?;
        }
        if !cut {
            self.nodes(&l.leafy[..l.leafy_last], state)?;
        }
        if l.count.is_none() {
            self.at += COUNT_BYTES;
        }
        Ok(())
    }
}

struct Following<'r, 'a> {
    f: &'r CompiledFunction,
    recorded: &'r mut Recorded<'a>,
    at: &'r mut usize,
    /// Iterations of the loop taken as one.
    ran: u64,
    /// The counts of the nest taken as one.
    counts: &'r mut Vec<u64>,
    /// Whether all loops so far have room for their iterations.
    stay: &'r mut bool,
}

impl Visit for Following<'_, '_> {
    fn count(&mut self, _: u32, l: &CompiledLoop, state: &State) -> u64 {
        self.recorded.trips(l, state)
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, state: &State) -> bool {
        *self.stay &= state.stays(self.f, l, iterations);
        if l.each.is_none() {
            return false;
        }
        self.ran = iterations;
        true
    }

    fn nest(
        &mut self,
        nest: &NestShape,
        count: u64,
        cut: bool,
        f: &CompiledFunction,
        state: &State,
    ) -> Option<&[u64]> {
        nest.count(count, cut, &f.loops, state, self.counts)?;
        // Whether there is room for more iterations is found out loop by loop.
        let far = |trips: &u64| *trips >= MOST_WRAPPING;
        if nest.trips(self.counts).iter().any(far) {
            return None;
        }
        if let Some(l) = &f.loops[nest.outermost() as usize] {
            self.ended(l);
        }
        Some(self.counts)
    }

    fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            *self.at += COUNT_BYTES;
        }
    }
}
