//! Who executes what, as far as a pass must know it before it begins.

use anyhow::Result;
use taskgraph::{ContextId, Mmap, TaskKind, Walk};

use super::{Graph, Moment};

/// Means that several do, or nobody.
const NO_ONE: u32 = u32::MAX;

/// The contexts and the executors of a graph.
#[derive(Debug)]
pub(super) struct Executors {
    /// For each context, by position, the executor of its first task with actions, and when the
    /// first of them is.
    first: Vec<(u32, u64)>,
    /// For each executor, the only context, by position, that it executes.
    only: Vec<u32>,
    /// For each executor, how many of its tasks are still to come.
    left: Vec<u64>,
    /// Whether a context has several executors.
    moved: bool,
}

impl Executors {
    /// Looks at all tasks of a graph, without their contents.
    pub(super) fn of(graph: &Graph) -> Result<Self> {
        let mut this = Self {
            first: Vec::new(),
            only: vec![NO_ONE; graph.executor_count()],
            left: vec![0; graph.executor_count()],
            moved: false,
        };
        let mut tasks = graph.walk_of(ContextId::default());
        for (position, context) in (0..).zip(graph.contexts()) {
            tasks.go_to(context.id);
            this.context(&mut tasks, position)?;
        }
        Ok(this)
    }

    fn context(&mut self, tasks: &mut Walk<'_, Mmap>, position: u32) -> Result<()> {
        let (mut first, mut acts) = (NO_ONE, None);
        while let Some(task) = tasks.next()? {
            let executor = task.executor();
            let (number, at) = (executor.get(), executor.index());
            if self.left[at] == 0 {
                self.only[at] = position;
            } else if self.only[at] != position {
                self.only[at] = NO_ONE;
            }
            self.left[at] += 1;
            if first == NO_ONE {
                first = number;
            }
            self.moved |= first != number;
            let has_actions = task.kind() == TaskKind::Work && !task.spans().is_empty();
            if has_actions && acts.is_none() {
                acts = Some((number, Moment::first(position, task).time()));
            }
        }
        self.first.push(acts.unwrap_or((first, 0)));
        Ok(())
    }

    /// Who executes a context first, and when the context is due that is first seen at `first_ns`;
    /// `None` if it has no tasks.
    pub(super) fn first(&self, position: u32, first_ns: u64) -> Option<(u32, u64)> {
        let (executor, acts_ns) = *self.first.get(position as usize)?;
        match executor {
            NO_ONE => None,
            alone if self.is_alone(alone) => Some((alone, first_ns)),
            // An executor of several contexts may be with another one until then.
            shared => Some((shared, acts_ns)),
        }
    }

    /// Whether each context has an executor of its own.
    pub(super) fn are_contexts(&self) -> bool {
        !self.moved
            && self.only.iter().zip(&self.left).all(|(&only, &left)| only != NO_ONE || left == 0)
    }

    /// Whether an executor executes one context only.
    pub(super) fn is_alone(&self, executor: u32) -> bool {
        self.only[executor as usize] != NO_ONE
    }

    /// Notes that an executor has executed a task. Returns whether that was its last one.
    pub(super) fn done(&mut self, executor: u32) -> bool {
        let left = &mut self.left[executor as usize];
        *left = left.saturating_sub(1);
        *left == 0
    }
}
