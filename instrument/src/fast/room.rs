//! On which cut edges the buffer's room is checked.
//!
//! Every fresh start of a segment has a check, since the callee or caller may have left the cursor
//! at the limit. A cut edge needs a check only where a cycle has no fresh start, or where a path
//! from check to check would write more than the slack.

use std::collections::HashSet;

use contech_trace::abi::{ID_BYTES, MAX_UNCHECKED};

use super::graph::Graph;
use super::paths::{Paths, To};
use crate::graphs;

/// The cut edges with a check: source and target node.
pub(crate) fn checked_cuts(graph: &Graph<'_>, paths: &Paths) -> HashSet<(usize, usize)> {
    let n = graph.nodes.len();
    let mut checked = HashSet::new();
    let component = components(graph, paths);
    for (from, edges) in paths.edges.iter().enumerate() {
        for e in edges {
            if let To::Cut(to) = e.to
                && !graph.nodes[from].fresh
                && !graph.nodes[to].fresh
                && component[from] == component[to]
            {
                checked.insert((from, to));
            }
        }
    }
    // The most bytes written since the last check, at the start of each node. Every cycle now has a
    // check and no check is taken back, so the values settle.
    let mut before = vec![0usize; n];
    loop {
        let mut changed = false;
        for from in 0..n {
            let written = if graph.nodes[from].fresh { 0 } else { before[from] } + paths.own[from];
            for e in &paths.edges[from] {
                let (to, bytes) = match e.to {
                    To::Node(to) => (to, written),
                    To::Cut(to) if checked.contains(&(from, to)) => (to, 0),
                    To::Cut(to) => (to, written + ID_BYTES),
                    To::End | To::Leave(_) | To::LoopCut(_) => continue,
                };
                // The rest of a segment fits into the slack, and so does the buffer it is in.
                if matches!(e.to, To::Cut(_)) && bytes > MAX_UNCHECKED / 4 {
                    changed |= checked.insert((from, to));
                } else if bytes > before[to] {
                    before[to] = bytes;
                    changed = true;
                }
            }
        }
        if !changed {
            return checked;
        }
    }
}

/// The strongly connected components of the graph without its fresh starts.
fn components(graph: &Graph<'_>, paths: &Paths) -> Vec<usize> {
    let edges = paths.edges.iter().enumerate().flat_map(|(from, edges)| {
        edges.iter().filter_map(move |e| match e.to {
            To::Node(to) | To::Cut(to) => Some((from, to)),
            _ => None,
        })
    });
    let fresh = |n: usize| graph.nodes[n].fresh;
    let rest = edges.filter(|(from, to)| !fresh(*from) && !fresh(*to));
    graphs::components(graph.nodes.len(), rest)
}
