//! Nests: collapsed loops that compute no operand, so that trip counts alone say what they execute.

use std::ops::Range;

use crate::id::BlockId;
use crate::path::parts::{CompiledLoop, CompiledNode, NO_BLOCK, State};

/// Larger nests are walked node by node: a file could name an inner loop in many places.
const MOST_STEPS: usize = 1 << 12;

/// A loop of a nest.
#[derive(Debug)]
struct NestLoop {
    /// The loop's number in the function.
    index: u32,
    body: Box<[NestStep]>,
    /// Number of steps of the last iteration.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
enum NestStep {
    Block(BlockId),
    /// An inner loop, by its place in the shape.
    Loop(usize),
}

/// A collapsed loop and the loops in it. They have no leaves and no operands, and their trip counts stay the same
/// while the nest runs.
#[derive(Debug)]
pub struct NestShape {
    /// The loops; the outermost is the first.
    loops: Box<[NestLoop]>,
}

impl NestShape {
    /// The shape of loop `l`, if the loop and all loops in it meet the conditions. `loops` are those of its function.
    pub fn of(l: usize, nodes: &[CompiledNode], loops: &[Option<CompiledLoop>]) -> Option<Self> {
        let mut found = Vec::new();
        add(l, nodes, loops, &mut found, &mut 0)?;
        let fixed = |inner: &NestLoop| {
            let count = loops[inner.index as usize].as_ref()?.count.as_ref()?;
            let still = |of: &NestLoop| count.stride(of.index) == Some(0);
            found.iter().all(still).then_some(())
        };
        found[1..].iter().try_for_each(fixed)?;
        Some(Self {
            loops: found.into_boxed_slice(),
        })
    }

    /// Puts the trip counts and then the executions of each loop into `out`; returns the number of all executions.
    /// `None` if a number does not fit.
    pub fn count(
        &self,
        first: u64,
        cut: bool,
        loops: &[Option<CompiledLoop>],
        state: &State,
        out: &mut Vec<u64>,
    ) -> Option<u64> {
        out.clear();
        out.push(first);
        for inner in &self.loops[1..] {
            let count = loops[inner.index as usize].as_ref()?.count.as_ref()?;
            out.push(count.eval(&state.slots, &state.iterations));
        }
        let n = self.loops.len();
        out.resize(2 * n, 0);
        // Inner loops come after those they are in.
        for (at, l) in self.loops.iter().enumerate().rev() {
            let sum = |steps: &[NestStep]| {
                let of = |step: &NestStep| match *step {
                    NestStep::Block(_) => 1,
                    NestStep::Loop(inner) => out[n + inner],
                };
                steps.iter().map(of).try_fold(0u64, u64::checked_add)
            };
            let last = if at == 0 && cut { 0 } else { l.last };
            let whole = sum(&l.body)?.checked_mul(out[at])?;
            out[n + at] = whole.checked_add(sum(&l.body[..last])?)?;
        }
        Some(out[n])
    }

    /// Leaves the iteration numbers of the inner loops as an execution of the nest leaves them.
    pub fn leave(&self, counts: &[u64], cut: bool, state: &mut State) {
        self.leave_loop(0, counts, cut, state);
    }

    fn leave_loop(&self, at: usize, counts: &[u64], cut: bool, state: &mut State) {
        let l = &self.loops[at];
        let last = if cut { 0 } else { l.last };
        let entered = if counts[at] > 0 { l.body.len() } else { last };
        for step in &l.body[..entered] {
            if let NestStep::Loop(inner) = *step {
                state.iterations[self.loops[inner].index as usize] = counts[inner];
                self.leave_loop(inner, counts, false, state);
            }
        }
    }
}

/// Adds loop `l` and the loops in it.
fn add(
    l: usize,
    nodes: &[CompiledNode],
    loops: &[Option<CompiledLoop>],
    found: &mut Vec<NestLoop>,
    steps: &mut usize,
) -> Option<usize> {
    let source = loops.get(l)?.as_ref()?;
    *steps += source.body.len();
    if *steps > MOST_STEPS || !source.leafy.is_empty() {
        return None;
    }
    let at = found.len();
    found.push(NestLoop {
        index: u32::try_from(l).ok()?,
        body: Box::default(),
        last: 0,
    });
    let (mut body, mut last) = (Vec::new(), 0);
    for (i, n) in source.body.iter().enumerate() {
        if i == source.last {
            last = body.len();
        }
        let node = &nodes[*n as usize];
        match node.collapsed {
            Some(inner) if i > 0 => {
                let inner = add(inner as usize, nodes, loops, found, steps)?;
                body.push(NestStep::Loop(inner));
            }
            _ if !node.operands.is_empty() => return None,
            _ if node.block == NO_BLOCK => {}
            _ => body.push(NestStep::Block(BlockId::new(node.block))),
        }
    }
    if source.last == source.body.len() {
        last = body.len();
    }
    found[at].body = body.into_boxed_slice();
    found[at].last = last;
    Some(at)
}

/// Executions of blocks without operands by loops with known trip counts. Any number of executions is counted in the
/// time that it takes to look at each loop once.
#[derive(Clone, Copy, Debug)]
pub struct Nest<'f> {
    shape: &'f NestShape,
    /// The counts in the form of [`NestShape::count`].
    counts: &'f [u64],
    /// Whether the last iteration of the outermost loop is not executed.
    cut: bool,
    /// The part of all executions that this value stands for.
    from: u64,
    to: u64,
}

impl<'f> Nest<'f> {
    /// All executions of a nest with these counts, which come from [`NestShape::count`].
    #[must_use]
    pub fn new(shape: &'f NestShape, counts: &'f [u64], cut: bool) -> Self {
        Self {
            shape,
            counts,
            cut,
            from: 0,
            to: counts[shape.loops.len()],
        }
    }

    /// A part of the executions, counted from 0.
    #[must_use]
    pub fn part(&self, range: Range<u64>) -> Self {
        let within = |index: u64| self.from.saturating_add(index).min(self.to);
        let from = within(range.start);
        Self {
            from,
            to: within(range.end).max(from),
            ..*self
        }
    }

    /// How many executions of blocks the nest stands for.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.to - self.from
    }

    /// Calls `f` with blocks and how often each is executed. A block may come several times, and not in the order of
    /// execution.
    pub fn for_each_times(&self, mut f: impl FnMut(BlockId, u64)) {
        if self.from < self.to {
            self.within(0, self.from, self.to, &mut f);
        }
    }

    /// The block of an execution, counted from 0.
    #[must_use]
    pub fn block_at(&self, index: u64) -> Option<BlockId> {
        let mut found = None;
        let one = self.part(index..index.saturating_add(1));
        one.for_each_times(|block, _| found = Some(block));
        found
    }

    /// Calls `f` for each execution, in program order.
    pub fn for_each_block(&self, mut f: impl FnMut(BlockId)) {
        if (self.from, self.to) == (0, self.counts[self.shape.loops.len()]) {
            return self.execute(0, &mut f);
        }
        let blocks = (0..self.executions()).filter_map(|index| self.block_at(index));
        blocks.for_each(f);
    }

    fn execute(&self, at: usize, f: &mut impl FnMut(BlockId)) {
        let l = &self.shape.loops[at];
        for i in 0..=self.counts[at] {
            let steps = match i == self.counts[at] {
                true => self.last(at),
                false => &l.body,
            };
            for step in steps {
                match *step {
                    NestStep::Block(block) => f(block),
                    NestStep::Loop(_) if self.size(*step) == 0 => {}
                    NestStep::Loop(inner) => self.execute(inner, f),
                }
            }
        }
    }

    /// The steps of the last iteration of a loop.
    fn last(&self, at: usize) -> &[NestStep] {
        let l = &self.shape.loops[at];
        &l.body[..if at == 0 && self.cut { 0 } else { l.last }]
    }

    fn size(&self, step: NestStep) -> u64 {
        match step {
            NestStep::Block(_) => 1,
            NestStep::Loop(inner) => self.counts[self.shape.loops.len() + inner],
        }
    }

    /// The executions `from..to` of one execution of a loop.
    fn within(&self, at: usize, from: u64, to: u64, f: &mut impl FnMut(BlockId, u64)) {
        let body = &self.shape.loops[at].body;
        let count = self.counts[at];
        let one: u64 = body.iter().map(|step| self.size(*step)).sum();
        let iteration = |index: u64| index.checked_div(one).unwrap_or(0).min(count);
        let (first, end) = (iteration(from), iteration(to));
        let steps = |i: u64| if i == count { self.last(at) } else { body };
        if first == end {
            return self.steps(steps(first), from - first * one, to - first * one, f);
        }
        self.steps(steps(first), from - first * one, one, f);
        self.times(body, end - first - 1, f);
        self.steps(steps(end), 0, to - end * one, f);
    }

    /// The executions from `from` to `to` of one execution of these steps.
    fn steps(&self, steps: &[NestStep], from: u64, to: u64, f: &mut impl FnMut(BlockId, u64)) {
        let mut passed = 0;
        for step in steps {
            let next = passed + self.size(*step);
            let (low, high) = (from.max(passed), to.min(next));
            if low < high {
                match *step {
                    NestStep::Block(block) => f(block, 1),
                    NestStep::Loop(inner) => self.within(inner, low - passed, high - passed, f),
                }
            }
            passed = next;
        }
    }

    /// All executions of these steps, `times` times.
    fn times(&self, steps: &[NestStep], times: u64, f: &mut impl FnMut(BlockId, u64)) {
        if times == 0 {
            return;
        }
        for step in steps {
            match *step {
                NestStep::Block(block) => f(block, times),
                NestStep::Loop(inner) => {
                    self.times(&self.shape.loops[inner].body, times * self.counts[inner], f);
                    self.times(self.last(inner), times, f);
                }
            }
        }
    }
}
