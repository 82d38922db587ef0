//! Which loops are recorded as a whole.
//!
//! A loop collapses when it has no boundary call, every iteration takes the same path and one edge
//! leaves the loop. If moreover every operand in it follows from what is known before the loop,
//! nothing at all is recorded inside. Otherwise (innermost loops only) its leaves are recorded in
//! each iteration and the trip count at the end, but no path ids.

use super::Operands;
use super::graph::Graph;
use super::scev::{Analysis, Sym};
use crate::memop::Value;

/// Longest body of a collapsed loop, in nodes.
const MAX_BODY: usize = 512;
/// Deepest nest of collapsed loops that the table takes.
const MAX_NEST: u32 = 15;

/// How a loop is recorded: as a whole, or by iteration (each records a path id), for this reason.
pub(crate) type Shape = Result<Collapsed, &'static str>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collapsed {
    /// The nodes of one iteration; an inner collapsed loop is represented by its header.
    pub(crate) body: Vec<usize>,
    /// The nodes of the last iteration.
    pub(crate) last: usize,
    /// The edge that leaves the loop, and the source of the back edge.
    pub(crate) exit: (usize, usize),
    pub(crate) latch: usize,
    /// The trip count as an expression; `None` if it is recorded.
    pub(crate) count: Option<Sym>,
    /// Whether leaves are recorded in each iteration.
    pub(crate) records: bool,
    nest: u32,
}

/// Decides for every loop; `operands` are the expressions of each node's operands.
pub(crate) fn shapes(graph: &Graph, analysis: &Analysis<'_>, operands: &[Operands]) -> Vec<Shape> {
    let mut shapes = vec![Err("contains a call"); graph.loops.len()];
    // Inner loops come last in the list and are decided first.
    for l in (0..graph.loops.len()).rev() {
        if graph.tracked(l) {
            shapes[l] = shape(graph, analysis, operands, &shapes, l);
        }
    }
    shapes
}

fn shape(
    graph: &Graph,
    analysis: &Analysis<'_>,
    operands: &[Operands],
    shapes: &[Shape],
    l: usize,
) -> Shape {
    let children: Vec<usize> =
        (l + 1..graph.loops.len()).filter(|c| graph.loops[*c].parent == Some(l)).collect();
    let mut nest = 1;
    for c in &children {
        match &shapes[*c] {
            Ok(c) if c.count.is_some() && !c.records && c.nest < MAX_NEST => {
                nest = nest.max(c.nest + 1);
            }
            _ => return Err("an inner loop is recorded by iteration"),
        }
    }
    let mut c = path(graph, shapes, l)?;
    c.nest = nest;
    let outside =
        |source: &Value| graph.place(source.operand()).is_none_or(|p| !graph.contains(l, p.node));
    let invariant = |sym: &Sym| sym.leaves.iter().all(|(source, _)| outside(source));
    let free =
        graph.loops[l].members.iter().all(|n| operands[*n].iter().all(|(sym, _)| invariant(sym)))
            && children
                .iter()
                .filter_map(|i| shapes[*i].as_ref().ok())
                .all(|c| c.count.as_ref().is_some_and(invariant));
    if !free && !children.is_empty() {
        return Err("addresses that do not follow from what is known before it");
    }
    c.records = !free;
    if free {
        // The count may depend on an outer loop's iterations; the outer loop then checks it.
        c.count = analysis.count(l);
    }
    Ok(c)
}

/// Follows the only path of an iteration.
fn path(graph: &Graph, shapes: &[Shape], l: usize) -> Shape {
    let header = graph.loops[l].header;
    let mut body = vec![header];
    let mut exit = None;
    let mut covered = 0;
    let mut at = header;
    loop {
        let (mut inside, mut outside) = (None, None);
        let inner = inner_at(graph, shapes, l, at);
        let successors: Vec<usize> = match inner {
            Some((i, c)) => {
                covered += graph.loops[i].members.len();
                vec![c.exit.1]
            }
            None => {
                covered += 1;
                graph.nodes[at].successors.clone()
            }
        };
        for s in successors {
            let slot = if graph.contains(l, s) { &mut inside } else { &mut outside };
            if slot.replace(s).is_some() {
                return Err("several paths");
            }
        }
        if let Some(to) = outside
            && (inner.is_some() || exit.replace((at, to, body.len())).is_some())
        {
            return Err("several exits");
        }
        let Some(next) = inside else {
            return Err("several paths");
        };
        if next == header {
            break;
        }
        if body.len() >= MAX_BODY || body.contains(&next) {
            return Err("a long or tangled body");
        }
        body.push(next);
        at = next;
    }
    let (from, to, last) = exit.ok_or("no exit")?;
    if covered != graph.loops[l].members.len() {
        return Err("several paths");
    }
    Ok(Collapsed { body, last, exit: (from, to), latch: at, count: None, records: false, nest: 1 })
}

fn inner_at<'s>(
    graph: &Graph,
    shapes: &'s [Shape],
    outer: usize,
    node: usize,
) -> Option<(usize, &'s Collapsed)> {
    let i = graph.header_of[node].filter(|i| graph.loops[*i].parent == Some(outer))?;
    Some((i, shapes[i].as_ref().ok()?))
}
