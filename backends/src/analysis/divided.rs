//! Analyses that several processes can share.

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Analysis, Graph, Order, Part, Visitor as _, run_all};

/// A worker's share: one of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// From 0 on.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Share {
    /// Everything.
    pub const ALL: Self = Self { index: 0, of: 1 };

    /// Log2 of the bytes of a page: neighbours in memory are in one share.
    pub const PAGE_SHIFT: u32 = 14;

    /// Whether a page of memory, by number, is in this share.
    #[inline]
    #[must_use]
    pub fn has_page(self, page: u64) -> bool {
        // This is Fibonacci hashing, which puts neighbours into different shares. The hash is a fraction of 2^64.
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (u128::from(hash) * u128::from(self.of)) >> 64 == u128::from(self.index)
    }

    /// Its two halves.
    #[must_use]
    pub fn halves(self) -> [Self; 2] {
        [0, 1].map(|low| Self {
            index: self.index << 1 | low,
            of: self.of << 1,
        })
    }

    /// The share, of so many, of what comes after `before` of all.
    pub(super) fn of_place(before: u64, all: u64, of: u32) -> u32 {
        let place = u128::from(before) * u128::from(of) / u128::from(all.max(1));
        u32::try_from(place).unwrap_or(of).min(of - 1)
    }
}

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
