//! Segments: where they start and are cut, and the numbers of their paths (Ball and Larus, MICRO
//! 1996).

use contech_trace::abi::{COUNT_BYTES, ID_BYTES};
use contech_trace::fast::{LoopStep, Start};

use super::collapse::{Collapsed, Shape};
use super::graph::Graph;
use super::index;
use crate::graphs;
use crate::plan::{FunctionPlan, Piece};

/// Most paths that one start may have.
const MAX_PATHS: u64 = 4096;
/// Most bytes a segment may write.
const MAX_BYTES: usize = 8192;

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Node(usize),
    /// The segment ends, and another starts at this node.
    Cut(usize),
    /// The segment ends, and nothing is known at this node, since an indirect branch leads there
    /// too.
    Leave(usize),
    End,
    /// The segment ends on the back edge of this loop when the buffer is full.
    LoopCut(usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Out {
    pub(crate) to: To,
    pub(crate) increment: u32,
    pub(crate) step: LoopStep,
    /// The node whose end branches there.
    pub(crate) from: usize,
}

impl Out {
    /// How many paths go on from here; `paths` has those of each node.
    fn ways(&self, paths: &[u64]) -> u64 {
        match self.to {
            To::Node(t) => paths[t],
            _ => 1,
        }
    }
}

/// What is known of the path sum at the start of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    Unreached,
    Is(u32),
    Varies,
}

/// The numbered graph.
#[derive(Debug)]
pub(crate) struct Paths {
    /// The out-edges of each node. Of the nodes within a collapsed loop only the header has any.
    pub(crate) edges: Vec<Vec<Out>>,
    /// Where segments start; the bases are relative to the function's first path.
    pub(crate) starts: Vec<Start>,
    pub(crate) sums: Vec<Sum>,
    /// The bytes that each node writes: its leaves, or for the header of a collapsed loop one
    /// iteration and the count.
    pub(crate) own: Vec<usize>,
}

impl Paths {
    /// Each piece is a segment, whose only path has the number of its block.
    pub(crate) fn naive(plan: &FunctionPlan<'_>) -> Self {
        let end = |from| Out { to: To::End, increment: 0, step: LoopStep::None, from };
        let pieces = plan.pieces.iter().enumerate();
        let edges = pieces.map(|(n, piece)| Vec::from_iter((!piece.silent).then(|| end(n))));
        Paths {
            edges: edges.collect(),
            starts: Vec::new(),
            sums: plan.pieces.iter().map(|piece| Sum::Is(piece.id)).collect(),
            own: plan.pieces.iter().map(Piece::bytes).collect(),
        }
    }

    /// The base of the start at a node.
    pub(crate) fn base(&self, node: usize, resumes: Option<usize>) -> Option<u32> {
        let same = |s: &&Start| s.node == index(node) && s.resumes == resumes.map(index);
        self.starts.iter().find(same).map(|s| s.base)
    }
}

/// Numbers the paths; `bytes` is what each node's leaves take. Returns `None` when there are too
/// many paths.
pub(crate) fn number(graph: &Graph, shapes: &[Shape], bytes: &[usize]) -> Option<Paths> {
    let n = graph.nodes.len();
    let outer = outermost(graph, shapes);
    let order = order(graph, &outer);
    let mut rank = vec![0; n];
    for (r, node) in order.iter().enumerate() {
        rank[*node] = r;
    }
    let mut edges: Vec<Vec<Out>> =
        (0..n).map(|i| out_edges(graph, shapes, &outer, &rank, i)).collect();
    let mut paths = vec![0u64; n];
    let mut size = vec![0usize; n];
    let mut owns = vec![0usize; n];
    for i in order.iter().rev().copied() {
        let own = match outer[i] {
            Some((l, c)) if graph.loops[l].header == i => {
                c.body.iter().map(|b| bytes[*b]).sum::<usize>() + COUNT_BYTES
            }
            _ => bytes[i],
        };
        owns[i] = own;
        let tail = |e: &Out| match e.to {
            To::Node(t) => size[t],
            _ => ID_BYTES,
        };
        loop {
            let total: u64 = edges[i].iter().map(|e| e.ways(&paths)).sum();
            let longest = edges[i].iter().map(tail).max().unwrap_or(0);
            let worst = edges[i]
                .iter()
                .enumerate()
                .filter_map(|(k, e)| match e.to {
                    To::Node(t) => {
                        Some((if total > MAX_PATHS { paths[t] } else { size[t] as u64 }, k, t))
                    }
                    _ => None,
                })
                .max();
            if total > MAX_PATHS || own + longest > MAX_BYTES {
                if let Some((_, k, t)) = worst {
                    edges[i][k].to = To::Cut(t);
                    continue;
                }
                if total > 1 << 20 || own + longest > MAX_BYTES {
                    return None;
                }
            }
            paths[i] = total;
            size[i] = own + longest;
            break;
        }
        // The likeliest edge gets increment 0: the one that stays in the most loops.
        let depth = |e: &Out| match e.to {
            To::Node(t) | To::Cut(t) | To::Leave(t) => graph.around(t).count(),
            To::End | To::LoopCut(_) => 0,
        };
        edges[i].sort_by_key(|e| (matches!(e.to, To::LoopCut(_)), std::cmp::Reverse(depth(e))));
        let mut sum = 0;
        for e in &mut edges[i] {
            e.increment = sum;
            sum += u32::try_from(e.ways(&paths)).ok()?;
        }
    }
    let starts = starts(graph, &edges, &paths)?;
    let sums = sums(&edges, &starts, &order);
    Some(Paths { edges, starts, sums, own: owns })
}

/// The outermost collapsed loop around each node.
pub(crate) fn outermost<'s>(
    graph: &Graph,
    shapes: &'s [Shape],
) -> Vec<Option<(usize, &'s Collapsed)>> {
    let collapsed = |l: usize| Some((l, shapes[l].as_ref().ok()?));
    let of = |node: usize| graph.around(node).filter_map(collapsed).last();
    (0..graph.nodes.len()).map(of).collect()
}

/// The nodes in reverse post-order of the segments, in which a node that ends with a call has no
/// successors. So a loop's back edge is a forward edge where every way around has a call, and only
/// edges that retreat in this order are cut.
fn order(graph: &Graph, outer: &[Option<(usize, &Collapsed)>]) -> Vec<usize> {
    let targets = |i: usize| match outer[i] {
        Some((l, c)) if graph.loops[l].header == i => vec![c.exit.1],
        Some(_) => Vec::new(),
        None => graph.nodes[i].successors.clone(),
    };
    let targets = |i: usize| {
        let mut to = targets(i);
        to.retain(|t| !graph.nodes[*t].fresh);
        to
    };
    // The nodes that no start reaches are within collapsed loops.
    let fresh = (0..graph.nodes.len()).filter(|n| graph.nodes[*n].fresh);
    graphs::reverse_post_order(fresh.chain(0..graph.nodes.len()), targets)
}

fn out_edges(
    graph: &Graph,
    shapes: &[Shape],
    outer: &[Option<(usize, &Collapsed)>],
    rank: &[usize],
    i: usize,
) -> Vec<Out> {
    let node = &graph.nodes[i];
    let end = Out { to: To::End, increment: 0, step: LoopStep::None, from: i };
    if node.dead {
        return Vec::new();
    }
    let to = |from: usize, target: usize| {
        let to = if graph.nodes[target].fresh {
            To::Leave(target)
        } else if rank[target] <= rank[i] {
            To::Cut(target)
        } else {
            To::Node(target)
        };
        Out { to, increment: 0, step: step(graph, shapes, from, target), from }
    };
    match outer[i] {
        Some((l, c)) if graph.loops[l].header == i => {
            let mut edges = vec![to(c.exit.0, c.exit.1)];
            if c.records {
                edges.push(Out { to: To::LoopCut(l), from: c.latch, ..end });
            }
            edges
        }
        Some(_) => Vec::new(),
        None if node.ends => vec![end],
        None => node.successors.iter().map(|s| to(i, *s)).collect(),
    }
}

/// What an edge does to the iteration number of a loop that is not collapsed.
fn step(graph: &Graph, shapes: &[Shape], from: usize, to: usize) -> LoopStep {
    match graph.header_of[to].filter(|l| graph.tracked(*l)) {
        Some(l) if shapes[l].is_err() => {
            if graph.contains(l, from) {
                LoopStep::Next(index(l))
            } else {
                LoopStep::Enter(index(l))
            }
        }
        _ => LoopStep::None,
    }
}

fn starts(graph: &Graph, edges: &[Vec<Out>], paths: &[u64]) -> Option<Vec<Start>> {
    let mut at: Vec<(usize, bool, Option<usize>)> = Vec::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        if node.fresh && !node.dead {
            at.push((i, true, None));
        }
    }
    for e in edges.iter().flatten() {
        match e.to {
            To::Cut(t) if !graph.nodes[t].fresh => at.push((t, false, None)),
            To::LoopCut(l) => at.push((graph.loops[l].header, false, Some(l))),
            _ => {}
        }
    }
    at.sort_unstable();
    at.dedup();
    let mut base = 0u32;
    let mut starts = Vec::with_capacity(at.len());
    for (node, fresh, resumes) in at {
        let paths = u32::try_from(paths[node]).ok()?.max(1);
        let resumes = resumes.map(index);
        starts.push(Start { node: index(node), fresh, base, paths, resumes });
        base = base.checked_add(paths)?;
    }
    Some(starts)
}

/// Finds where the path sum is a constant, and so need not be kept.
fn sums(edges: &[Vec<Out>], starts: &[Start], order: &[usize]) -> Vec<Sum> {
    let mut sums = vec![Sum::Unreached; edges.len()];
    for s in starts {
        let sum = &mut sums[s.node as usize];
        *sum = meet(*sum, Sum::Is(s.base));
    }
    for i in order.iter().copied() {
        for e in &edges[i] {
            if let To::Node(t) = e.to {
                let next = match sums[i] {
                    Sum::Is(k) => Sum::Is(k + e.increment),
                    other => other,
                };
                sums[t] = meet(sums[t], next);
            }
        }
    }
    sums
}

fn meet(a: Sum, b: Sum) -> Sum {
    match (a, b) {
        (Sum::Unreached, x) | (x, Sum::Unreached) => x,
        (Sum::Is(x), Sum::Is(y)) if x == y => a,
        _ => Sum::Varies,
    }
}
