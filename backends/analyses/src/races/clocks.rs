//! Which tasks come before the current one: vector clocks over the edges of the graph (Fidge 1988,
//! Mattern 1989).
//!
//! Tasks are visited in topological order. A task's clock says for every chain of contexts
//! ([`super::chains`]) how many of its tasks come before. The order is that of the graph (program
//! order and stored edges), not of the schedule that happened.
//!
//! Clocks share entries: a clock is a shared list of entries, its base, and a few newer entries of
//! its own. A context begins with the base of its creator. A context that joins it needs only its
//! newer entries, because it has or had the base itself. So the cost of a create or join depends on
//! what is new, and not on the number of contexts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::TaskId;

use super::chains::{Chains, Epoch};
use crate::analysis::{Graph, Task};

/// How many newer entries a clock has before they become part of a base; more if bases are long. A
/// less deep recursion has no bases.
const FEW: usize = 128;

/// Entries that clocks share.
#[derive(Debug)]
struct Base {
    /// Number, in the order in which bases were made; 0 is the empty one.
    number: u32,
    /// By place: how many tasks of the chain come before.
    known: Vec<u32>,
    /// Entries of all bases.
    total: Arc<AtomicUsize>,
}

impl Drop for Base {
    fn drop(&mut self) {
        self.total.fetch_sub(self.known.len(), Ordering::Relaxed);
    }
}

/// The tasks that are known to come before.
#[derive(Clone, Debug)]
struct Clock {
    base: Arc<Base>,
    /// Places, and what is known of them beyond the base, sorted.
    newer: Vec<(u32, u32)>,
}

impl Clock {
    #[inline]
    fn known(&self, place: u32) -> u32 {
        match self.newer.binary_search_by_key(&place, |entry| entry.0) {
            Ok(at) => self.newer[at].1,
            Err(_) => self.base.known.get(place as usize).copied().unwrap_or(0),
        }
    }

    fn raise(&mut self, place: u32, known: u32) {
        match self.newer.binary_search_by_key(&place, |entry| entry.0) {
            Ok(at) => self.newer[at].1 = self.newer[at].1.max(known),
            Err(at) => {
                if self.base.known.get(place as usize).copied().unwrap_or(0) < known {
                    self.newer.insert(at, (place, known));
                }
            }
        }
    }

    fn is_long(&self) -> bool {
        let len = self.newer.len();
        len > FEW && len * len > self.base.known.len()
    }
}

/// All bases that were ever made, and from which base each was made.
#[derive(Debug)]
struct Bases {
    empty: Arc<Base>,
    /// By number: the base that it was made from.
    parent: Vec<u32>,
    total: Arc<AtomicUsize>,
}

impl Default for Bases {
    fn default() -> Self {
        let total = Arc::new(AtomicUsize::new(0));
        let empty = Base { number: 0, known: Vec::new(), total: Arc::clone(&total) };
        Self { empty: Arc::new(empty), parent: vec![0], total }
    }
}

impl Bases {
    fn clock(&self) -> Clock {
        Clock { base: Arc::clone(&self.empty), newer: Vec::new() }
    }

    /// Whether `later` has all entries of `earlier` because it was made from it.
    fn comes_of(&self, later: u32, earlier: u32) -> bool {
        let mut number = later;
        while number > earlier {
            number = self.parent[number as usize];
        }
        number == earlier
    }

    /// Puts the newer entries of a clock into a base of their own.
    fn settle(&mut self, clock: &mut Clock, more: &[u32]) {
        let mut known = clock.base.known.clone();
        let last = clock.newer.last().map_or(0, |entry| entry.0 as usize + 1);
        known.resize(known.len().max(last).max(more.len()), 0);
        for &(place, value) in &clock.newer {
            known[place as usize] = known[place as usize].max(value);
        }
        for (known, &more) in known.iter_mut().zip(more) {
            *known = (*known).max(more);
        }
        self.total.fetch_add(known.len(), Ordering::Relaxed);
        let number = u32::try_from(self.parent.len()).unwrap_or(u32::MAX);
        self.parent.push(clock.base.number);
        clock.newer.clear();
        clock.base = Arc::new(Base { number, known, total: Arc::clone(&self.total) });
    }

    /// Adds to `clock` that `epoch`, whose own clock is `found`, comes before. If its context is
    /// `joined` here, nothing is noted of that context: see [`Clocks::ordered`].
    fn learn(&mut self, clock: &mut Clock, found: &Clock, epoch: Epoch, joined: bool) {
        if clock.known(epoch.place()) > epoch.position() {
            return;
        }
        let (own, other) = (clock.base.number, found.base.number);
        if self.comes_of(own, other) {
            found.newer.iter().for_each(|&(place, known)| clock.raise(place, known));
        } else if self.comes_of(other, own) {
            let newer = std::mem::replace(clock, found.clone()).newer;
            newer.into_iter().for_each(|(place, known)| clock.raise(place, known));
        } else {
            self.settle(clock, &found.base.known);
            found.newer.iter().for_each(|&(place, known)| clock.raise(place, known));
        }
        if !joined {
            clock.raise(epoch.place(), epoch.position().saturating_add(1));
        }
        if clock.is_long() {
            self.settle(clock, &[]);
        }
    }
}

/// The clocks of all chains, and of the tasks that have dependents still to come.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    chains: Chains,
    bases: Bases,
    /// By place: the clock of its context.
    latest: Vec<Option<Clock>>,
    pending: FxHashMap<TaskId, (Clock, usize)>,
    now: Epoch,
    /// Whether the last visited task was the last of its context.
    ended: bool,
}

impl Clocks {
    /// Moves on to `task`; predecessors must have been visited.
    ///
    /// # Errors
    /// When the graph cannot be read or is not in topological order.
    pub(super) fn enter(&mut self, graph: &Graph, task: &Task<'_>) -> Result<()> {
        if std::mem::take(&mut self.ended) {
            self.latest[self.now.place() as usize] = None;
        }
        let id = task.id();
        let (place, base) = self.chains.of(id.context);
        let now = Epoch::new(place, base.saturating_add(id.seq));
        if self.latest.len() <= place as usize {
            self.latest.resize(place as usize + 1, None);
        }
        let known = self.latest[place as usize].take();
        let mut clock = known.unwrap_or_else(|| self.bases.clock());
        for &dependency in task.stored_dependencies() {
            let Some((found, left)) = self.pending.get_mut(&dependency) else {
                bail!(
                    "task {id} comes before {dependency}, which it depends on; contech-backend verify names the fault"
                );
            };
            let epoch = self.chains.epoch(dependency);
            let joined = self.chains.join(now, dependency);
            if epoch.place() != place {
                self.bases.learn(&mut clock, found, epoch, joined);
            }
            *left -= 1;
            if *left == 0 {
                self.pending.remove(&dependency);
            }
        }
        self.now = now;
        let dependents = task.dependents()?;
        for created in dependents.iter().filter(|dependent| dependent.seq == 0) {
            let tasks = graph.task_count(created.context);
            self.chains.create(place, created.context, tasks);
        }
        if !dependents.is_empty() {
            self.pending.insert(id, (clock.clone(), dependents.len()));
        }
        self.latest[place as usize] = Some(clock);
        if task.is_last() {
            // The clock is still needed for the task itself, and is forgotten when the next task is
            // entered.
            self.ended = true;
            self.chains.end(id);
        }
        Ok(())
    }

    /// The current task.
    pub(super) fn now(&self) -> Epoch {
        self.now
    }

    /// Whether the task of `epoch` is the current one or comes before it.
    #[inline]
    pub(super) fn ordered(&self, epoch: Epoch) -> bool {
        let mut epoch = epoch;
        loop {
            if epoch.place() == self.now.place() || self.reached(epoch.place()) > epoch.position() {
                return true;
            }
            // A joined context comes before everything after the join.
            match self.chains.joined(epoch) {
                Some(joined) => epoch = joined,
                None => return false,
            }
        }
    }

    /// How many tasks of the chain at a place come before the current task.
    fn reached(&self, place: u32) -> u32 {
        let clock = self.latest[self.now.place() as usize].as_ref();
        clock.map_or(0, |clock| clock.known(place))
    }

    /// How many tasks of the context of `epoch` come before the current task, if `epoch` itself
    /// does not.
    pub(super) fn known(&self, epoch: Epoch) -> u32 {
        self.reached(epoch.place()).saturating_sub(self.chains.base(epoch))
    }

    /// The task of an epoch.
    pub(super) fn task(&self, epoch: Epoch) -> TaskId {
        self.chains.task(epoch)
    }

    /// Approximate bytes in use.
    pub(super) fn bytes(&self) -> usize {
        4 * self.bases.total.load(Ordering::Relaxed)
            + 4 * self.bases.parent.len()
            + 192 * self.pending.len()
            + 64 * self.latest.len()
            + self.chains.bytes()
    }
}
