//! Earliest finish and longest rest of every task: the two numbers that answer all questions about the critical path.
//!
//! They are kept for all tasks at once, 16 bytes each and one for marks: 10^7 tasks take 170 MB. The forward pass
//! streams the breadth-first order, and it is the only one that reads the graph: it notes the weights of tasks, the edges
//! between contexts and where the order changes from one context to another, so that the way back is one loop over
//! columns (critical-path method: Kelley and Walker, 1959).

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId, TaskKind};

use crate::analysis::{Graph, State, Task, state_of};

/// Mark of the tasks of the critical path.
pub(super) const CRITICAL: u8 = 1;
/// Mark of the tasks of the observed chain.
pub(super) const OBSERVED: u8 = 2;
/// Detour `i` (from 0) has the mark `(i + 1) << DETOUR_SHIFT`.
pub(super) const DETOUR_SHIFT: u8 = 2;

/// While the table is made, a mark is the kind of the task and these bits.
const KIND: u8 = 7;
/// It has stored predecessors, or stored successors.
const JOINS: u8 = 8;
const AWAITED: u8 = 16;
/// It is on the critical path. [`Table::rests`] makes it [`CRITICAL`].
const ON_PATH: u8 = 128;
const ON_PATH_SHIFT: u32 = ON_PATH.trailing_zeros() - CRITICAL.trailing_zeros();

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
    /// Length of the longest path that starts with this task, itself included. Until [`Table::rests`] it is the
    /// weight of the task.
    rest: u64,
}

/// A task as a part of a path, while the table is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnPath {
    pub(super) id: TaskId,
    pub(super) kind: TaskKind,
    pub(super) weight: u64,
    /// Whether it has stored predecessors.
    pub(super) joins: bool,
}

/// What the forward pass notes for the way back.
#[derive(Debug, Default)]
struct Course {
    /// The places of contexts, each with the number of its tasks that follow one another in the order.
    turns: Vec<(usize, u32)>,
    /// Stored edges in the order of their ends: the end, the start.
    edges: Vec<(TaskId, TaskId)>,
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
    course: Course,
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
        let mut table = Self::forward(graph)?;
        table.rests();
        Ok(table)
    }

    /// Schedules every task of `graph` as early as its edges allow. [`Table::rests`] completes the table.
    ///
    /// # Errors
    /// When the graph cannot be read, or its order and edges contradict each other.
    pub(super) fn forward(graph: &Graph) -> Result<Self> {
        let mut table = Self::default();
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            table.schedule(task)?;
        }
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

    /// How much longer task `id`, which weighs `weight`, could take without a longer span; and its mark.
    pub fn slack_and_mark(&self, id: TaskId, weight: u64) -> (u64, u8) {
        let (at, seq) = (self.place.get(&id.context), id.seq as usize);
        let found = at.and_then(|&at| self.columns[at].get(seq).zip(self.marks[at].get(seq)));
        let (entry, mark) = found.map_or((Entry::default(), 0), |(entry, mark)| (*entry, *mark));
        let through = entry.finish + entry.rest.saturating_sub(weight);
        (self.span_ns.saturating_sub(through), mark)
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

    /// Goes back from a task as long as the predecessor in its context decides when the next one can start, and puts
    /// all these tasks on the critical path. Returns the first one. The table is not complete yet.
    pub(super) fn back(&mut self, last: TaskId, mut each: impl FnMut(OnPath)) -> TaskId {
        let Some(&at) = self.place.get(&last.context) else {
            return last;
        };
        let (column, marks) = (&self.columns[at], &mut self.marks[at]);
        let mut id = last;
        while let (Some(entry), Some(mark)) =
            (column.get(id.seq as usize), marks.get_mut(id.seq as usize))
        {
            *mark |= ON_PATH;
            each(OnPath {
                id,
                kind: TaskKind::from_u8(*mark & KIND).unwrap_or_default(),
                weight: entry.rest,
                joins: *mark & JOINS != 0,
            });
            let start = entry.finish.checked_sub(entry.rest);
            let finish = |before: &TaskId| column.get(before.seq as usize).map(|b| b.finish);
            let before = id.previous().filter(|before| finish(before) == start);
            match before {
                Some(before) if start.is_some() => id = before,
                _ => break,
            }
        }
        id
    }

    fn entry(&self, id: TaskId) -> Option<&Entry> {
        self.columns[*self.place.get(&id.context)?].get(id.seq as usize)
    }

    fn schedule(&mut self, task: &Task<'_>) -> Result<()> {
        let id = task.id();
        let mut start = 0;
        let mut mark = task.kind() as u8;
        for &before in task.stored_dependencies() {
            let place = self.place.get(&before.context).copied();
            let place = place.filter(|&at| self.columns[at].len() > before.seq as usize);
            let Some(place) = place else {
                bail!(
                    "task {id} comes before {before}, which it depends on; contech-backend verify names the fault"
                );
            };
            start = start.max(self.columns[place][before.seq as usize].finish);
            self.marks[place][before.seq as usize] |= AWAITED;
            self.course.edges.push((id, before));
            mark |= JOINS;
        }
        let next = self.columns.len();
        let at = *self.place.entry(id.context).or_insert(next);
        if at == next {
            self.contexts.push(id.context);
            self.columns.push(Vec::new());
            self.marks.push(Vec::new());
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
        column.push(Entry {
            finish,
            rest: weight,
        });
        self.marks[at].push(mark);
        match self.course.turns.last_mut() {
            Some((turn, tasks)) if *turn == at => *tasks += 1,
            _ => self.course.turns.push((at, 1)),
        }
        self.tasks += 1;
        self.work_ns = self.work_ns.saturating_add(weight);
        // The last of several equal ones has no successors, so the path goes on to an end of the graph.
        if finish >= self.span_ns {
            (self.span_ns, self.last) = (finish, Some(id));
        }
        Ok(())
    }

    /// Completes the table: goes through the order from its end, so that each task comes after all its successors.
    pub(super) fn rests(&mut self) {
        let Course { turns, edges } = std::mem::take(&mut self.course);
        let mut edges = edges.into_iter().rev().peekable();
        let mut ends: Vec<usize> = self.columns.iter().map(Vec::len).collect();
        // What must come after tasks that others wait for.
        let mut awaited: FxHashMap<TaskId, u64> = FxHashMap::default();
        for (at, tasks) in turns.into_iter().rev() {
            let (context, end) = (self.contexts[at], ends[at]);
            let column = &mut self.columns[at];
            let mut after = column.get(end).map_or(0, |next| next.rest);
            let first = end.saturating_sub(tasks as usize);
            ends[at] = first;
            let own = column[first..end].iter_mut().zip(&self.marks[at][first..]);
            for (place, (entry, mark)) in own.enumerate().rev() {
                let seq = u32::try_from(first + place).unwrap_or(u32::MAX);
                if mark & AWAITED != 0
                    && let Some(others) = awaited.remove(&TaskId::new(context, seq))
                {
                    after = after.max(others);
                }
                after = after.saturating_add(entry.rest);
                entry.rest = after;
                if mark & JOINS != 0 {
                    let id = TaskId::new(context, seq);
                    while let Some((_, before)) = edges.next_if(|edge| edge.0 == id) {
                        let known = awaited.entry(before).or_default();
                        *known = after.max(*known);
                    }
                }
            }
        }
        for mark in self.marks.iter_mut().flatten() {
            *mark >>= ON_PATH_SHIFT;
        }
    }
}
