//! Analyses that several processes can share.

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Analysis, Graph, Order, Part, Share, Visitor as _, run_all};

/// Does a worker's share of an analysis.
///
/// # Errors
/// When the work cannot be divided so, or the graph cannot be read.
pub fn run_share<A: Divided>(mut analysis: A, graph: &Graph, share: Share) -> Result<A::Found> {
    analysis.only(share)?;
    let mut part = Part::new(analysis);
    if part.order() == Order::Any {
        part.leave_tasks_to_others(share, graph);
    }
    run_all(graph, &mut [&mut part])?;
    let (analysis, shards) = part.into_parts();
    analysis.found(graph, shards)
}

/// An analysis that several processes can share.
pub trait Divided: Analysis {
    /// What a worker found.
    type Found: Serialize + DeserializeOwned;

    /// Leaves only a share of the work to do. An analysis of tasks in any order ([`Order::Any`]) sees only its share of
    /// the tasks and need not do anything.
    ///
    /// # Errors
    /// When the work cannot be divided so.
    fn only(&mut self, _share: Share) -> Result<()> {
        Ok(())
    }

    /// What the shards of one process found.
    ///
    /// # Errors
    /// When the process could not do its share.
    fn found(&self, graph: &Graph, shards: Vec<Self::Shard>) -> Result<Self::Found>;

    /// The result of what all workers found, in the order of their shares, for an analysis that has all of the work.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn join(self, graph: &Graph, parts: Vec<Self::Found>) -> Result<Self::Report>;
}
