//! Analyses that group the losses of [`Account`] in their own way: the same processors, the same
//! total, the same sums.

use anyhow::Result;
use serde::Serialize;
use taskgraph::BlockCounts;

use crate::account::{self, Account};
use crate::analysis::{Analysis, Graph, Order, Reads, Task};
use crate::view::Render;

/// A way to group the account of a run.
pub trait Grouping: Sized + Send + Sync {
    /// The word on the command line.
    const NAME: &'static str;
    /// One line for `--list` and `--help`.
    const ABOUT: &'static str;
    /// Parsed command-line options.
    type Options;
    /// The result.
    type Report: Serialize + Render;

    /// The account to make, and how to group it.
    ///
    /// # Errors
    /// When the options make no sense, or the graph cannot be read.
    fn new(options: Self::Options, graph: &Graph) -> Result<(Account, Self)>;

    /// Groups an account.
    fn report(&self, account: &account::Report) -> Self::Report;
}

/// The analysis of a graph that a [`Grouping`] makes.
#[derive(Debug)]
pub struct Grouped<G>(Account, G);

impl<G: Grouping> Analysis for Grouped<G> {
    const NAME: &'static str = G::NAME;
    const ABOUT: &'static str = G::ABOUT;
    const ORDER: Order = Account::ORDER;
    const READS: Reads = Account::READS;
    type Config = G::Options;
    type Shard = account::Shard;
    type Report = G::Report;

    fn new(options: G::Options, graph: &Graph) -> Result<Self> {
        let (account, grouping) = G::new(options, graph)?;
        Ok(Self(account, grouping))
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.0.prepare(graph)
    }

    fn shard(&self) -> account::Shard {
        self.0.shard()
    }

    fn done(
        &self,
        shard: &mut account::Shard,
        task: &Task<'_>,
        counts: &BlockCounts,
    ) -> Result<()> {
        self.0.done(shard, task, counts)
    }

    /// The account is complete: only a command of its own groups it so.
    fn finish(self, graph: &Graph, shards: Vec<account::Shard>) -> Result<G::Report> {
        let mut account = self.0.finish(graph, shards)?;
        Account::complete(&mut account, graph)?;
        Ok(self.1.report(&account))
    }
}
