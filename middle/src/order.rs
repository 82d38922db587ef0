//! The breadth-first order of a graph, ties by start time (contech.txt, section 4.2).
//!
//! Every context is a chain, so at most one task per context can be next: the order needs memory for the
//! contexts, not for the tasks. It is found before the tasks are written, because edges that a damaged trace
//! contradicts are dropped here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use crate::error::{Error, Result};
use crate::renumber::task_bits;
use crate::sorter::{Sorted, Sorter};
use crate::spill::Spill;
use crate::tape::{Tape, TapeReader};
use crate::varint::{get, get32, put};

/// What the order needs of all tasks: start and dependencies, by (context, seq).
#[derive(Debug)]
pub(crate) struct Skeleton {
    tape: Tape,
    parts: Vec<Part>,
    previous_start: u64,
}

/// The tasks of one context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) context: ContextId,
    pub(crate) tasks: u32,
    from: u64,
    to: u64,
}

impl Skeleton {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Skeleton {
            tape: Tape::new(spill, budget),
            parts: Vec::new(),
            previous_start: 0,
        }
    }

    /// Appends the next task by (context, seq).
    pub(crate) fn push(&mut self, id: TaskId, start: u64, dependencies: &[TaskId]) -> Result<()> {
        if id.seq == 0 {
            let at = self.tape.len();
            self.parts.push(Part {
                context: id.context,
                tasks: 0,
                from: at,
                to: at,
            });
            self.previous_start = 0;
        }
        let delta = start.saturating_sub(self.previous_start);
        self.previous_start = start;
        self.tape.append(|out| {
            put(out, delta);
            put(out, dependencies.len() as u64);
            for d in dependencies {
                put(out, d.context.get().into());
                put(out, d.seq.into());
            }
        })?;
        if let Some(part) = self.parts.last_mut() {
            part.to = self.tape.len();
            part.tasks += 1;
        }
        Ok(())
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Reads the tasks of a context from the first.
    fn read(&self, part: &Part) -> Cursor {
        Cursor {
            reader: TapeReader::new(part.from, part.to),
            start: 0,
            dependencies: Vec::new(),
        }
    }

    /// Reads the dependencies of all tasks; starts are of no use across contexts.
    pub(crate) fn read_all(&self) -> Cursor {
        Cursor {
            reader: TapeReader::new(0, self.tape.len()),
            start: 0,
            dependencies: Vec::new(),
        }
    }
}

/// Reading position.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    reader: TapeReader,
    start: u64,
    pub(crate) dependencies: Vec<TaskId>,
}

impl Cursor {
    /// Reads the next task; false at the end.
    pub(crate) fn next(&mut self, skeleton: &Skeleton, window: usize) -> Result<bool> {
        const NUMBER: usize = 10;
        if self.reader.is_at_end() {
            return Ok(false);
        }
        self.reader.fill(&skeleton.tape, 2 * NUMBER, window)?;
        let (bytes, at) = self.reader.parts();
        self.start = self.start.wrapping_add(get(bytes, at)?);
        let n = usize::try_from(get(bytes, at)?).map_err(|_| Error::internal("dependencies"))?;
        self.dependencies.clear();
        if n > 0 {
            self.reader.fill(&skeleton.tape, n * NUMBER, window)?;
            let (bytes, at) = self.reader.parts();
            for _ in 0..n {
                let context = ContextId::new(get32(bytes, at)?);
                self.dependencies
                    .push(TaskId::new(context, get32(bytes, at)?));
            }
        }
        Ok(true)
    }
}

/// A task that waits for one that comes after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stuck {
    pub(crate) task: TaskId,
    pub(crate) needs: TaskId,
}

/// What was found.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All tasks were emitted; these edges `[to, from]` contradict the others.
    Whole(Sorted<2>),
    /// The edges contradict each other.
    Contradiction(Stuck),
}

/// Emits all tasks in order. A contradiction ends it, or, with `drop_contradictions`, is resolved by dropping
/// the edges that the oldest waiting task waits for.
pub(crate) fn breadth_first(
    skeleton: &Skeleton,
    spill: &Arc<Spill>,
    budget: usize,
    drop_contradictions: bool,
    emit: impl FnMut(TaskId) -> Result<()>,
) -> Result<Outcome> {
    let window = (budget / 2 / skeleton.parts.len().max(1)).clamp(256, 1 << 14);
    let mut search = Search {
        skeleton,
        window,
        index: (0..)
            .zip(&skeleton.parts)
            .map(|(i, p)| (p.context, i))
            .collect(),
        heads: skeleton
            .parts
            .iter()
            .map(|p| Head::new(skeleton.read(p)))
            .collect(),
        ready: BinaryHeap::new(),
        waiting: FxHashMap::default(),
        dropped: Sorter::new(spill, budget / 2),
        emit,
    };
    for i in 0..search.heads.len() {
        search.advance(i)?;
    }
    loop {
        while let Some(Reverse((_, i))) = search.ready.pop() {
            search.emit(i)?;
        }
        let Some(oldest) = search.oldest_waiting() else {
            return Ok(Outcome::Whole(search.dropped.finish()));
        };
        if !drop_contradictions {
            return Ok(Outcome::Contradiction(search.stuck(oldest)));
        }
        search.force(oldest)?;
    }
}

/// The next task of a context.
#[derive(Debug)]
struct Head {
    cursor: Cursor,
    /// Tasks of the context that are in the order.
    emitted: u32,
    /// First dependency that is not known to be in the order.
    unmet: usize,
}

impl Head {
    fn new(cursor: Cursor) -> Self {
        Head {
            cursor,
            emitted: 0,
            unmet: 0,
        }
    }
}

struct Search<'a, F> {
    skeleton: &'a Skeleton,
    window: usize,
    index: FxHashMap<ContextId, usize>,
    heads: Vec<Head>,
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    /// Contexts by the task they wait for.
    waiting: FxHashMap<TaskId, Vec<usize>>,
    dropped: Sorter<2>,
    emit: F,
}

impl<F: FnMut(TaskId) -> Result<()>> Search<'_, F> {
    /// Emits the next task of context `i`.
    fn emit(&mut self, i: usize) -> Result<()> {
        let context = self.skeleton.parts[i].context;
        let head = &mut self.heads[i];
        let done = TaskId::new(context, head.emitted);
        head.emitted += 1;
        (self.emit)(done)?;
        self.advance(i)?;
        if !self.waiting.is_empty() {
            for waiter in self.waiting.remove(&done).unwrap_or_default() {
                self.place(waiter);
            }
        }
        Ok(())
    }

    fn advance(&mut self, i: usize) -> Result<()> {
        let head = &mut self.heads[i];
        head.unmet = 0;
        if head.cursor.next(self.skeleton, self.window)? {
            self.place(i);
        } else {
            head.cursor = Cursor::default();
        }
        Ok(())
    }

    /// Puts the head of context `i` among the ready or the waiting.
    fn place(&mut self, i: usize) {
        let head = &self.heads[i];
        let mut unmet = head.unmet;
        while let Some(&d) = head.cursor.dependencies.get(unmet) {
            let done = self
                .index
                .get(&d.context)
                .is_some_and(|j| self.heads[*j].emitted > d.seq);
            if !done {
                self.heads[i].unmet = unmet;
                self.waiting.entry(d).or_default().push(i);
                return;
            }
            unmet += 1;
        }
        self.ready.push(Reverse((head.cursor.start, i)));
    }

    fn oldest_waiting(&self) -> Option<usize> {
        let waiting = self.waiting.values().flatten();
        waiting
            .copied()
            .min_by_key(|i| (self.heads[*i].cursor.start, *i))
    }

    fn stuck(&self, i: usize) -> Stuck {
        let head = &self.heads[i];
        Stuck {
            task: TaskId::new(self.skeleton.parts[i].context, head.emitted),
            needs: head.cursor.dependencies[head.unmet],
        }
    }

    /// Drops the unmet dependencies of the next task of context `i`.
    fn force(&mut self, i: usize) -> Result<()> {
        let stuck = self.stuck(i);
        if let Some(list) = self.waiting.get_mut(&stuck.needs) {
            list.retain(|w| *w != i);
            if list.is_empty() {
                self.waiting.remove(&stuck.needs);
            }
        }
        let head = &self.heads[i];
        for d in &head.cursor.dependencies[head.unmet..] {
            let done = self
                .index
                .get(&d.context)
                .is_some_and(|j| self.heads[*j].emitted > d.seq);
            if !done {
                self.dropped.push([task_bits(stuck.task), task_bits(*d)])?;
            }
        }
        self.ready.push(Reverse((head.cursor.start, i)));
        Ok(())
    }
}
