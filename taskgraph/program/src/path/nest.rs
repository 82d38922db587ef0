//! Nests: collapsed loops whose trip counts say what they execute, and whose operands change by
//! constants.

use std::ops::Range;

use crate::id::BlockId;
use crate::op::MemOp;
use crate::path::parts::{CompiledLoop, CompiledNode, NO_BLOCK, State};
use crate::statics::StaticInfo;

mod turns;

pub use turns::{Again, Turns};
use turns::{Blocks, Times};

/// Larger nests are walked node by node: a file could name an inner loop in many places.
const MOST_STEPS: usize = 1 << 12;
/// So are nests with more loops within one another.
const DEEPEST: usize = 64;

/// A loop of a nest.
#[derive(Debug)]
struct NestLoop {
    /// The loop's number in the function.
    index: u32,
    body: Box<[NestStep]>,
    /// Number of steps of the last iteration.
    last: usize,
    /// The operands of the loop, with those of the loops in it.
    operands: Range<usize>,
    /// The operands that change with each iteration, and by how much.
    moves: Box<[(usize, u64)]>,
    /// Its blocks, if no loop is in it.
    flat: Option<Innermost>,
}

/// The blocks of a loop, each with the end of its operands, and by how much each operand changes
/// with an iteration.
#[derive(Debug)]
struct Innermost {
    blocks: Box<[(BlockId, u32)]>,
    strides: Box<[u64]>,
}

#[derive(Clone, Copy, Debug)]
enum NestStep {
    /// A block, with its first operand and the end of them.
    Block(BlockId, usize, usize),
    /// An inner loop, by its place in the shape.
    Loop(usize),
}

/// A collapsed loop and the loops in it. They have no leaves, and their trip counts stay the same
/// while the nest runs. If each operand changes by a constant with each iteration of a loop, the
/// nest stands for its accesses, too.
#[derive(Debug)]
pub struct NestShape {
    /// The loops; the outermost is the first.
    loops: Box<[NestLoop]>,
    /// The node and the place in it of each operand, in the order of the steps.
    operands: Box<[(u32, u32)]>,
    /// As many zeros.
    zeros: Box<[u64]>,
    /// After so many iterations of the outermost loop its operands are the same again; 1 if they
    /// change by constants. `None` if only the executions of blocks can be known without each of
    /// them.
    period: Option<u64>,
}

impl NestShape {
    /// The shape of loop `l`, if the loop and all loops in it meet the conditions. `loops` are
    /// those of its function. A single loop whose operands change by constants is no nest.
    pub fn of(
        l: usize,
        nodes: &[CompiledNode],
        loops: &[Option<CompiledLoop>],
        info: &StaticInfo,
    ) -> Option<Self> {
        let (mut found, mut operands) = (Vec::new(), Vec::new());
        let source = Source { nodes, loops, info };
        source.add((l, 0), &mut found, &mut operands, &mut 0)?;
        let fixed = |inner: &NestLoop| {
            let count = loops[inner.index as usize].as_ref()?.count.as_ref()?;
            let still = |of: &NestLoop| count.stride(of.index) == Some(0);
            found.iter().all(still).then_some(())
        };
        found[1..].iter().try_for_each(fixed)?;
        let period = match &mut found[..] {
            [_] if !operands.is_empty() => match &loops[l].as_ref()?.flat {
                Some(_) => return None,
                None => None,
            },
            found => learn(found, nodes, &operands),
        };
        Some(Self {
            period,
            loops: found.into_boxed_slice(),
            zeros: vec![0; operands.len()].into(),
            operands: operands.into(),
        })
    }

    /// Whether it stands only for executions of blocks, and not for their operands.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        self.period.is_none()
    }

    /// Appends operands that mean nothing to the counts in `out`, for who asks for executions only.
    pub fn without_operands(&self, out: &mut Vec<u64>) {
        out.extend_from_slice(&self.zeros);
    }

    /// The trip counts among what [`NestShape::count`] has found.
    #[must_use]
    pub fn trips<'c>(&self, counts: &'c [u64]) -> &'c [u64] {
        &counts[..self.loops.len()]
    }

    /// Whether it computes operands.
    #[must_use]
    pub fn has_operands(&self) -> bool {
        !self.operands.is_empty()
    }

    /// Appends the operands of the first iterations to the counts in `out`: for each iteration of a
    /// period of the outermost loop those with which the others begin. Returns false if an operand
    /// leaves its bits on the way. `state` knows the iteration number of the outermost loop.
    pub fn start(&self, nodes: &[CompiledNode], state: &State, out: &mut Vec<u64>) -> bool {
        let mut iterations = state.iterations.clone();
        let inner = self.loops[1..].iter();
        inner.for_each(|l| iterations[l.index as usize] = 0);
        // By how much each operand changes at most, downwards and upwards.
        let mut ends = vec![(0i128, 0i128); self.operands.len()];
        for (l, &count) in self.loops.iter().zip(out.iter()) {
            for &(of, stride) in &l.moves {
                let moved = i128::from(stride.cast_signed()) * i128::from(count);
                let (low, high) = &mut ends[of];
                *low = low.saturating_add(moved.min(0));
                *high = high.saturating_add(moved.max(0));
            }
        }
        let Some(period) = self.period else {
            return false;
        };
        for _ in 0..period.min(out[0].saturating_add(1)) {
            for ((node, k), (low, high)) in self.operands.iter().zip(&ends) {
                let value = &nodes[*node as usize].operands[*k as usize];
                let start = value.eval(&state.slots, &iterations);
                if !value.reaches(start, *low) || !value.reaches(start, *high) {
                    return false;
                }
                out.push(start);
            }
            let outer = &mut iterations[self.loops[0].index as usize];
            *outer = outer.wrapping_add(1);
        }
        true
    }

    /// The blocks with operands, each with the places of its operands, one for each iteration of a
    /// period.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, Range<usize>)> + '_ {
        let all = self.operands.len();
        let each = (0..usize::try_from(self.period()).unwrap_or(1)).map(move |i| i * all);
        each.flat_map(move |from| {
            let steps = self.loops.iter().flat_map(|l| &l.body);
            steps.filter_map(move |step| match *step {
                NestStep::Block(block, first, end) if first < end => {
                    Some((block, from + first..from + end))
                }
                _ => None,
            })
        })
    }

    fn period(&self) -> u64 {
        self.period.unwrap_or(1)
    }

    /// How many numbers come before the operands in what [`NestShape::start`] completes.
    #[must_use]
    pub fn counts(&self) -> usize {
        2 * self.loops.len()
    }

    /// Puts the trip counts and then the executions of each loop into `out`; returns the number of
    /// all executions. `None` if a number does not fit.
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
                    NestStep::Block(..) => 1,
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

/// Finds out how the operands change with each iteration of the loops; returns after how many
/// iterations of the outermost one they are the same again.
fn learn(found: &mut [NestLoop], nodes: &[CompiledNode], operands: &[(u32, u32)]) -> Option<u64> {
    let (outer, inner) = found.split_first_mut()?;
    let period = match outer.learn(nodes, operands) {
        Some(()) => 1,
        None => outer.period(nodes, operands)?,
    };
    let mut inner = inner.iter_mut();
    inner.try_for_each(|of| of.learn(nodes, operands))?;
    Some(period)
}

impl NestLoop {
    /// After how many iterations the operands are the same again; `None` if they never are.
    fn period(&self, nodes: &[CompiledNode], operands: &[(u32, u32)]) -> Option<u64> {
        let mut values = operands.iter();
        values.try_fold(1, |most, (node, k)| {
            let value = &nodes[*node as usize].operands[*k as usize];
            Some(value.period(self.index)?.max(most))
        })
    }

    /// Finds out how operands change with each iteration. `None` if one of the loop is not linear,
    /// or one of another loop changes, too.
    fn learn(&mut self, nodes: &[CompiledNode], operands: &[(u32, u32)]) -> Option<()> {
        let mut moves = Vec::new();
        for (of, (node, k)) in operands.iter().enumerate() {
            let stride = nodes[*node as usize].operands[*k as usize].stride(self.index)?;
            match self.operands.contains(&of) {
                _ if stride == 0 => {}
                true => moves.push((of, stride)),
                false => return None,
            }
        }
        let first = self.operands.start;
        let block = |step: &NestStep| match *step {
            NestStep::Block(block, _, end) => Some((block, u32::try_from(end - first).ok()?)),
            NestStep::Loop(_) => None,
        };
        let blocks: Option<Box<[_]>> = self.body.iter().map(block).collect();
        self.flat = blocks.map(|blocks| {
            let mut strides = vec![0; self.operands.len()];
            moves.iter().for_each(|(of, stride)| strides[of - first] = *stride);
            Innermost { blocks, strides: strides.into() }
        });
        self.moves = moves.into();
        Some(())
    }
}

/// Where the loops of a nest are found.
#[derive(Clone, Copy)]
struct Source<'f> {
    nodes: &'f [CompiledNode],
    loops: &'f [Option<CompiledLoop>],
    info: &'f StaticInfo,
}

impl Source<'_> {
    /// Adds loop `l`, which is in so many others, and the loops in it.
    fn add(
        self,
        (l, depth): (usize, usize),
        found: &mut Vec<NestLoop>,
        operands: &mut Vec<(u32, u32)>,
        steps: &mut usize,
    ) -> Option<usize> {
        let source = self.loops.get(l)?.as_ref()?;
        *steps += source.body.len();
        if *steps > MOST_STEPS || depth > DEEPEST || !source.leafy.is_empty() {
            return None;
        }
        let at = found.len();
        found.push(NestLoop {
            index: u32::try_from(l).ok()?,
            body: Box::default(),
            last: 0,
            operands: 0..0,
            moves: Box::default(),
            flat: None,
        });
        let first = operands.len();
        let (mut body, mut last) = (Vec::new(), 0);
        for (i, n) in source.body.iter().enumerate() {
            if i == source.last {
                last = body.len();
            }
            let node = &self.nodes[*n as usize];
            match node.collapsed {
                Some(inner) if i > 0 => {
                    let inner = self.add((inner as usize, depth + 1), found, operands, steps)?;
                    body.push(NestStep::Loop(inner));
                }
                _ if node.block == NO_BLOCK => {}
                _ => {
                    let block = BlockId::new(node.block);
                    // Each operand is the address of accesses whose sizes are known.
                    let plain = |op: &MemOp| op.has_static_counts() && op.operand_count() == 1;
                    if !self.info.ops_of(block).iter().all(plain) {
                        return None;
                    }
                    let from = operands.len();
                    operands.extend((0..).zip(&node.operands).map(|(k, _)| (*n, k)));
                    body.push(NestStep::Block(block, from, operands.len()));
                }
            }
        }
        if source.last == source.body.len() {
            last = body.len();
        }
        found[at].body = body.into_boxed_slice();
        found[at].last = last;
        found[at].operands = first..operands.len();
        Some(at)
    }
}

/// Executions of blocks by loops with known trip counts. Any number of executions is counted in the
/// time that it takes to look at each loop once.
#[derive(Clone, Copy, Debug)]
pub struct Nest<'f> {
    info: &'f StaticInfo,
    shape: &'f NestShape,
    /// The counts in the form of [`NestShape::count`].
    counts: &'f [u64],
    /// The operands of the first iterations.
    starts: &'f [u64],
    /// Whether the last iteration of the outermost loop is not executed.
    cut: bool,
    /// The part of all executions that this value stands for.
    from: u64,
    to: u64,
}

impl<'f> Nest<'f> {
    /// All executions of a nest with these counts and operands, which come from
    /// [`NestShape::count`] and [`NestShape::start`].
    #[must_use]
    pub fn new(info: &'f StaticInfo, shape: &'f NestShape, counts: &'f [u64], cut: bool) -> Self {
        let (counts, starts) = counts.split_at(shape.counts());
        Self { info, shape, counts, starts, cut, from: 0, to: counts[shape.loops.len()] }
    }

    /// A part of the executions, counted from 0.
    #[must_use]
    pub fn part(&self, range: Range<u64>) -> Self {
        let within = |index: u64| self.from.saturating_add(index).min(self.to);
        let from = within(range.start);
        Self { from, to: within(range.end).max(from), ..*self }
    }

    /// How many executions of blocks the nest stands for.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.to - self.from
    }

    /// Calls `f` with blocks and how often each is executed. A block may come several times, and
    /// not in the order of execution.
    pub fn for_each_times(&self, f: impl FnMut(BlockId, u64)) {
        self.turns(true, &mut Times(f));
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
    pub fn for_each_block(&self, f: impl FnMut(BlockId)) {
        self.turns(true, &mut Blocks(f));
    }

    /// The steps of the last iteration of a loop.
    fn last(&self, at: usize) -> &[NestStep] {
        let l = &self.shape.loops[at];
        &l.body[..if at == 0 && self.cut { 0 } else { l.last }]
    }

    fn size(&self, step: NestStep) -> u64 {
        match step {
            NestStep::Block(..) => 1,
            NestStep::Loop(inner) => self.counts[self.shape.loops.len() + inner],
        }
    }
}
