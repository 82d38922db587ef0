//! The critical path itself, task by task, and what makes it change from one context to another.

use anyhow::Result;
use serde::Serialize;
use taskgraph::TaskKind;

use super::table::{CRITICAL, Link, Table, weight};
use crate::analysis::{Cause, Graph, Task, cause_of};

/// Why a path goes from a task to a task of another context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Crossing {
    /// The task created the context.
    Create,
    /// A joined context ended.
    Join,
    /// The last context arrived at a barrier.
    Barrier,
    /// A lock was handed over.
    Lock,
    /// A condition variable was signalled.
    Condition,
    /// A semaphore was posted.
    Semaphore,
    /// A one-time initialisation ended.
    Once,
    /// A message arrived.
    Message,
    /// A sleep, or a wait for input, was over.
    Sleep,
    /// Any other reason.
    Other,
}

impl Crossing {
    /// What the edge from `before` to `task` stands for.
    #[must_use]
    pub fn of(before: &Task<'_>, task: &Task<'_>) -> Self {
        match (before.kind(), task.kind()) {
            (_, TaskKind::Join) => Self::Join,
            (TaskKind::Barrier, _) | (_, TaskKind::Barrier) => Self::Barrier,
            (TaskKind::Create, _) => Self::Create,
            _ => cause_of(task).map_or(Self::Other, Self::from),
        }
    }

    /// The word in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Join => "join",
            Self::Barrier => "barrier",
            Self::Lock => "lock",
            Self::Condition => "condition",
            Self::Semaphore => "semaphore",
            Self::Once => "once",
            Self::Message => "message",
            Self::Sleep => "sleep",
            Self::Other => "other",
        }
    }
}

impl From<Cause> for Crossing {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Lock => Self::Lock,
            Cause::Barrier => Self::Barrier,
            Cause::Join => Self::Join,
            Cause::Condition => Self::Condition,
            Cause::Semaphore => Self::Semaphore,
            Cause::Once => Self::Once,
            Cause::Message => Self::Message,
            Cause::Call => Self::Sleep,
            _ => Self::Other,
        }
    }
}

/// A part of the path within one context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// What led here from another context; absent at the start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entered_by: Option<Crossing>,
}

/// One longest path of the graph, first task first.
#[derive(Debug, Default)]
pub struct Path {
    /// Number of tasks on the path.
    pub tasks: u64,
    /// The parts of the path, each within one context.
    pub stretches: Vec<Stretch>,
    /// How often the path changed context, by cause, and how long the contexts it changed to had waited there.
    pub crossings: Vec<(Crossing, u64, u64)>,
}

/// Walks the longest path from its end to its start and marks its links.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn walk(graph: &Graph, table: &mut Table) -> Result<Path> {
    let mut path = Path::default();
    let Some(mut at) = table.last() else {
        return Ok(path);
    };
    path.open(&graph.task(table.link(at).last())?);
    loop {
        table.set_mark(at, CRITICAL);
        let link = *table.link(at);
        path.add(&link);
        let Some(before) = table.critical_predecessor(at) else {
            path.close(&graph.task(link.first)?);
            break;
        };
        let last = table.link(before).last();
        if last.context != link.first.context {
            let (before, task) = (graph.task(last)?, graph.task(link.first)?);
            path.close(&task);
            path.cross(&before, &task);
            path.open(&before);
        }
        at = before;
    }
    path.stretches.reverse();
    Ok(path)
}

impl Path {
    fn open(&mut self, last: &Task<'_>) {
        self.stretches.push(Stretch {
            context: last.id().context.get(),
            first: String::new(),
            last: last.id().to_string(),
            tasks: 0,
            ns: 0,
            start_ns: 0,
            end_ns: last.end_ns(),
            entered_by: None,
        });
    }

    fn close(&mut self, first: &Task<'_>) {
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.start_ns = first.start_ns();
            stretch.first = first.id().to_string();
        }
    }

    fn add(&mut self, link: &Link) {
        self.tasks += u64::from(link.tasks);
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.tasks += u64::from(link.tasks);
            stretch.ns += link.weight;
        }
    }

    fn cross(&mut self, before: &Task<'_>, task: &Task<'_>) {
        let cause = Crossing::of(before, task);
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.entered_by = Some(cause);
        }
        // A barrier belongs to one of its contexts, so going in and coming out is one crossing.
        if before.kind() == TaskKind::Barrier {
            return;
        }
        let waited = if weight(task) == 0 {
            task.duration_ns()
        } else {
            0
        };
        match self.crossings.iter_mut().find(|row| row.0 == cause) {
            Some(row) => (row.1, row.2) = (row.1 + 1, row.2 + waited),
            None => self.crossings.push((cause, 1, waited)),
        }
    }
}
