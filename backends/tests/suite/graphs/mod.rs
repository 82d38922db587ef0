//! Random graphs and the obvious answers about them, for the exactness tests of the analyses.

pub(crate) mod affine;

pub(crate) use crate::samples::graph;

use std::collections::{BTreeMap, BTreeSet};

use contech_backends::analysis::Graph;

use taskgraph::TaskId;

/// All predecessors of every task.
pub(crate) fn predecessors(graph: &Graph) -> BTreeMap<TaskId, Vec<TaskId>> {
    let tasks = graph.tasks().map(|task| task.expect("readable"));
    tasks.map(|task| (task.id(), task.predecessors().expect("readable"))).collect()
}

/// For every task, the tasks that come before it by some path.
pub(crate) fn ancestors(graph: &Graph) -> BTreeMap<TaskId, BTreeSet<TaskId>> {
    let mut all: BTreeMap<TaskId, BTreeSet<TaskId>> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task.expect("readable");
        let mut own = BTreeSet::new();
        for before in task.predecessors().expect("readable") {
            own.extend(all[&before].iter().copied());
            own.insert(before);
        }
        all.insert(task.id(), own);
    }
    all
}
