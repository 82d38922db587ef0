//! Graphs: shortest paths, components and a spanning tree.

use petgraph::algo::{dijkstra, min_spanning_tree, tarjan_scc};
use petgraph::data::Element;
use petgraph::graph::{DiGraph, NodeIndex};

fn main() {
    let n = 2000u32;
    let next = |i: u32, k: u32| (i * 17 + k * 101 + 1) % n;
    let edges = (0..n).flat_map(|i| (1..4).map(move |k| (i, next(i, k), (i * k) % 23 + 1)));
    let graph = DiGraph::<(), u32>::from_edges(edges);
    let far = dijkstra(&graph, NodeIndex::new(0), None, |e| *e.weight());
    println!(
        "{} reached, {} at most",
        far.len(),
        far.values().max().unwrap()
    );
    println!("{} components", tarjan_scc(&graph).len());
    let weight = |e| {
        if let Element::Edge { weight, .. } = e {
            weight
        } else {
            0
        }
    };
    println!(
        "tree of {}",
        min_spanning_tree(&graph).map(weight).sum::<u32>()
    );
}
