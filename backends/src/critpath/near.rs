//! Near-critical paths: the longest detours from the critical path that have no task in common.
//!
//! A detour joins the critical path at one of its tasks by an edge that the path does not take, or ends the run by
//! itself. Going backwards from there along the deciding predecessors leads back to the critical path, or to a start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use serde::Serialize;
use taskgraph::TaskId;

use super::table::{CRITICAL, DETOUR_SHIFT, Table, weight};
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

/// The edges by which a detour could join, of which the longest are kept.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    most: usize,
    /// Length, the task before, and the task on the critical path.
    heap: BinaryHeap<Reverse<(u64, TaskId, Option<TaskId>)>>,
}

impl Candidates {
    /// Room to find `detours` detours.
    #[must_use]
    pub(super) fn new(detours: u32) -> Self {
        Self {
            most: detours as usize * CANDIDATES,
            heap: BinaryHeap::new(),
        }
    }

    /// Adds a path of `length` that goes from `before` to the critical task `joins`, or ends with `before`.
    pub(super) fn add(&mut self, length: u64, before: TaskId, joins: Option<TaskId>) {
        self.heap.push(Reverse((length, before, joins)));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }
}

/// The longest `most` detours without common tasks. Marks their tasks.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn detours(
    graph: &Graph,
    table: &mut Table,
    candidates: Candidates,
    most: u32,
) -> Result<Vec<Detour>> {
    let mut detours: Vec<Detour> = Vec::new();
    let mut ordered: Vec<_> = candidates.heap.into_iter().map(|entry| entry.0).collect();
    ordered.sort_by_key(|&(length, before, joins)| (Reverse(length), before, joins));
    for (length_ns, last, joins) in ordered {
        if detours.len() >= most.min(MOST) as usize {
            break;
        }
        if taken(table.mark(last)) {
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
        let mut task = graph.task(last)?;
        if let Some(joins) = joins {
            detour.joins_by = Some(Crossing::of(&task, &graph.task(joins)?));
        }
        loop {
            table.set_mark(task.id(), mark);
            detour.tasks += 1;
            detour.ns += weight(&task);
            let Some(before) = table.critical_predecessor(&task)? else {
                break;
            };
            if taken(table.mark(before)) {
                detour.leaves = Some(before.to_string());
                break;
            }
            task.go_to(before)?;
        }
        detour.first = task.id().to_string();
        detours.push(detour);
    }
    Ok(detours)
}

/// Whether the task is on the critical path or already on a detour.
fn taken(mark: u8) -> bool {
    mark & CRITICAL != 0 || mark >> DETOUR_SHIFT != 0
}
