//! The next task of every context. Tasks that are ready are kept by their start, and the others by
//! the task that they wait for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taskgraph::TaskId;

use super::Stuck;
use super::skeleton::{Cursor, Skeleton};
use crate::error::Result;
use crate::renumber::task_bits;
use crate::sorter::{Sorted, Sorter};
use crate::spill::Spill;

/// Bytes that a cursor reads at a time, at the least and at the most.
const SMALLEST: usize = 256;
const LARGEST: usize = 1 << 14;
/// Bytes that a cursor takes besides its window.
const CURSOR: usize = 256;
const NONE: u32 = u32::MAX;

/// The next task of a context.
#[derive(Debug)]
struct Head {
    /// Place of the task on the tape, and the start of the task before.
    at: u64,
    start_before: u64,
    /// Number of tasks of the context that are in the order.
    emitted: u32,
    /// Index of the first dependency that is not known to be in the order.
    unmet: u32,
    /// The next context that waits for the same task.
    next: u32,
    /// The reading position. Without one, the task is read again when it is needed.
    cursor: Option<Box<Cursor>>,
}

impl Default for Head {
    fn default() -> Self {
        Head { at: 0, start_before: 0, emitted: 0, unmet: 0, next: NONE, cursor: None }
    }
}

/// The search keeps the next task of each context, which is ready or waits.
pub(super) struct Search<'a, F> {
    skeleton: &'a Skeleton,
    window: usize,
    heads: Vec<Head>,
    /// Number of contexts that have a cursor.
    cursors: usize,
    most_cursors: usize,
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    /// For each task that contexts wait for, the first of these contexts.
    waiting: FxHashMap<TaskId, u32>,
    dropped: Sorter<2>,
    emit: F,
}

impl<'a, F: FnMut(TaskId) -> Result<()>> Search<'a, F> {
    /// Puts every context at its first task.
    pub(super) fn start(
        skeleton: &'a Skeleton,
        spill: &Arc<Spill>,
        budget: usize,
        emit: F,
    ) -> Result<Self> {
        let contexts = skeleton.parts().len();
        let window = (budget / 2 / contexts.max(1)).clamp(SMALLEST, LARGEST);
        let mut search = Search {
            skeleton,
            window,
            heads: std::iter::repeat_with(Head::default).take(contexts).collect(),
            cursors: 0,
            most_cursors: (budget / 2 / (window + CURSOR)).max(2),
            ready: BinaryHeap::new(),
            waiting: FxHashMap::default(),
            dropped: Sorter::new(spill, budget / 2),
            emit,
        };
        for i in 0..contexts {
            search.heads[i].at = skeleton.parts()[i].from;
            search.advance(i)?;
        }
        Ok(search)
    }

    /// Emits tasks until none is ready.
    pub(super) fn emit_ready(&mut self) -> Result<()> {
        while let Some(Reverse((_, i))) = self.ready.pop() {
            self.emit(i as usize)?;
        }
        Ok(())
    }

    /// Returns the edges that were dropped.
    pub(super) fn finish(self) -> Result<Sorted<2>> {
        self.dropped.finish()
    }

    /// Emits the next task of context `i`.
    fn emit(&mut self, i: usize) -> Result<()> {
        let context = self.skeleton.parts()[i].context;
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

    /// Makes sure that context `i` has a cursor at its next task.
    fn open(&mut self, i: usize) -> Result<()> {
        if self.heads[i].cursor.is_none() {
            self.step(i)?;
        }
        Ok(())
    }

    /// Reads the next task of context `i`. Returns false if there is none.
    fn step(&mut self, i: usize) -> Result<bool> {
        let Head { at, start_before, cursor, .. } = &mut self.heads[i];
        let cursor = cursor.get_or_insert_with(|| {
            self.cursors += 1;
            Box::new(self.skeleton.read(i, *at, *start_before))
        });
        let more = cursor.next(self.skeleton, self.window)?;
        if more {
            (*at, *start_before) = (cursor.at, cursor.start_before);
        }
        Ok(more)
    }

    fn close(&mut self, i: usize) {
        self.cursors -= usize::from(self.heads[i].cursor.take().is_some());
    }

    fn advance(&mut self, i: usize) -> Result<()> {
        self.heads[i].unmet = 0;
        if self.step(i)? {
            self.place(i);
        } else {
            self.close(i);
        }
        Ok(())
    }

    /// When the next task of context `i` starts, and its dependencies. The context must have a
    /// cursor.
    fn task(&self, i: usize) -> (u64, &[TaskId]) {
        let cursor = self.heads[i].cursor.as_ref();
        cursor.map_or((0, &[]), |cursor| (cursor.start, &cursor.dependencies))
    }

    /// Whether a task is in the order.
    fn is_done(&self, d: TaskId) -> bool {
        let context = self.skeleton.index(d.context);
        context.is_some_and(|j| self.heads[j].emitted > d.seq)
    }

    /// Puts the next task of context `i` among the ready or the waiting ones. The context must have
    /// a cursor.
    fn place(&mut self, i: usize) {
        let number = u32::try_from(i).unwrap_or(NONE);
        let (start, dependencies) = self.task(i);
        let met = self.heads[i].unmet;
        let mut unmet = dependencies.iter().copied().skip(met as usize).zip(met..);
        let unmet = unmet.find(|(d, _)| !self.is_done(*d));
        // A context that waits to begin may be one of millions.
        let mut unborn = false;
        match unmet {
            Some((d, unmet)) => {
                let first = self.waiting.insert(d, number);
                let head = &mut self.heads[i];
                (head.unmet, head.next) = (unmet, first.unwrap_or(NONE));
                unborn = head.emitted == 0;
            }
            None => self.ready.push(Reverse((start, number))),
        }
        if unborn || self.cursors > self.most_cursors {
            self.close(i);
        }
    }

    /// The context whose next task starts first among those that wait.
    pub(super) fn oldest_waiting(&mut self) -> Result<Option<usize>> {
        let mut oldest: Option<(u64, usize)> = None;
        let firsts: Vec<u32> = self.waiting.values().copied().collect();
        for first in firsts {
            let mut waiter = first;
            while waiter != NONE {
                let i = waiter as usize;
                let had = self.heads[i].cursor.is_some();
                self.open(i)?;
                let key = (self.task(i).0, i);
                oldest = Some(oldest.map_or(key, |o| o.min(key)));
                if !had {
                    self.close(i);
                }
                waiter = self.heads[i].next;
            }
        }
        Ok(oldest.map(|(_, i)| i))
    }

    /// The next task of context `i` and the first one it waits for.
    pub(super) fn stuck(&mut self, i: usize) -> Result<Stuck> {
        self.open(i)?;
        let head = &self.heads[i];
        Ok(Stuck {
            task: TaskId::new(self.skeleton.parts()[i].context, head.emitted),
            needs: self.task(i).1[head.unmet as usize],
        })
    }

    /// Drops the unmet dependencies of the next task of context `i`.
    pub(super) fn force(&mut self, i: usize) -> Result<()> {
        let stuck = self.stuck(i)?;
        self.unchain(stuck.needs, i);
        let (start, dependencies) = self.task(i);
        let unmet = dependencies.iter().copied().skip(self.heads[i].unmet as usize);
        let unmet: Vec<TaskId> = unmet.filter(|d| !self.is_done(*d)).collect();
        for d in unmet {
            self.dropped.push([task_bits(stuck.task), task_bits(d)])?;
        }
        self.ready.push(Reverse((start, u32::try_from(i).unwrap_or(NONE))));
        Ok(())
    }

    /// Takes context `i` out of the chain of contexts that wait for `needed`.
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
