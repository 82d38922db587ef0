//! Random graphs and the obvious answers about them, for the exactness tests of the analyses.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared by tests and an example, each of which uses a part"
)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

pub mod affine;

use std::collections::BTreeMap;

use contech_backends::analysis::{Graph, open};
use taskgraph::TaskId;
use taskgraph::builder::GraphBuilder;

/// The built graph, by way of a file as the commands read it.
pub fn graph(builder: GraphBuilder) -> Graph {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("graph.tg");
    builder.write(&path).expect("a valid graph");
    open(&path).expect("a graph just written")
}

/// All predecessors of every task.
pub fn predecessors(graph: &Graph) -> BTreeMap<TaskId, Vec<TaskId>> {
    let tasks = graph.tasks().map(|task| task.expect("readable"));
    tasks
        .map(|task| (task.id(), task.predecessors().expect("readable")))
        .collect()
}

/// For every task, the tasks that come before it by some path.
pub fn ancestors(graph: &Graph) -> BTreeMap<TaskId, std::collections::BTreeSet<TaskId>> {
    let mut all: BTreeMap<TaskId, std::collections::BTreeSet<TaskId>> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task.expect("readable");
        let mut own = std::collections::BTreeSet::new();
        for before in task.predecessors().expect("readable") {
            own.extend(all[&before].iter().copied());
            own.insert(before);
        }
        all.insert(task.id(), own);
    }
    all
}
