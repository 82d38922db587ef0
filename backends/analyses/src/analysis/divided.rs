//! Analyses that several processes can share.

use std::cmp::Ordering;

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use taskgraph::{BlockCounts, Reader};

use super::driver::{FRAMES, positions};
use super::pieces::pieces;
use super::{Analysis, Graph, Moment, Order, Share, Task};

/// Does a worker's share of an analysis: of the tasks or of their contents, a part that is
/// neighbours in the order of the graph, so that few frames are decoded by several workers.
///
/// # Errors
/// When the work cannot be divided so, or the graph cannot be read.
pub fn run_share<A: Divided>(mut analysis: A, graph: &Graph, share: Share) -> Result<A::Found> {
    analysis.only()?;
    // What is divided of a task: its spans, or nothing.
    let weights = |task: &Task<'_>| -> Vec<u64> {
        match A::STRETCHES {
            true => task.spans().iter().map(|span| span.records.into()).collect(),
            false => vec![task.block_count().saturating_add(1)],
        }
    };
    let (mut all, mut so_far) = (0, 0);
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        all += weights(task).iter().sum::<u64>();
    }
    let positions = positions(graph);
    let order = analysis.order();
    let (mut shards, mut places) = (Vec::new(), FxHashMap::default());
    let reader = Reader::new(graph, FRAMES);
    let mut reader = match A::STRETCHES {
        true => reader,
        false => reader.with_nests().without_synchronisation(),
    };
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        let mut own = 0..0;
        for (at, weight) in (1..).zip(weights(task)) {
            match Share::of_place(so_far, all, share.of).cmp(&share.index) {
                Ordering::Less => own = at..at,
                Ordering::Equal => own.end = at,
                Ordering::Greater => {}
            }
            so_far += weight;
        }
        if own.is_empty() {
            continue;
        }
        let id = task.id().context;
        let apart = match order {
            Order::PerExecutor => Some(task.executor().get()),
            Order::PerContext => Some(id.get()),
            _ => None,
        };
        let at = *places.entry(apart).or_insert_with(|| {
            shards.push(analysis.shard());
            shards.len() - 1
        });
        let shard = &mut shards[at];
        analysis.task(shard, task)?;
        let first = Moment::first(positions.get(&id).copied().unwrap_or(0), task);
        let spans = if A::STRETCHES { own } else { 0..task.spans().len() };
        reader.open_spans(task, spans);
        while let Some(batch) = reader.next()? {
            pieces(&analysis, shard, first, batch, &mut None)?;
        }
        analysis.done(shard, task, &BlockCounts::new())?;
    }
    shards.iter_mut().for_each(|shard| analysis.seal(shard));
    Ok(analysis.found(shards))
}

/// An analysis that several processes can share.
pub trait Divided: Analysis {
    /// What a worker found.
    type Found: Serialize + DeserializeOwned;
    /// Whether the contents of a task may be divided, too; the moments of pieces then say only the
    /// context.
    const STRETCHES: bool = false;

    /// Leaves only a share of the work to do.
    ///
    /// # Errors
    /// When the work cannot be divided so.
    fn only(&mut self) -> Result<()>;

    /// What the shards of one process found.
    fn found(&self, shards: Vec<Self::Shard>) -> Self::Found;

    /// The result of what all workers found, in the order of their shares, for an analysis that has
    /// all of the work.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn join(self, graph: &Graph, parts: Vec<Self::Found>) -> Result<Self::Report>;
}
