//! Analyses that group the losses of [`Account`] in their own way: the same processors, the same
//! total, the same sums.

use anyhow::Result;
use serde::{Serialize, Serializer};
use taskgraph::BlockCounts;

use crate::account::{self, Account};
use crate::analysis::{Analysis, Graph, Order, Reads, Task};
use crate::view::{Render, View};

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

/// The result: the account can still be completed, so it is grouped last.
#[derive(Clone, Debug)]
pub struct Report<G>(account::Report, G);

impl<G: Grouping> Analysis for Grouped<G> {
    const NAME: &'static str = G::NAME;
    const ABOUT: &'static str = G::ABOUT;
    const ORDER: Order = Account::ORDER;
    const READS: Reads = Account::READS;
    type Config = G::Options;
    type Shard = account::Shard;
    type Report = Report<G>;

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

    fn complete(report: &mut Report<G>, graph: &Graph) -> Result<()> {
        Account::complete(&mut report.0, graph)
    }

    fn finish(self, graph: &Graph, shards: Vec<account::Shard>) -> Result<Report<G>> {
        Ok(Report(self.0.finish(graph, shards)?, self.1))
    }
}

impl<G: Grouping> Report<G> {
    /// The account, grouped.
    pub fn grouped(&self) -> G::Report {
        self.1.report(&self.0)
    }
}

impl<G: Grouping> Serialize for Report<G> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.grouped().serialize(to)
    }
}

impl<G: Grouping> Render for Report<G> {
    fn view(&self) -> View {
        self.grouped().view()
    }
}
