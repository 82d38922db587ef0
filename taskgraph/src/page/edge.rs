//! Edge pages: the stored successors of tasks. (The task pages have the stored predecessors.)

use std::ops::Range;

use crate::codec::MAX_PAGE;
use crate::error::Result;
use crate::id::{ContextId, TaskId};
use crate::page::{FULL_EDGES, IdPredictor, join_columns, split_columns, unpack};
use crate::wire::put_varint;

/// A page is full when it has this many tasks, or [`FULL_EDGES`].
const FULL_TASKS: usize = 1024;

const WHAT: &str = "edge page";

/// Columns: context step and sequence (step) of the tasks; number, context and sequence of their
/// successors.
const COLUMNS: usize = 5;

/// Collects the tasks of a page.
#[derive(Debug, Default)]
pub(crate) struct DependentsPageWriter {
    columns: [Vec<u8>; COLUMNS],
    first: Option<TaskId>,
    last: TaskId,
    tasks: usize,
    edges: usize,
    ids: IdPredictor,
}

impl DependentsPageWriter {
    pub(crate) fn is_full(&self) -> bool {
        self.tasks >= FULL_TASKS || self.edges >= FULL_EDGES
    }

    /// Appends a task after all earlier ones.
    pub(crate) fn push(&mut self, from: TaskId, to: &[TaskId]) {
        let [steps, seqs, counts, to_contexts, to_seqs] = &mut self.columns;
        let step = from.context.get().wrapping_sub(self.last.context.get());
        put_varint(steps, u64::from(step));
        let base = if step == 0 { self.last.seq } else { 0 };
        put_varint(seqs, u64::from(from.seq.wrapping_sub(base)));
        put_varint(counts, to.len() as u64);
        for &id in to {
            self.ids.put(id, to_contexts, to_seqs);
        }
        self.first.get_or_insert(from);
        self.last = from;
        self.tasks += 1;
        self.edges += to.len();
    }

    /// The first task and the raw bytes of the page, if it has any; the writer is then empty for
    /// the next one.
    pub(crate) fn finish(&mut self) -> Option<(TaskId, Vec<u8>)> {
        let first = self.first?;
        let raw = join_columns(&mut self.columns);
        *self = Self { columns: std::mem::take(&mut self.columns), ..Self::default() };
        Some((first, raw))
    }
}

/// A decoded page.
#[derive(Debug, Default)]
pub(crate) struct DependentsPage {
    tasks: Vec<(TaskId, Range<usize>)>,
    edges: Vec<TaskId>,
}

impl DependentsPage {
    /// The stored successors of a task of the page.
    pub(crate) fn edges(&self, at: usize) -> &[TaskId] {
        let range = self.tasks.get(at).map(|task| task.1.clone());
        range.and_then(|range| self.edges.get(range)).unwrap_or(&[])
    }

    /// The tasks from one to another, with their places in the page.
    pub(crate) fn within(&self, from: TaskId, to: TaskId) -> impl Iterator<Item = (usize, TaskId)> {
        let first = self.tasks.partition_point(|task| task.0 < from);
        let tasks = self.tasks.iter().map(|task| task.0).enumerate();
        tasks.skip(first).take_while(move |task| task.1 <= to)
    }

    /// All tasks of the page with their successors.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TaskId, &[TaskId])> {
        let ids = self.tasks.iter().map(|task| task.0);
        ids.enumerate().map(|(at, id)| (id, self.edges(at)))
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        size_of::<(TaskId, Range<usize>)>() * self.tasks.len()
            + size_of::<TaskId>() * self.edges.len()
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self> {
        let raw = unpack(WHAT, payload, MAX_PAGE)?;
        let columns: [_; COLUMNS] = split_columns(WHAT, &raw)?;
        let [mut steps, mut seqs, mut counts, mut to_contexts, mut to_seqs] = columns;
        let mut page = Self::default();
        let mut ids = IdPredictor::default();
        let mut last = TaskId::default();
        while steps.remaining() > 0 {
            let step = steps.varint32()?;
            let base = if step == 0 { last.seq } else { 0 };
            let context = last.context.get().checked_add(step);
            let seq = base.checked_add(seqs.varint32()?);
            let (Some(context), Some(seq)) = (context, seq) else {
                return Err(steps.error("its tasks do not ascend"));
            };
            let id = TaskId::new(ContextId::new(context), seq);
            if !page.tasks.is_empty() && id <= last {
                return Err(steps.error("its tasks do not ascend"));
            }
            last = id;
            let first = page.edges.len();
            for _ in 0..counts.count(to_contexts.remaining())? {
                page.edges.push(ids.get(&mut to_contexts, &mut to_seqs)?);
            }
            page.tasks.push((id, first..page.edges.len()));
        }
        for column in [seqs, counts, to_contexts, to_seqs] {
            column.end()?;
        }
        Ok(page)
    }
}
