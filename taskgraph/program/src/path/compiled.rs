//! Path tables made ready for encoding and decoding.

use crate::id::BlockId;
use crate::path::nest::NestShape;
use crate::path::parts::{CompiledLoop, CompiledNode, Flat, NO_BLOCK};
use crate::path::value::{Value, operand_masks};
use crate::path::{Path, PathFunction, PathLoop, Step};
use crate::statics::StaticInfo;
use crate::{Counts, Layout};

/// A compiled function.
#[derive(Debug)]
pub struct CompiledFunction {
    /// Number of leaf slots.
    pub slots: usize,
    /// Nodes.
    pub nodes: Box<[CompiledNode]>,
    /// The loops; `None` stands for a plain loop.
    pub loops: Box<[Option<CompiledLoop>]>,
    /// For each loop the nest that it begins, if it is one.
    pub nests: Box<[Option<NestShape>]>,
}

impl CompiledFunction {
    /// Compiles a function that has been checked.
    #[must_use]
    pub fn new(f: &PathFunction, info: &StaticInfo, layout: &Layout) -> Self {
        let index = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let nodes: Box<[CompiledNode]> = f
            .nodes
            .iter()
            .enumerate()
            .map(|(i, n)| {
                let masks = n.block.map(|b| operand_masks(info.ops_of(b))).unwrap_or_default();
                let counts = match n.block {
                    Some(b) => layout.blocks.get(b.index()).and_then(|l| l.counts),
                    None => Some(Counts::default()),
                };
                CompiledNode {
                    block: n.block.map_or(NO_BLOCK, BlockId::get),
                    leaves: n.leaves.clone().into_boxed_slice(),
                    operands: n.operands.iter().zip(masks).map(|(e, m)| Value::new(e, m)).collect(),
                    counts,
                    collapsed: f.collapsed_at(index(i)),
                }
            })
            .collect();
        let compile = |(i, l): (usize, &PathLoop)| match l {
            PathLoop::Plain => None,
            PathLoop::Collapsed { body, last, count } => {
                let last = *last as usize;
                let has_leaves = |n: &&u32| !nodes[**n as usize].leaves.is_empty();
                Some(CompiledLoop {
                    body: body.clone().into_boxed_slice(),
                    last,
                    count: count.as_ref().map(|e| Value::new(e, u64::MAX)),
                    leafy: body.iter().filter(has_leaves).copied().collect(),
                    leafy_last: body[..last].iter().filter(has_leaves).count(),
                    flat: flatten(&nodes, index(i), body),
                    nested: has_inner(&nodes, body),
                    each: iteration_counts(&nodes, body),
                    end: iteration_counts(&nodes, &body[..last]),
                })
            }
        };
        let loops: Box<[_]> = f.loops.iter().enumerate().map(compile).collect();
        let nest = |at| NestShape::of(at, &nodes, &loops, info);
        let nests = (0..loops.len()).map(nest).collect();
        Self { slots: f.slots as usize, nodes, loops, nests }
    }
}

/// Whether the first nodes of loops are among those of a body, other than its own.
fn has_inner(nodes: &[CompiledNode], body: &[u32]) -> bool {
    let inner = |n: &u32| nodes[*n as usize].collapsed.is_some();
    body.iter().skip(1).any(inner)
}

/// What these nodes of a body count, unless inner loops are among them.
fn iteration_counts(nodes: &[CompiledNode], body: &[u32]) -> Option<Counts> {
    if has_inner(nodes, body) {
        return None;
    }
    let mut counts = body.iter().map(|n| nodes[*n as usize].counts);
    counts.try_fold(Counts::default(), |sum, c| Some(sum.plus(c?)))
}

fn flatten(nodes: &[CompiledNode], l: u32, body: &[u32]) -> Option<Flat> {
    let plain = |n: &u32| nodes[*n as usize].leaves.is_empty();
    if !body.iter().all(plain) || has_inner(nodes, body) {
        return None;
    }
    let (mut blocks, mut operands, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for n in body {
        let node = &nodes[*n as usize];
        if node.block == NO_BLOCK {
            continue;
        }
        for (k, v) in (0..).zip(&node.operands) {
            strides.push(v.stride(l)?);
            operands.push((*n, k));
        }
        blocks.push((BlockId::new(node.block), u32::try_from(operands.len()).ok()?));
    }
    Some(Flat {
        blocks: blocks.into_boxed_slice(),
        operands: operands.into_boxed_slice(),
        strides: strides.into_boxed_slice(),
    })
}

/// A compiled path.
#[derive(Debug)]
pub struct CompiledPath {
    /// The path itself.
    pub path: Path,
    /// What an execution counts outside whole iterations of its loops, if every execution counts
    /// the same and none of its loops contains another.
    pub counts: Option<Counts>,
    /// What a whole iteration of each of its loops counts, under the same conditions.
    pub each: Box<[Counts]>,
    /// Whether counts of its loops are computed.
    pub evaluates: bool,
    /// Whether one of them has inner loops.
    pub nested: bool,
    /// The steps of the path that set iteration numbers of plain loops.
    pub moves: Box<[Step]>,
    /// An execution in which each of its loops has iterations hides what its executions before
    /// left, but for these numbers.
    pub hides: bool,
}

impl CompiledPath {
    /// Compiles a path that has been checked.
    #[must_use]
    pub fn new(path: Path, f: &CompiledFunction) -> Self {
        let (mut each, mut moves) = (Vec::new(), Vec::new());
        let (mut evaluates, mut resumes, mut nested) = (false, false, false);
        let mut counts = Some(Counts::default());
        for step in &path.steps {
            let own = match *step {
                Step::Node(n) => f.nodes[n as usize].counts,
                Step::Loop { index, cut, resumed } => {
                    let Some(l) = &f.loops[index as usize] else {
                        continue;
                    };
                    resumes |= resumed;
                    evaluates |= l.count.is_some();
                    nested |= l.nested;
                    each.extend(l.each);
                    let end = if cut { Some(Counts::default()) } else { l.end };
                    l.each.and(end)
                }
                Step::Enter(_) | Step::Next(_) => {
                    moves.push(*step);
                    continue;
                }
            };
            counts = counts.zip(own).map(|(a, b)| a.plus(b));
        }
        Self {
            moves: moves.into(),
            hides: counts.is_some() && !evaluates && !resumes,
            path,
            counts,
            each: each.into(),
            evaluates,
            nested,
        }
    }
}
