//! Checks a whole graph: the file, the tables, and the rules of task graphs.

mod edges;
mod order;
mod tasks;
mod units;

use crate::error::{Error, ErrorKind, Result};
use crate::graph::TaskGraph;
use crate::meta::Summary;

/// What [`TaskGraph::verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Contexts.
    pub contexts: u64,
    /// Tasks.
    pub tasks: u64,
    /// Stored edges.
    pub edges: u64,
    /// Frames.
    pub frames: u64,
    /// Actions in all frames.
    pub actions: u64,
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Memory accesses.
    pub accesses: u64,
}

fn fault(place: impl std::fmt::Display, fault: impl Into<String>) -> Error {
    ErrorKind::Inconsistent { place: place.to_string(), fault: fault.into() }.into()
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Checks everything, in time O(file): the checksum of every unit; that tasks are dense and
    /// sorted, and that each context has as many as it says; times; that each task has an executor;
    /// that every action belongs to exactly one task, and that each task's totals are those of its
    /// actions; that incoming and outgoing edges are the same and lead to tasks that exist; that
    /// the order has every task once, after its predecessors (so the graph is acyclic); and the
    /// totals.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn verify(&self) -> Result<Verified> {
        self.in_file(self.check())
    }

    fn check(&self) -> Result<Verified> {
        let mut seen = Verified::default();
        let stored = self.check_units(&mut seen)?;
        let mut summary = Summary::default();
        let incoming = self.check_tasks(&mut seen, &mut summary, stored)?;
        let outgoing = self.check_dependents()?;
        if incoming != outgoing {
            return Err(self.find_edge_fault()?);
        }
        seen.edges = incoming.edges;
        self.check_order(seen.tasks)?;
        summary.contexts = seen.contexts;
        summary.edges = seen.edges;
        summary.accesses = seen.accesses;
        summary.functions = self.info().functions.len() as u64;
        if summary != *self.summary() {
            let detail = format!("the totals are {:?}, the graph has {summary:?}", self.summary());
            return Err(fault("run metadata", detail));
        }
        let totals = [self.totals.tasks, self.totals.edges, self.totals.frames];
        if totals != [seen.tasks, seen.edges, seen.frames] {
            return Err(fault(
                "footer",
                format!("tasks, edges, frames {totals:?}, the graph has {seen:?}"),
            ));
        }
        Ok(seen)
    }
}
