//! Where a function checks that the buffer has room: at entry, after boundary calls, on back edges,
//! and where a path without any of these would write more than the slack.

use std::collections::HashSet;

use contech_trace::abi::{ID_BYTES, MAX_UNCHECKED};

use super::graph::Graph;
use super::paths::{Paths, To};
use crate::graphs;
use crate::plan::FunctionPlan;

/// The places of a function.
#[derive(Debug)]
pub(crate) struct Checks {
    /// The nodes that begin with a check.
    pub(crate) before: HashSet<usize>,
    /// Those with a check at their end.
    pub(crate) behind: HashSet<usize>,
    /// The cut edges (source and target node) with one.
    pub(crate) edges: HashSet<(usize, usize)>,
}

/// An edge over which the cursor stays known.
struct Way {
    from: usize,
    to: usize,
    /// If a check may stand there: the bytes written first.
    open: Option<usize>,
    /// Every cycle has such an edge.
    turns: bool,
}

impl Checks {
    /// Every fresh start of a segment has a check, since the callee or caller may have left the
    /// cursor at the limit.
    pub(crate) fn of_paths(graph: &Graph, paths: &Paths) -> Self {
        let edges = paths.edges.iter().enumerate();
        let edges = edges.flat_map(|(from, edges)| edges.iter().map(move |e| (from, e.to)));
        let ways = edges.filter_map(|(from, to)| match to {
            To::Node(to) => Some(Way { from, to, open: None, turns: false }),
            To::Cut(to) => Some(Way { from, to, open: Some(ID_BYTES), turns: true }),
            To::End | To::Leave(_) | To::LoopCut(_) => None,
        });
        let edges = checked(graph, &ways.collect::<Vec<_>>(), &paths.own);
        Checks { before: begins(graph).collect(), behind: HashSet::new(), edges }
    }

    /// The same where each piece is a segment.
    pub(crate) fn of_pieces(graph: &Graph, plan: &FunctionPlan<'_>, own: &[usize]) -> Self {
        let nodes = graph.nodes.iter().enumerate();
        let edges =
            nodes.flat_map(|(from, node)| node.successors.iter().map(move |to| (from, *to)));
        let ways = edges.map(|(from, to)| Way { from, to, open: Some(0), turns: to <= from });
        let edges = checked(graph, &ways.collect::<Vec<_>>(), own);
        // A piece that writes nothing has no code at its end.
        let behind = |&(from, to): &(usize, usize)| to <= from && !plan.pieces[from].silent;
        let (behind, before): (Vec<_>, Vec<_>) = edges.into_iter().partition(behind);
        Checks {
            before: begins(graph).chain(before.iter().map(|(_, to)| *to)).collect(),
            behind: behind.iter().map(|(from, _)| *from).collect(),
            edges: HashSet::new(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.before.len() + self.behind.len() + self.edges.len()
    }
}

/// The nodes that begin with a check, however they are entered.
fn begins(graph: &Graph) -> impl Iterator<Item = usize> {
    let nodes = graph.nodes.iter().enumerate();
    nodes.filter(|(_, node)| node.fresh && !node.dead).map(|(n, _)| n)
}

/// The edges with a check. One needs a check only where a cycle has no fresh start, or where a path
/// from check to check would write more than the slack. `own` is what each node writes.
fn checked(graph: &Graph, ways: &[Way], own: &[usize]) -> HashSet<(usize, usize)> {
    let fresh = |n: usize| graph.nodes[n].fresh;
    let within = |way: &&Way| !fresh(way.from) && !fresh(way.to);
    let rest = ways.iter().filter(within);
    let component = graphs::components(own.len(), rest.clone().map(|way| (way.from, way.to)));
    let cycles = rest.filter(|way| way.turns && component[way.from] == component[way.to]);
    let mut checked: HashSet<_> = cycles.map(|way| (way.from, way.to)).collect();
    // The most bytes written since the last check, at the start of each node. Every cycle now has a
    // check and no check is taken back, so the values settle.
    let mut before = vec![0usize; own.len()];
    loop {
        let mut changed = false;
        for &Way { from, to, open, .. } in ways {
            let begun = if fresh(from) { 0 } else { before[from] };
            let bytes = match open {
                Some(_) if checked.contains(&(from, to)) => 0,
                _ => begun + own[from] + open.unwrap_or(0),
            };
            // The rest of a segment fits into the slack, and so does the buffer it is in.
            if open.is_some() && bytes > MAX_UNCHECKED / 4 {
                changed |= checked.insert((from, to));
            } else if bytes > before[to] {
                before[to] = bytes;
                changed = true;
            }
        }
        if !changed {
            return checked;
        }
    }
}
