//! Analyses that several processes can share.

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Analysis, Graph};

/// A worker's share: one of so many.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// From 0 on.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

/// An analysis that several processes can share.
pub trait Divided: Analysis {
    /// What a worker found.
    type Found: Serialize + DeserializeOwned;

    /// Leaves only a share of the work to do.
    ///
    /// # Errors
    /// When the work cannot be divided so.
    fn only(&mut self, share: Share) -> Result<()>;

    /// What the shards of one process found.
    ///
    /// # Errors
    /// When the process could not do its share.
    fn found(&self, shards: Vec<Self::Shard>) -> Result<Self::Found>;

    /// The result of what all workers found, in the order of their shares, for an analysis that has all of the work.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn join(self, graph: &Graph, parts: Vec<Self::Found>) -> Result<Self::Report>;
}
