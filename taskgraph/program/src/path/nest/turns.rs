//! What the operands of a nest are, turn by turn of its loops.

use std::ops::Range;

use super::{Innermost, Nest, NestStep};
use crate::id::BlockId;
use crate::statics::StaticInfo;

/// How a loop goes on whose iterations all do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// With the next iteration.
    Next,
    /// With an iteration that stands for all that are left.
    Rest,
    /// Behind so many iterations, of which all is known.
    Skip(u64),
}

/// Takes what a nest executes, in program order.
pub trait Turns {
    /// These blocks, each with the end of its operands, are executed so often; the operands begin
    /// as `starts` and change by `strides`. What comes in a [`Again::Rest`] counts `times` times.
    fn run(
        &mut self,
        blocks: &[(BlockId, u32)],
        starts: &[u64],
        strides: &[u64],
        iterations: u64,
        times: u64,
    );

    /// The next iteration of this loop does what those before it did; so many are done, and so many
    /// left. (It may be several iterations in a row that do so together.)
    fn again(&mut self, _loop: usize, _done: u64, _left: u64) -> Again {
        Again::Next
    }

    /// Whether it matters only how often blocks are executed: all iterations of a loop come as one
    /// that counts so many times, and operands mean nothing.
    const COUNTS: bool = false;

    /// Whether whole iterations of a loop come at once, in no order ([`Turns::spread`]).
    const SPREADS: bool = false;

    /// The operand with this number of a block has the value `start` and all that follow from it:
    /// for each loop the change by an iteration, and the number of iterations.
    fn spread(&mut self, _block: BlockId, _operand: usize, _start: u64, _loops: &[(u64, u64)]) {}
}

/// Calls a function for each execution of a block.
pub(super) struct Blocks<F>(pub(super) F);

impl<F: FnMut(BlockId)> Turns for Blocks<F> {
    fn run(&mut self, blocks: &[(BlockId, u32)], _: &[u64], _: &[u64], iterations: u64, _: u64) {
        for _ in 0..iterations {
            blocks.iter().for_each(|block| (self.0)(block.0));
        }
    }
}

/// Calls a function with blocks and how often they are executed.
pub(super) struct Times<F>(pub(super) F);

impl<F: FnMut(BlockId, u64)> Turns for Times<F> {
    const COUNTS: bool = true;

    fn run(&mut self, blocks: &[(BlockId, u32)], _: &[u64], _: &[u64], _: u64, times: u64) {
        blocks.iter().for_each(|block| (self.0)(block.0, times));
    }
}

/// A way through a nest.
struct NestWalk<'n, 'v, V> {
    nest: &'n Nest<'n>,
    /// The operands in the current iterations, and how many of the outermost loop passed.
    operands: Vec<u64>,
    passed: u64,
    /// Whether blocks without operands are wanted.
    all: bool,
    visitor: &'v mut V,
}

impl Nest<'_> {
    /// The blocks of the program.
    #[must_use]
    pub fn info(&self) -> &StaticInfo {
        self.info
    }

    /// Whether its blocks have operands.
    #[must_use]
    pub fn has_operands(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Goes through the nest: through all that it executes, or only through blocks with operands.
    pub fn turns(&self, all: bool, visitor: &mut impl Turns) {
        if self.from >= self.to || !all && !self.has_operands() {
            return;
        }
        let zeros = &*self.shape.zeros;
        let mut way = NestWalk {
            nest: self,
            operands: self.starts.get(..zeros.len()).unwrap_or(zeros).to_vec(),
            passed: 0,
            all,
            visitor,
        };
        way.within(0, self.from, self.to, 1);
    }

    /// The executions of one iteration of a loop.
    fn one(&self, at: usize) -> u64 {
        let body = &self.shape.loops[at].body;
        body.iter().map(|step| self.size(*step)).sum()
    }
}

impl<V: Turns> NestWalk<'_, '_, V> {
    /// The executions `from..to` of one execution of a loop.
    fn within(&mut self, at: usize, from: u64, to: u64, times: u64) {
        let l = &self.nest.shape.loops[at];
        if !self.all && l.operands.is_empty() {
            return;
        }
        let (one, count) = (self.nest.one(at), self.nest.counts[at]);
        let iteration = |index: u64| index.checked_div(one).unwrap_or(0).min(count);
        let (mut first, mut end) = (iteration(from), iteration(to));
        let (begun, rest) = (from - first * one, to - end * one);
        // The last iteration may be a whole one.
        end += u64::from(one > 0 && rest == one);
        if begun > 0 {
            let stop = if first == end { rest } else { one };
            self.part(at, first, begun..stop, times);
            first += 1;
        }
        if first < end {
            self.whole(at, first..end, times);
        }
        if first <= end && 0 < rest && rest < one {
            self.part(at, end, 0..rest, times);
        }
    }

    /// A part of an iteration.
    fn part(&mut self, at: usize, iteration: u64, range: Range<u64>, times: u64) {
        self.advance(at, iteration);
        self.steps(at, range, times);
        self.advance(at, iteration.wrapping_neg());
    }

    /// Whole iterations.
    fn whole(&mut self, at: usize, range: Range<u64>, times: u64) {
        let l = &self.nest.shape.loops[at];
        let n = range.end - range.start;
        if V::COUNTS {
            return self.steps(at, 0..self.nest.one(at), times.saturating_mul(n));
        }
        self.advance(at, range.start);
        let period = match at {
            0 => self.nest.shape.period(),
            _ => 1,
        };
        if V::SPREADS {
            let (each, all) = (n.min(period), if period > 1 { 1 } else { n });
            for _ in 0..each {
                self.spread(at, (all, 0), &mut Vec::new());
                self.advance(at, u64::from(period > 1));
            }
            let passed = if period > 1 { each } else { 0 };
            return self.advance(at, (range.start + passed).wrapping_neg());
        }
        if let Some(Innermost { blocks, strides }) = &l.flat {
            let own = &self.operands[l.operands.clone()];
            self.visitor.run(blocks, own, strides, n, times);
            return self.advance(at, range.start.wrapping_neg());
        }
        let one = self.nest.one(at);
        if l.moves.is_empty() {
            let (mut done, all) = (0, n / period);
            while done < all {
                let stands = match self.visitor.again(at, done, all - done) {
                    Again::Next => 1,
                    Again::Rest => all - done,
                    Again::Skip(known) => {
                        done = done.saturating_add(known.max(1));
                        continue;
                    }
                };
                let times = times.saturating_mul(stands);
                self.each(at, (period, period > 1), one, times);
                done += stands;
            }
            self.each(at, (n % period, true), one, times);
            let passed = if period > 1 { n } else { 0 };
            return self.advance(at, (range.start + passed).wrapping_neg());
        }
        self.each(at, (n, true), one, times);
        self.advance(at, range.end.wrapping_neg());
    }

    /// So many whole iterations one after the other.
    fn each(&mut self, at: usize, (n, moves): (u64, bool), one: u64, times: u64) {
        for _ in 0..n {
            self.steps(at, 0..one, times);
            self.advance(at, u64::from(moves));
        }
    }

    /// So many whole iterations of a loop within others, of which each is given with its
    /// iterations. The first steps are executed once more.
    fn spread(&mut self, at: usize, (n, more): (u64, usize), within: &mut Vec<(usize, u64)>) {
        let shape = self.nest.shape;
        for (place, step) in shape.loops[at].body.iter().enumerate() {
            let n = n + u64::from(place < more);
            if n == 0 {
                continue;
            }
            within.push((at, n));
            match *step {
                NestStep::Block(block, first, end) => {
                    for of in first..end {
                        let moved = within.iter().filter_map(|(l, n)| {
                            let moves = &shape.loops[*l].moves;
                            let at = moves.binary_search_by_key(&of, |moved| moved.0).ok()?;
                            Some((moves[at].1, *n))
                        });
                        let moved: Vec<(u64, u64)> = moved.collect();
                        let start = self.operands[of];
                        self.visitor.spread(block, of - first, start, &moved);
                    }
                }
                NestStep::Loop(inner) => {
                    let own = (self.nest.counts[inner], self.nest.last(inner).len());
                    self.spread(inner, own, within);
                }
            }
            within.pop();
        }
    }

    /// The executions in a range of those of the steps of a loop.
    fn steps(&mut self, at: usize, range: Range<u64>, times: u64) {
        let mut passed = 0;
        for step in &self.nest.shape.loops[at].body {
            let next = passed + self.nest.size(*step);
            let (low, high) = (range.start.max(passed), range.end.min(next));
            if low < high {
                match *step {
                    NestStep::Block(block, first, end) if self.all || first < end => {
                        let ends = u32::try_from(end - first).unwrap_or(u32::MAX);
                        let own = &self.operands[first..end];
                        let still = &self.nest.shape.zeros[first..end];
                        self.visitor.run(&[(block, ends)], own, still, 1, times);
                    }
                    NestStep::Block(..) => {}
                    NestStep::Loop(inner) => self.within(inner, low - passed, high - passed, times),
                }
            }
            passed = next;
        }
    }

    /// Goes on by some iterations of a loop.
    fn advance(&mut self, at: usize, iterations: u64) {
        if iterations == 0 || V::COUNTS {
            return;
        }
        let shape = self.nest.shape;
        if at == 0 && shape.period() > 1 {
            self.passed = self.passed.wrapping_add(iterations);
            let place = usize::try_from(self.passed % shape.period()).unwrap_or(0);
            let all = shape.operands.len();
            let own = self.nest.starts.get(place * all..(place + 1) * all);
            own.into_iter().for_each(|own| self.operands.copy_from_slice(own));
            return;
        }
        for &(of, stride) in &self.nest.shape.loops[at].moves {
            let value = &mut self.operands[of];
            *value = value.wrapping_add(stride.wrapping_mul(iterations));
        }
    }
}
