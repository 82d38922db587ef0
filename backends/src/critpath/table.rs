//! Earliest finish and longest rest of every task: the two numbers that answer all questions about the critical path.
//!
//! They are kept for all tasks at once, 16 bytes each and one for marks: 10^7 tasks take 170 MB. The forward pass
//! streams the breadth-first order. The backward pass walks every context from its last task to its first, and needs
//! only a cursor for each context besides the table (critical-path method: Kelley and Walker, 1959).

use std::collections::BinaryHeap;

use anyhow::{Context as _, Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use crate::analysis::{Graph, State, Task, state_of};

/// Mark of the tasks of the critical path.
pub(super) const CRITICAL: u8 = 1;
/// Mark of the tasks of the observed chain.
pub(super) const OBSERVED: u8 = 2;
/// Detour `i` (from 0) has the mark `(i + 1) << DETOUR_SHIFT`.
pub(super) const DETOUR_SHIFT: u8 = 2;

/// Nanoseconds of a task that count as work: all of a running task, none of a waiting one, as in `parallelism`.
#[must_use]
pub fn weight(task: &Task<'_>) -> u64 {
    match state_of(task) {
        State::Running => task.duration_ns(),
        State::Waiting(_) => 0,
    }
}

/// Finish and rest of one task, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// Length of the longest path that ends with this task, itself included.
    finish: u64,
    /// Length of the longest path that starts with this task, itself included.
    rest: u64,
}

/// Finish and rest of every task of a graph.
#[derive(Debug, Default)]
pub struct Table {
    place: FxHashMap<ContextId, usize>,
    contexts: Vec<ContextId>,
    /// The entries by context, then by sequence number. It grows with the tasks that are read, not with the number
    /// that a file claims.
    columns: Vec<Vec<Entry>>,
    marks: Vec<Vec<u8>>,
    span_ns: u64,
    work_ns: u64,
    tasks: u64,
    /// The task whose finish is the span.
    last: Option<TaskId>,
}

impl Table {
    /// Schedules every task of `graph` as early and as late as its edges allow.
    ///
    /// # Errors
    /// When the graph cannot be read, or its order and edges contradict each other.
    pub fn new(graph: &Graph) -> Result<Self> {
        let mut table = Self::default();
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            table.schedule(task)?;
        }
        table.marks = table
            .columns
            .iter()
            .map(|column| vec![0; column.len()])
            .collect();
        table.rests(graph)?;
        Ok(table)
    }

    /// Longest path of the graph, nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.span_ns
    }

    /// Work of all tasks, nanoseconds.
    #[must_use]
    pub fn work_ns(&self) -> u64 {
        self.work_ns
    }

    /// Number of tasks.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The last task of the longest path; `None` in a graph without tasks.
    #[must_use]
    pub fn last(&self) -> Option<TaskId> {
        self.last
    }

    /// The last task of every context.
    pub fn context_ends(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.contexts
            .iter()
            .zip(&self.columns)
            .filter_map(|(&context, column)| {
                let seq = u32::try_from(column.len().checked_sub(1)?).ok()?;
                Some(TaskId::new(context, seq))
            })
    }

    /// Longest path that ends with task `id`.
    #[must_use]
    pub fn finish(&self, id: TaskId) -> u64 {
        self.entry(id).map_or(0, |entry| entry.finish)
    }

    /// Longest path that starts with task `id`.
    #[must_use]
    pub fn rest(&self, id: TaskId) -> u64 {
        self.entry(id).map_or(0, |entry| entry.rest)
    }

    /// How much longer task `id`, which weighs `weight`, could take without a longer span.
    #[must_use]
    pub fn slack(&self, id: TaskId, weight: u64) -> u64 {
        let through = self.finish(id) + self.rest(id).saturating_sub(weight);
        self.span_ns.saturating_sub(through)
    }

    /// The mark of a task: 0 until [`Table::set_mark`].
    #[must_use]
    pub fn mark(&self, id: TaskId) -> u8 {
        let column = self.place.get(&id.context).map(|&at| &self.marks[at]);
        column
            .and_then(|marks| marks.get(id.seq as usize))
            .copied()
            .unwrap_or(0)
    }

    /// Sets bits of the mark of a task.
    pub fn set_mark(&mut self, id: TaskId, bits: u8) {
        let column = self.place.get(&id.context).map(|&at| &mut self.marks[at]);
        if let Some(mark) = column.and_then(|marks| marks.get_mut(id.seq as usize)) {
            *mark |= bits;
        }
    }

    /// The predecessor that decides when `task` can start; if several do, the one in the same context.
    ///
    /// # Errors
    /// When the edges cannot be read.
    pub fn critical_predecessor(&self, task: &Task<'_>) -> Result<Option<TaskId>> {
        let id = task.id();
        let Some(start) = self.finish(id).checked_sub(weight(task)) else {
            return Ok(None);
        };
        if let Some(before) = id.previous().filter(|&before| self.finish(before) == start) {
            return Ok(Some(before));
        }
        let mut others = task.stored_dependencies().iter().copied();
        Ok(others.find(|&before| self.finish(before) == start))
    }

    fn entry(&self, id: TaskId) -> Option<&Entry> {
        self.columns[*self.place.get(&id.context)?].get(id.seq as usize)
    }

    fn schedule(&mut self, task: &Task<'_>) -> Result<()> {
        let id = task.id();
        let mut start = 0;
        for &before in task.stored_dependencies() {
            let Some(entry) = self.entry(before) else {
                bail!(
                    "task {id} comes before {before}, which it depends on; contech-backend verify names the fault"
                );
            };
            start = start.max(entry.finish);
        }
        let next = self.columns.len();
        let at = *self.place.entry(id.context).or_insert(next);
        if at == next {
            self.contexts.push(id.context);
            self.columns.push(Vec::new());
        }
        let column = &mut self.columns[at];
        if column.len() != id.seq as usize {
            bail!(
                "task {id} is not the next of its context; contech-backend verify names the fault"
            );
        }
        let weight = weight(task);
        let finish = start
            .max(column.last().map_or(0, |before| before.finish))
            .saturating_add(weight);
        column.push(Entry { finish, rest: 0 });
        self.tasks += 1;
        self.work_ns = self.work_ns.saturating_add(weight);
        // The last of several equal ones has no successors, so the path goes on to an end of the graph.
        if finish >= self.span_ns {
            (self.span_ns, self.last) = (finish, Some(id));
        }
        Ok(())
    }

    /// Fills `rest`. A task is done when all its successors are. A context stops at a task that is not ready, and
    /// goes on when the context that it waits for has come far enough back.
    fn rests(&mut self, graph: &Graph) -> Result<()> {
        let mut open: Vec<usize> = self.columns.iter().map(Vec::len).collect();
        let mut waiters: Vec<BinaryHeap<(usize, usize)>> = vec![BinaryHeap::new(); open.len()];
        let mut runnable: Vec<usize> = (0..open.len()).collect();
        while let Some(at) = runnable.pop() {
            let mut here: Option<Task<'_>> = None;
            while open[at] > 0 {
                let seq = open[at] - 1;
                let id = TaskId::new(
                    self.contexts[at],
                    u32::try_from(seq).context("sequence number")?,
                );
                let task = match &mut here {
                    Some(here) => {
                        here.go_to(id)?;
                        here
                    }
                    None => here.insert(graph.task(id)?),
                };
                let mut after = self.columns[at].get(seq + 1).map_or(0, |next| next.rest);
                let mut blocked = None;
                for next in task.dependents()? {
                    let Some(&other) = self.place.get(&next.context) else {
                        continue;
                    };
                    if open[other] > next.seq as usize {
                        blocked = Some((other, next.seq as usize));
                        break;
                    }
                    after = after.max(self.rest(next));
                }
                if let Some((other, needed)) = blocked {
                    waiters[other].push((needed, at));
                    break;
                }
                self.columns[at][seq].rest = after.saturating_add(weight(task));
                open[at] = seq;
                while waiters[at].peek().is_some_and(|&(needed, _)| needed >= seq) {
                    runnable.extend(waiters[at].pop().map(|(_, waiter)| waiter));
                }
            }
        }
        if open.iter().any(|&left| left > 0) {
            bail!("the edges of the graph make a cycle; contech-backend verify names the fault");
        }
        Ok(())
    }
}
