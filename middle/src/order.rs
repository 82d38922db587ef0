//! The breadth-first order of a graph, ties by start time (contech.txt, section 4.2).
//!
//! Every context is a chain, so at most one task per context can be next: the order needs memory for the
//! contexts (about 100 bytes each), not for the tasks. It is found before the tasks are written, because edges that a damaged trace
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
            part.tasks += 1;
        }
        Ok(())
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Reads tasks of the `i`-th context, from the one at a place on the tape; `start` is that of the task before.
    fn read(&self, i: usize, from: u64, start: u64) -> Cursor {
        let end = self.parts.get(i + 1).map_or(self.tape.len(), |p| p.from);
        Cursor {
            reader: TapeReader::new(from, end),
            start,
            ..Cursor::default()
        }
    }

    /// Which context it is, in the order of their numbers.
    fn index(&self, context: ContextId) -> Option<usize> {
        match self.parts.get(context.index()) {
            Some(part) if part.context == context => Some(context.index()),
            _ => self
                .parts
                .binary_search_by_key(&context, |p| p.context)
                .ok(),
        }
    }

    /// Reads the dependencies of all tasks; starts are of no use across contexts.
    pub(crate) fn read_all(&self) -> Cursor {
        Cursor {
            reader: TapeReader::new(0, self.tape.len()),
            ..Cursor::default()
        }
    }
}

/// Reading position.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    reader: TapeReader,
    start: u64,
    /// Place on the tape of the task at hand, and the start of the one before.
    at: u64,
    start_before: u64,
    pub(crate) dependencies: Vec<TaskId>,
}

impl Cursor {
    /// Becomes another one, but keeps its memory.
    fn restart(&mut self, other: Cursor) {
        self.reader.restart(other.reader);
        self.start = other.start;
    }

    /// Reads the next task; false at the end.
    pub(crate) fn next(&mut self, skeleton: &Skeleton, window: usize) -> Result<bool> {
        const NUMBER: usize = 10;
        if self.reader.is_at_end() {
            return Ok(false);
        }
        (self.at, self.start_before) = (self.reader.position(), self.start);
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
    let contexts = skeleton.parts.len();
    let window = (budget / 2 / contexts.max(1)).clamp(SMALLEST, LARGEST);
    let mut search = Search {
        skeleton,
        window,
        heads: vec![Head::default(); contexts],
        cursors: Vec::new(),
        most_cursors: (budget / 2 / (window + CURSOR)).max(2),
        free: Vec::new(),
        ready: BinaryHeap::new(),
        waiting: FxHashMap::default(),
        dropped: Sorter::new(spill, budget / 2),
        emit,
    };
    for i in 0..contexts {
        search.heads[i].at = skeleton.parts[i].from;
        search.advance(i)?;
    }
    loop {
        while let Some(Reverse((_, i))) = search.ready.pop() {
            search.emit(i as usize)?;
        }
        let Some(oldest) = search.oldest_waiting()? else {
            return Ok(Outcome::Whole(search.dropped.finish()));
        };
        if !drop_contradictions {
            return Ok(Outcome::Contradiction(search.stuck(oldest)?));
        }
        search.force(oldest)?;
    }
}

/// Bytes read at a time.
const SMALLEST: usize = 256;
const LARGEST: usize = 1 << 14;
/// Bytes of a cursor beside those.
const CURSOR: usize = 256;
const NONE: u32 = u32::MAX;

/// The next task of a context.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Place on the tape, and the start of the task before.
    at: u64,
    start_before: u64,
    /// Tasks of the context that are in the order.
    emitted: u32,
    /// First dependency that is not known to be in the order.
    unmet: u32,
    /// The next context that waits for the same task.
    next: u32,
    /// Where its cursor is, while it has one.
    cursor: u32,
}

impl Default for Head {
    fn default() -> Self {
        Head {
            at: 0,
            start_before: 0,
            emitted: 0,
            unmet: 0,
            next: NONE,
            cursor: NONE,
        }
    }
}

struct Search<'a, F> {
    skeleton: &'a Skeleton,
    window: usize,
    heads: Vec<Head>,
    /// Reading positions of some contexts; the others read their next task again when it is needed.
    cursors: Vec<Cursor>,
    most_cursors: usize,
    free: Vec<u32>,
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// The first of the contexts that wait for a task.
    waiting: FxHashMap<TaskId, u32>,
    dropped: Sorter<2>,
    emit: F,
}

impl<F: FnMut(TaskId) -> Result<()>> Search<'_, F> {
    /// Emits the next task of context `i`.
    fn emit(&mut self, i: usize) -> Result<()> {
        let context = self.skeleton.parts[i].context;
        self.open(i)?;
        let head = &mut self.heads[i];
        let done = TaskId::new(context, head.emitted);
        head.emitted += 1;
        (self.emit)(done)?;
        self.advance(i)?;
        if !self.waiting.is_empty() {
            let mut waiter = self.waiting.remove(&done).unwrap_or(NONE);
            while waiter != NONE {
                let i = waiter as usize;
                waiter = std::mem::replace(&mut self.heads[i].next, NONE);
                self.open(i)?;
                self.place(i);
            }
        }
        Ok(())
    }

    /// The cursor of context `i`, at its next task; made if it has none.
    fn open(&mut self, i: usize) -> Result<()> {
        if self.heads[i].cursor != NONE {
            return Ok(());
        }
        self.make_cursor(i);
        self.step(i)?;
        Ok(())
    }

    fn make_cursor(&mut self, i: usize) {
        let head = &mut self.heads[i];
        let cursor = self.skeleton.read(i, head.at, head.start_before);
        let place = self.free.pop().unwrap_or_else(|| {
            self.cursors.push(Cursor::default());
            u32::try_from(self.cursors.len() - 1).unwrap_or(NONE)
        });
        head.cursor = place;
        self.cursors[place as usize].restart(cursor);
    }

    /// Reads the next task of context `i`; false when it has no more.
    fn step(&mut self, i: usize) -> Result<bool> {
        let head = &mut self.heads[i];
        let cursor = &mut self.cursors[head.cursor as usize];
        let more = cursor.next(self.skeleton, self.window)?;
        if more {
            (head.at, head.start_before) = (cursor.at, cursor.start_before);
        }
        Ok(more)
    }

    fn close(&mut self, i: usize) {
        let cursor = std::mem::replace(&mut self.heads[i].cursor, NONE);
        self.free.push(cursor);
    }

    fn advance(&mut self, i: usize) -> Result<()> {
        if self.heads[i].cursor == NONE {
            self.make_cursor(i);
        }
        self.heads[i].unmet = 0;
        if self.step(i)? {
            self.place(i);
        } else {
            self.close(i);
        }
        Ok(())
    }

    /// Whether a task is in the order.
    fn is_done(&self, d: TaskId) -> bool {
        let context = self.skeleton.index(d.context);
        context.is_some_and(|j| self.heads[j].emitted > d.seq)
    }

    /// Puts the head of context `i` among the ready or the waiting; it has a cursor.
    fn place(&mut self, i: usize) {
        let head = self.heads[i];
        let number = u32::try_from(i).unwrap_or(NONE);
        let cursor = &self.cursors[head.cursor as usize];
        let start = cursor.start;
        let unmet = cursor.dependencies.iter().skip(head.unmet as usize);
        let unmet = unmet.zip(head.unmet..).find(|(d, _)| !self.is_done(**d));
        match unmet {
            Some((&d, unmet)) => {
                let first = self.waiting.insert(d, number);
                let head = &mut self.heads[i];
                (head.unmet, head.next) = (unmet, first.unwrap_or(NONE));
            }
            None => self.ready.push(Reverse((start, number))),
        }
        if self.cursors.len() - self.free.len() > self.most_cursors {
            self.close(i);
        }
    }

    /// The context whose next task starts first among those that wait.
    fn oldest_waiting(&mut self) -> Result<Option<usize>> {
        let mut oldest: Option<(u64, usize)> = None;
        let firsts: Vec<u32> = self.waiting.values().copied().collect();
        for first in firsts {
            let mut waiter = first;
            while waiter != NONE {
                let i = waiter as usize;
                let had = self.heads[i].cursor != NONE;
                self.open(i)?;
                let key = (self.cursors[self.heads[i].cursor as usize].start, i);
                oldest = Some(oldest.map_or(key, |o| o.min(key)));
                if !had {
                    self.close(i);
                }
                waiter = self.heads[i].next;
            }
        }
        Ok(oldest.map(|(_, i)| i))
    }

    fn stuck(&mut self, i: usize) -> Result<Stuck> {
        self.open(i)?;
        let head = self.heads[i];
        let dependencies = &self.cursors[head.cursor as usize].dependencies;
        Ok(Stuck {
            task: TaskId::new(self.skeleton.parts[i].context, head.emitted),
            needs: dependencies[head.unmet as usize],
        })
    }

    /// Drops the unmet dependencies of the next task of context `i`.
    fn force(&mut self, i: usize) -> Result<()> {
        let stuck = self.stuck(i)?;
        self.unchain(stuck.needs, i);
        let head = self.heads[i];
        let cursor = &self.cursors[head.cursor as usize];
        let start = cursor.start;
        let unmet: Vec<TaskId> = cursor.dependencies[head.unmet as usize..]
            .iter()
            .filter(|d| !self.is_done(**d))
            .copied()
            .collect();
        for d in unmet {
            self.dropped.push([task_bits(stuck.task), task_bits(d)])?;
        }
        self.ready
            .push(Reverse((start, u32::try_from(i).unwrap_or(NONE))));
        Ok(())
    }

    /// Context `i` waits no more.
    fn unchain(&mut self, needed: TaskId, i: usize) {
        let next = std::mem::replace(&mut self.heads[i].next, NONE);
        let Some(first) = self.waiting.get_mut(&needed) else {
            return;
        };
        if *first as usize == i {
            *first = next;
            if next == NONE {
                self.waiting.remove(&needed);
            }
            return;
        }
        let mut before = *first as usize;
        while self.heads[before].next != NONE && self.heads[before].next as usize != i {
            before = self.heads[before].next as usize;
        }
        self.heads[before].next = next;
    }
}
