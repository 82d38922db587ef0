//! The critical path itself, strand by strand, and what makes it change from one context to
//! another.

use anyhow::Result;
use serde::Serialize;
use taskgraph::TaskKind;

use super::strands::{At, Strand, Strands, weight};
use crate::analysis::{Cause, Graph, Task, cause_of};

/// A part of the path within one context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// The context.
    pub context: u32,
    /// First task.
    pub first: String,
    /// Last task.
    pub last: String,
    /// Number of tasks.
    pub tasks: u64,
    /// Work of these tasks.
    pub ns: u64,
    /// When the first task started in the run.
    pub start_ns: u64,
    /// When the last task ended in the run.
    pub end_ns: u64,
    /// What led here from another context ([`CrossingRow::cause`]); absent at the start of the
    /// path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entered_by: Option<&'static str>,
}

/// Changes of the path from one context to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CrossingRow {
    /// Why the path changes: `create`, or what the context that it changes to waited for.
    pub cause: &'static str,
    pub count: u64,
    /// How long the contexts that the path changes to had waited there.
    pub waited_ns: u64,
}

/// One longest path of the graph, first task first.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// The parts of the path, each within one context.
    pub(super) stretches: Vec<Stretch>,
    /// How often the path changed context, by cause.
    pub(super) crossings: Vec<CrossingRow>,
    /// Whether each strand is on the path.
    pub(super) has: Vec<bool>,
    /// The operations that the path leaves at their beginning, and their time, which is not on the
    /// path.
    pub(super) left: Vec<(TaskKind, u64)>,
}

impl Path {
    /// Walks the longest path from its end to its start.
    pub(super) fn of(graph: &Graph, strands: &Strands) -> Result<Self> {
        let mut path = Self { has: vec![false; strands.len()], ..Self::default() };
        let Some(mut at) = strands.last() else {
            return Ok(path);
        };
        path.open(&graph.task(strands.strand(at).last())?);
        let mut late = 0;
        loop {
            path.add(at, strands.strand(at), late);
            late = 0;
            let first = strands.strand(at).first;
            let Some(previous) = strands.critical_predecessor(at) else {
                path.close(&graph.task(first)?);
                break;
            };
            let strand = strands.strand(previous);
            if strand.first.context != first.context {
                let (before, task) = (graph.task(strand.last())?, graph.task(first)?);
                path.close(&task);
                path.cross(&before, &task);
                path.open(&before);
                path.left.push((before.kind(), strand.late));
                late = strand.late;
            }
            at = previous;
        }
        path.stretches.reverse();
        Ok(path)
    }

    fn open(&mut self, last: &Task<'_>) {
        self.stretches.push(Stretch {
            context: last.id().context.get(),
            last: last.id().to_string(),
            end_ns: last.end_ns(),
            ..Stretch::default()
        });
    }

    fn close(&mut self, first: &Task<'_>) {
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.start_ns = first.start_ns();
            stretch.first = first.id().to_string();
        }
    }

    /// Adds a strand of which the path leaves out the last `late` ns.
    fn add(&mut self, at: At, strand: &Strand, late: u64) {
        self.has[at as usize] = true;
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.tasks += u64::from(strand.tasks);
            stretch.ns += strand.weight - late;
        }
    }

    fn cross(&mut self, before: &Task<'_>, task: &Task<'_>) {
        let cause = cause(before, task);
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.entered_by = Some(cause);
        }
        // A barrier belongs to one of its contexts, so going in and coming out is one crossing.
        if before.kind() == TaskKind::Barrier {
            return;
        }
        let waited_ns = if weight(task) == 0 { task.duration_ns() } else { 0 };
        match self.crossings.iter_mut().find(|row| row.cause == cause) {
            Some(row) => (row.count, row.waited_ns) = (row.count + 1, row.waited_ns + waited_ns),
            None => self.crossings.push(CrossingRow { cause, count: 1, waited_ns }),
        }
    }
}

/// What the edge from `before` to `task`, of another context, stands for.
fn cause(before: &Task<'_>, task: &Task<'_>) -> &'static str {
    match (before.kind(), task.kind()) {
        (_, TaskKind::Join) => Cause::Join.name(),
        (TaskKind::Barrier, _) | (_, TaskKind::Barrier) => Cause::Barrier.name(),
        (TaskKind::Create, _) => "create",
        _ => cause_of(task).unwrap_or(Cause::Other).name(),
    }
}
