//! Analyses that several processes can share.

use std::cmp::Ordering;

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use taskgraph::Reader;

use super::driver::{FRAMES, positions};
use super::pieces::pieces;
use super::{Analysis, Graph, Moment, Order, Part, Share, Visitor as _, run_all};

/// Does a worker's share of an analysis.
///
/// # Errors
/// When the work cannot be divided so, or the graph cannot be read.
pub fn run_share<A: Divided>(mut analysis: A, graph: &Graph, share: Share) -> Result<A::Found> {
    analysis.only(share)?;
    if A::STRETCHES {
        let shards = stretch(&analysis, graph, share)?;
        return analysis.found(graph, shards);
    }
    let mut part = Part::new(analysis);
    if part.order() == Order::Any {
        part.leave_tasks_to_others(share, graph);
    }
    run_all(graph, &mut [&mut part])?;
    let (analysis, shards) = part.into_parts();
    analysis.found(graph, shards)
}

/// Feeds an analysis a stretch of the contents of all tasks, from the start of a frame to that of
/// another, and no tasks. Returns its shards, by context or executor, or one of all.
fn stretch<A: Analysis>(analysis: &A, graph: &Graph, share: Share) -> Result<Vec<A::Shard>> {
    let (mut all, mut so_far) = (0, 0);
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        for span in task.spans() {
            all += u64::from(span.records);
        }
    }
    let positions = positions(graph);
    let order = analysis.order();
    let (mut shards, mut places) = (Vec::new(), FxHashMap::default());
    let mut windows = analysis.windows();
    let mut reader = Reader::new(graph, FRAMES);
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        let mut spans = 0..0;
        for (at, span) in (1..).zip(task.spans()) {
            match Share::of_place(so_far, all, share.of).cmp(&share.index) {
                Ordering::Less => spans = at..at,
                Ordering::Equal => spans.end = at,
                Ordering::Greater => {}
            }
            so_far += u64::from(span.records);
        }
        if spans.is_empty() {
            continue;
        }
        let id = task.id().context;
        let own = match order {
            Order::PerExecutor => Some(task.executor().get()),
            Order::PerContext => Some(id.get()),
            _ => None,
        };
        let at = *places.entry(own).or_insert_with(|| {
            shards.push(analysis.shard());
            shards.len() - 1
        });
        let first = Moment::first(positions.get(&id).copied().unwrap_or(0), task);
        reader.open_spans(task, spans);
        while let Some(batch) = reader.next()? {
            pieces(analysis, &mut shards[at], first, batch, &mut windows)?;
        }
    }
    shards.iter_mut().for_each(|shard| analysis.seal(shard));
    Ok(shards)
}

/// An analysis that several processes can share.
pub trait Divided: Analysis {
    /// What a worker found.
    type Found: Serialize + DeserializeOwned;
    /// Whether each worker sees a stretch of the contents of all tasks, whose moments say only the
    /// context, and no tasks.
    const STRETCHES: bool = false;

    /// Leaves only a share of the work to do. An analysis of tasks in any order ([`Order::Any`])
    /// sees only its share of the tasks and need not do anything.
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

    /// The result of what all workers found, in the order of their shares, for an analysis that has
    /// all of the work.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn join(self, graph: &Graph, parts: Vec<Self::Found>) -> Result<Self::Report>;
}
