//! What is known after the execution of a path, from its recorded bytes.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::path::COUNT_BYTES;
use crate::path::compiled::{CompiledFunction, CompiledPath};
use crate::path::nest::NestShape;
use crate::path::parts::{CompiledLoop, CompiledNode, MOST_WRAPPING, State};
use crate::path::walk::{Entered, MIN_RUN, Visit, Walk};

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

/// Where an execution was recorded, as far as it is not read yet.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// Its leaves, in order; what lies outside the bytes reads as 0.
    bytes: &'a [u8],
    at: usize,
    /// The recorded counts of its loops, the first one last.
    counts: &'a [u64],
}

impl State {
    /// Makes what is known before an execution what is known after it. `visit` also sees what is
    /// known then. Returns false if a loop has more iterations than its operands have room for; see
    /// [`MOST_WRAPPING`].
    pub fn follow<'f>(
        &mut self,
        path: &CompiledPath,
        f: &'f CompiledFunction,
        recorded: Recorded<'_>,
        walk: &mut Walk,
        visit: impl FnMut(Followed<'f, '_>, &State),
    ) -> bool {
        walk.restart();
        let mut following = Following {
            f,
            recorded,
            settles: path.counts.is_some(),
            counts: std::mem::take(&mut walk.counts),
            stay: true,
            visit,
        };
        let ControlFlow::Continue(()) = walk.go(f, path, self, &mut following);
        walk.counts = following.counts;
        following.stay
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
}

impl<'a> Recorded<'a> {
    /// An execution with these leaves, in order; what lies outside the bytes reads as 0. The count
    /// of its first loop is the last one.
    #[must_use]
    pub fn new(bytes: &'a [u8], counts: &'a [u64]) -> Self {
        Self { bytes, at: 0, counts }
    }

    /// The count of a loop that is executed now.
    #[inline]
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

    /// Learns the leaves of a node that is executed now.
    #[inline]
    pub fn leaves(&mut self, node: &CompiledNode, state: &mut State) {
        for leaf in &node.leaves {
            state.slots[leaf.slot as usize] = leaf.read(self.bytes, self.at);
            self.at += usize::from(leaf.width);
        }
    }

    /// Learns what whole iterations of a loop leave: only what the last one stores is still known
    /// after them.
    fn iterations(&mut self, l: Entered<'_>, f: &CompiledFunction, state: &mut State) {
        let leafy = l.own.leafy.iter().map(|n| &f.nodes[*n as usize]);
        let each = leafy.clone().flat_map(|node| &node.leaves);
        let each: usize = each.map(|leaf| usize::from(leaf.width)).sum();
        let skipped = usize::try_from(l.whole.saturating_sub(1)).ok();
        let after = skipped.and_then(|n| n.checked_mul(each)?.checked_add(self.at));
        self.at = after.unwrap_or(usize::MAX).min(self.bytes.len());
        leafy.for_each(|node| self.leaves(node, state));
    }

    /// Passes the count that stands behind what the iterations of a loop store.
    #[inline]
    pub fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            self.at += COUNT_BYTES;
        }
    }
}

struct Following<'f, 'a, V> {
    f: &'f CompiledFunction,
    recorded: Recorded<'a>,
    /// The path counts the same but for the iterations of its loops, so that these are passed over
    /// and nodes need not be seen.
    settles: bool,
    /// The counts of the nest taken as one.
    counts: Vec<u64>,
    /// Whether all loops so far have room for their iterations.
    stay: bool,
    visit: V,
}

impl<'f, V: FnMut(Followed<'f, '_>, &State)> Visit<'f> for Following<'f, '_, V> {
    type Stop = Infallible;

    #[inline]
    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<Infallible> {
        let node = &self.f.nodes[n as usize];
        self.recorded.leaves(node, state);
        if !self.settles {
            (self.visit)(Followed::Node(node), state);
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn count(&mut self, l: &CompiledLoop, state: &State) -> ControlFlow<Infallible, u64> {
        ControlFlow::Continue(self.recorded.trips(l, state))
    }

    fn run(&mut self, l: Entered<'f>, state: &mut State) -> ControlFlow<Infallible, bool> {
        self.stay &= state.stays(self.f, l.own, l.whole);
        let is_run = l.own.flat.is_some() && l.own.each.is_some() && l.whole >= MIN_RUN;
        if !self.settles && !is_run {
            return ControlFlow::Continue(false);
        }
        // The path knows what a last iteration counts.
        let iterations = if self.settles { l.count } else { l.whole };
        (self.visit)(Followed::Iterations(l.own, iterations), state);
        self.recorded.iterations(l, self.f, state);
        ControlFlow::Continue(true)
    }

    fn nest(
        &mut self,
        nest: &'f NestShape,
        outermost: Entered<'f>,
        state: &mut State,
    ) -> ControlFlow<Infallible, bool> {
        let Entered { own, count, cut, .. } = outermost;
        // Whether there is room for more iterations is found out loop by loop.
        let far = |trips: &u64| *trips >= MOST_WRAPPING;
        if self.settles
            || nest.count(count, cut, &self.f.loops, state, &mut self.counts).is_none()
            || nest.trips(&self.counts).iter().any(far)
        {
            return ControlFlow::Continue(false);
        }
        self.recorded.ended(own);
        nest.leave(&self.counts, cut, state);
        (self.visit)(Followed::Nest(nest, &self.counts, cut), state);
        ControlFlow::Continue(true)
    }

    fn ended(&mut self, l: &CompiledLoop) {
        self.recorded.ended(l);
    }
}
