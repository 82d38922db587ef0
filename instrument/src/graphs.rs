//! Orders and components of the graphs of blocks and of nodes.

use std::collections::HashSet;
use std::hash::Hash;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The nodes that are reachable from the roots, in reverse post-order.
pub(crate) fn reverse_post_order<N: Copy + Eq + Hash>(
    roots: impl IntoIterator<Item = N>,
    targets: impl Fn(N) -> Vec<N>,
) -> Vec<N> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    for root in roots.into_iter() {
        if !seen.insert(root) {
            continue;
        }
        let mut stack = vec![(root, targets(root).into_iter())];
        while let Some((node, rest)) = stack.last_mut() {
            match rest.next() {
                Some(next) if seen.insert(next) => stack.push((next, targets(next).into_iter())),
                Some(_) => {}
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

/// The strongly connected component of each of `n` nodes.
pub(crate) fn components(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut component = vec![0; n];
    for (c, nodes) in tarjan_scc(&graph(n, edges)).into_iter().enumerate() {
        for node in nodes {
            component[node.index()] = c;
        }
    }
    component
}

/// A graph of `n` nodes.
pub(crate) fn graph(
    n: usize,
    edges: impl Iterator<Item = (usize, usize)>,
) -> DiGraph<(), (), usize> {
    let mut graph = DiGraph::with_capacity(n, 0);
    for _ in 0..n {
        graph.add_node(());
    }
    for (from, to) in edges {
        graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
    }
    graph
}
