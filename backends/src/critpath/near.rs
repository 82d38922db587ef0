//! Near-critical paths: the longest detours from the critical path that have no task in common.
//!
//! A detour joins the critical path at one of its tasks by an edge that the path does not take, or ends the run by
//! itself. Going backwards from there along the deciding predecessors leads back to the critical path, or to a start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use serde::Serialize;
use taskgraph::TaskId;

use super::table::{At, CRITICAL, DETOUR_SHIFT, Link, Table};
use super::walk::Crossing;
use crate::analysis::Graph;

/// The most detours that the marks can tell apart.
pub(super) const MOST: u32 = 63;
/// Edges into the critical path that are remembered for each requested detour, since most of them overlap with longer
/// ones.
const CANDIDATES: usize = 256;

/// A detour: its longest path, and the part of it that is off the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detour {
    /// Length of the longest path that takes it.
    pub length_ns: u64,
    /// How much shorter that path is than the span.
    pub slack_ns: u64,
    /// Task of the critical path where the detour leaves it; absent if the detour starts by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<String>,
    /// Task of the critical path where the detour joins it again; absent if the detour ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joins: Option<String>,
    /// The kind of edge by which the detour joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joins_by: Option<Crossing>,
    /// First task off the critical path.
    pub first: String,
    /// Last task off the critical path.
    pub last: String,
    /// Number of tasks off the critical path.
    pub tasks: u64,
    /// Work off the critical path.
    pub ns: u64,
    /// The function with most of that work; empty if no code was recorded.
    pub function: String,
}

/// Where detours could join the path, of which the longest are kept: the length of the path, the last task of the
/// detour, the first task of the path behind it, and their links.
#[derive(Debug, Default)]
struct Candidates {
    most: usize,
    heap: BinaryHeap<Reverse<Candidate>>,
}

type Candidate = (u64, TaskId, Option<TaskId>, At);

impl Candidates {
    /// All links off the critical path that something on it depends on, or that end by themselves.
    fn of(table: &Table, most: u32) -> Self {
        let mut all = Self {
            most: most as usize * CANDIDATES,
            heap: BinaryHeap::new(),
        };
        let critical = |at: &At| table.mark(*at) & CRITICAL != 0;
        for joins in table.joins().filter(critical) {
            let link = table.link(joins);
            for before in table.predecessors(joins).filter(|at| !critical(at)) {
                let length = table.link(before).finish() + link.rest();
                all.add((length, table.link(before).last(), Some(link.first), before));
            }
        }
        let ends = table
            .context_ends()
            .filter(|(at, open)| *open && !critical(at));
        for last in ends.map(|(at, _)| at) {
            let link = table.link(last);
            all.add((link.finish(), link.last(), None, last));
        }
        all
    }

    fn add(&mut self, candidate: Candidate) {
        self.heap.push(Reverse(candidate));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }
}

/// The longest `most` detours without common tasks. Marks their links.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn detours(graph: &Graph, table: &mut Table, most: u32) -> Result<Vec<Detour>> {
    let mut detours: Vec<Detour> = Vec::new();
    if most == 0 {
        return Ok(detours);
    }
    let candidates = Candidates::of(table, most).heap;
    let mut ordered: Vec<_> = candidates.into_iter().map(|entry| entry.0).collect();
    ordered.sort_by_key(|&(length, before, joins, _)| (Reverse(length), before, joins));
    for (length_ns, last, joins, mut at) in ordered {
        if detours.len() >= most.min(MOST) as usize {
            break;
        }
        if taken(table.mark(at)) {
            continue;
        }
        let mark = u8::try_from(detours.len() + 1).unwrap_or(u8::MAX) << DETOUR_SHIFT;
        let mut detour = Detour {
            length_ns,
            slack_ns: table.span_ns().saturating_sub(length_ns),
            leaves: None,
            joins: joins.map(|id| id.to_string()),
            joins_by: None,
            first: String::new(),
            last: last.to_string(),
            tasks: 0,
            ns: 0,
            function: String::new(),
        };
        if let Some(joins) = joins {
            detour.joins_by = Some(Crossing::of(&graph.task(last)?, &graph.task(joins)?));
        }
        loop {
            table.set_mark(at, mark);
            let Link {
                first,
                tasks,
                weight,
                ..
            } = *table.link(at);
            detour.first = first.to_string();
            detour.tasks += u64::from(tasks);
            detour.ns += weight;
            let Some(before) = table.critical_predecessor(at) else {
                break;
            };
            if taken(table.mark(before)) {
                detour.leaves = Some(table.link(before).last().to_string());
                break;
            }
            at = before;
        }
        detours.push(detour);
    }
    Ok(detours)
}

/// Whether a link is on the critical path or already on a detour.
fn taken(mark: u8) -> bool {
    mark & CRITICAL != 0 || mark >> DETOUR_SHIFT != 0
}
