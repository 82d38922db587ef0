//! A graph, or a time window of it, as a petgraph directed graph in memory, for existing graph algorithms.

use std::collections::HashMap;

pub use petgraph;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::TaskKind;
use crate::error::{ErrorKind, Result};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::task::Task;

/// A task as a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DagTask {
    /// The id of the task.
    pub id: TaskId,
    /// The kind of the task.
    pub kind: TaskKind,
    /// Start, nanoseconds since the start of the run.
    pub start_ns: u64,
    /// End, nanoseconds since the start of the run.
    pub end_ns: u64,
}

/// What kind of edge it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DagEdge {
    /// The edge leads to the next task of the same context.
    Program,
    /// The edge is stored.
    Sync,
}

/// Tasks and the edges between them; nodes are added in breadth-first order.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    /// The petgraph graph.
    pub graph: DiGraph<DagTask, DagEdge>,
    /// The node of each task.
    pub nodes: HashMap<TaskId, NodeIndex>,
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// The whole graph in memory.
    ///
    /// # Errors
    /// The graph has more than `limit` tasks, or is damaged.
    pub fn dag(&self, limit: usize) -> Result<Dag> {
        let tasks = self.totals.tasks;
        if tasks > limit as u64 {
            return self.in_file(Err(ErrorKind::TooManyTasks {
                tasks,
                limit: limit as u64,
            }
            .into()));
        }
        self.collect_dag(limit, |_| true)
    }

    /// The tasks that run at some time from `from_ns` up to but not including `to_ns`, and the edges between them. A
    /// task of no duration counts if it starts in the window.
    ///
    /// # Errors
    /// The window has more than `limit` tasks, or the graph is damaged.
    pub fn dag_between(&self, from_ns: u64, to_ns: u64, limit: usize) -> Result<Dag> {
        self.collect_dag(limit, |t| t.runs_within(&(from_ns..to_ns)))
    }

    fn collect_dag(&self, limit: usize, wanted: impl Fn(&Task<'_, D>) -> bool) -> Result<Dag> {
        let mut dag = Dag::default();
        for task in self.tasks() {
            let task = task?;
            if !wanted(&task) {
                continue;
            }
            if dag.graph.node_count() >= limit {
                let tasks = limit as u64 + 1;
                return self.in_file(Err(ErrorKind::TooManyTasks {
                    tasks,
                    limit: limit as u64,
                }
                .into()));
            }
            let id = task.id();
            let (kind, start_ns, end_ns) = (task.kind(), task.start_ns(), task.end_ns());
            let node = dag.graph.add_node(DagTask {
                id,
                kind,
                start_ns,
                end_ns,
            });
            dag.nodes.insert(id, node);
            // The order is topological, so the predecessors are already in the graph.
            let previous = id.previous().and_then(|p| dag.nodes.get(&p));
            if let Some(&from) = previous {
                dag.graph.add_edge(from, node, DagEdge::Program);
            }
            for d in task.stored_dependencies() {
                if let Some(&from) = dag.nodes.get(d) {
                    dag.graph.add_edge(from, node, DagEdge::Sync);
                }
            }
        }
        Ok(dag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::GraphBuilder;

    fn graph() -> TaskGraph<Vec<u8>> {
        let mut b = GraphBuilder::new();
        let main = b.context("main");
        b.work(main, 0, 10, |_| {});
        let child = b.create(main);
        b.work(child, 10, 60, |_| {});
        b.work(main, 10, 40, |_| {});
        b.join(main, child);
        b.work(main, 60, 70, |_| {});
        b.build().unwrap()
    }

    #[test]
    fn the_dag_has_program_order_and_stored_edges() {
        let dag = graph().dag(6).unwrap();
        assert_eq!((dag.graph.node_count(), dag.graph.edge_count()), (6, 6));
        assert!(!petgraph::algo::is_cyclic_directed(&dag.graph));
        let edge = |from: &str, to: &str| {
            let node = |id: &str| dag.nodes[&id.parse::<TaskId>().unwrap()];
            dag.graph
                .find_edge(node(from), node(to))
                .map(|e| dag.graph[e])
        };
        assert_eq!(edge("0:0", "0:1"), Some(DagEdge::Program));
        assert_eq!(edge("0:1", "1:0"), Some(DagEdge::Sync));
        assert_eq!(edge("1:0", "0:3"), Some(DagEdge::Sync));
        assert_eq!(edge("0:0", "1:0"), None);
    }

    #[test]
    fn a_window_has_the_tasks_running_in_it() {
        let dag = graph().dag_between(20, 41, 10).unwrap();
        let mut ids: Vec<_> = dag.graph.node_weights().map(|t| t.id.to_string()).collect();
        ids.sort();
        assert_eq!(ids, ["0:2", "0:3", "1:0"]);
    }

    #[test]
    fn more_tasks_than_the_limit_are_refused() {
        let graph = graph();
        assert!(graph.dag(5).unwrap_err().to_string().contains("limit of 5"));
        assert!(graph.dag_between(20, 41, 2).is_err());
    }
}
