//! The actions of all contexts in the order of time.
//!
//! Analyses that ask what contexts do to one another while they run at the same time read the graph in this way: task
//! by task, two long tasks would seem to run one after the other. It takes the memory of one decoded frame (about a
//! megabyte) for each context that is alive at one time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{Batch, ContextId, Mmap, Piece, Reader, TaskId, TaskKind};

use super::{Graph, Moment};

/// One context on its way through its tasks.
struct Stream<'g> {
    context: ContextId,
    number: u32,
    next: u32,
    tasks: u32,
    /// The current task, from the first task with actions to the last.
    inside: Option<Box<Inside<'g>>>,
}

/// The task that a context is in, or was in.
struct Inside<'g> {
    reader: Reader<'g, Mmap>,
    batch: Batch<'g>,
    /// Piece of the batch, and action within it.
    piece: usize,
    offset: u64,
    moment: Moment,
    /// Actions of the task that are still to come.
    left: u64,
}

/// Calls `each` with all actions of the graph. A context keeps its turn for `slice_ns` after another context would be
/// due.
///
/// # Errors
/// When the graph cannot be read, or `each` fails.
pub(super) fn by_time(
    graph: &Graph,
    slice_ns: u64,
    mut each: impl FnMut(&Moment, &Piece<'_>) -> Result<()>,
) -> Result<()> {
    let mut due = BinaryHeap::new();
    let mut streams = Vec::new();
    for (number, context) in (0..).zip(graph.contexts()) {
        due.push(Reverse((context.first_ns, number)));
        streams.push(Stream {
            context: context.id,
            number,
            next: 0,
            tasks: context.task_count,
            inside: None,
        });
    }
    while let Some(Reverse((_, number))) = due.pop() {
        let stream = &mut streams[number as usize];
        let limit = match due.peek() {
            None => Some(u64::MAX),
            // Of two contexts that are due at one time, the one with the lower number is first.
            Some(Reverse((time, other))) if number < *other => Some(time.saturating_add(slice_ns)),
            Some(Reverse((time, _))) => time.checked_sub(1).map(|t| t.saturating_add(slice_ns)),
        };
        if let Some(time) = stream.run(graph, limit, &mut each)? {
            due.push(Reverse((time, number)));
        }
    }
    Ok(())
}

impl<'g> Stream<'g> {
    /// Runs as long as the actions happen at `limit` or before. Returns the time of the next action, or `None` if
    /// there are no more.
    fn run(
        &mut self,
        graph: &'g Graph,
        limit: Option<u64>,
        each: &mut impl FnMut(&Moment, &Piece<'_>) -> Result<()>,
    ) -> Result<Option<u64>> {
        loop {
            if let Some(inside) = &mut self.inside {
                while inside.left > 0 {
                    let time = inside.moment.time();
                    if limit.is_none_or(|limit| time > limit) {
                        return Ok(Some(time));
                    }
                    let most = inside.moment.until(limit.unwrap_or(0));
                    if !inside.piece(most, each)? {
                        break;
                    }
                }
            }
            if !self.enter(graph)? {
                self.inside = None;
                return Ok(None);
            }
        }
    }

    /// Goes to the next task with actions; returns false if there is none.
    fn enter(&mut self, graph: &'g Graph) -> Result<bool> {
        while self.next < self.tasks {
            let task = graph.task(TaskId::new(self.context, self.next))?;
            self.next += 1;
            if task.kind() == TaskKind::Work && !task.spans().is_empty() {
                let inside = self.inside.get_or_insert_with(|| {
                    Box::new(Inside {
                        reader: Reader::new(graph, 1),
                        batch: Batch::default(),
                        piece: 0,
                        offset: 0,
                        moment: Moment::default(),
                        left: 0,
                    })
                });
                inside.reader.open(&task);
                inside.batch.clear();
                (inside.piece, inside.offset) = (0, 0);
                inside.moment = Moment::first(self.number, &task);
                inside.left = task.action_count();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Inside<'_> {
    /// At most so many actions of the current piece; false if the task has no more.
    fn piece(
        &mut self,
        most: u64,
        each: &mut impl FnMut(&Moment, &Piece<'_>) -> Result<()>,
    ) -> Result<bool> {
        let Some(piece) = self.batch.piece(self.piece) else {
            (self.piece, self.offset) = (0, 0);
            return Ok(self.reader.next(&mut self.batch)?);
        };
        let (from, all) = (self.offset, piece.actions());
        let to = all.min(from.saturating_add(most.min(self.left)));
        let start = self.moment;
        piece.for_each_part(from..to, |first, part| {
            each(&start.later(first - from), part)
        })?;
        self.moment = start.later(to - from);
        self.left -= to - from;
        self.offset = to;
        if to == all {
            (self.piece, self.offset) = (self.piece + 1, 0);
        }
        Ok(true)
    }
}
