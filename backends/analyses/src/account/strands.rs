//! What each context of a run does, strand by strand, as far as a replay needs it: how long it runs
//! or sleeps, and for which strands of other contexts it waits before. Tasks that nothing happens
//! between are one strand.
//!
//! The times are those of the context's own work. What other programs or the recording took is no
//! time of a strand, and how long a context waited follows from the replay, not from the recording.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{Context, ContextId, ExecutorId, TaskId};

use super::counted::{Counted, Pool, Queue, Share};
use super::locks::{Known, LockUse};
use super::sections::Section;
use super::wait::{ALWAYS, Kind, NEVER, Wait};
use crate::view::units::ratio;

/// A run of more strands than this is not replayed.
pub(super) const MOST: usize = 1 << 23;
/// Stands for no wait.
pub(super) const NO_WAIT: u32 = u32::MAX;

/// What a context does in a task, or in several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strand {
    /// How long it runs or sleeps.
    pub(super) ns: u64,
    /// The first task, in its context.
    pub(super) first: u32,
    /// Whether the strand begins in the midst of that task.
    pub(super) inside: bool,
    /// Where the dependences of the next strand begin.
    pub(super) needs_end: u32,
    /// The number of the wait before the strand, or of its sleep.
    pub(super) wait: u32,
    /// Whether the context sleeps, so that it needs no processor.
    pub(super) sleeps: bool,
    /// The lock that the context takes or gives back before, see [`Strands::lock_of`].
    pub(super) lock: u32,
}

#[cfg(test)]
impl Strand {
    /// A strand that only runs.
    pub(super) fn running(ns: u64) -> Self {
        let (wait, lock) = (NO_WAIT, NO_WAIT);
        Self { ns, first: 0, inside: false, needs_end: 0, wait, sleeps: false, lock }
    }
}

/// The strands of a run.
#[derive(Debug, Default)]
pub(super) struct Strands {
    pub(super) all: Vec<Strand>,
    /// The first strand of each context, and the end of the last one.
    pub(super) contexts: Vec<u32>,
    /// The contexts that have tasks, by their place, and their places.
    pub(super) ids: Vec<ContextId>,
    pub(super) numbers: Numbers,
    /// The executor of each context's first task, by the context's place.
    pub(super) executors: Vec<ExecutorId>,
    /// The context that created each context, by its place.
    pub(super) creators: Vec<Option<u32>>,
    /// Whether the run ends when the context does: nobody created it.
    pub(super) leads: Vec<bool>,
    /// For all strands, one after the other: the contexts and the numbers of the strands that come
    /// before them.
    pub(super) needs: Vec<(u32, u32)>,
    pub(super) waits: Vec<Wait>,
    /// Uses of locks, with the lock's number in the graph.
    pub(super) locks: Vec<(u64, LockUse)>,
    pub(super) known: Known,
    pub(super) sections: Vec<Section>,
    /// What contexts did of loops whose pieces any of a team may do.
    pub(super) shares: Vec<Share>,
    /// Queues, what strands do with them, and the strands with which contexts begin to take jobs
    /// from them.
    pub(super) queues: Vec<Queue>,
    pub(super) counts: FxHashMap<u32, Counted>,
    pub(super) pools: FxHashMap<u32, Pool>,
    /// Processor time in which contexts were created, ns.
    pub(super) making: u64,
    /// Processor time in calls of code that was not recorded, ns.
    pub(super) outside: u64,
    /// The longest time that a context was kept from its work by the recording, ns.
    pub(super) recording: u64,
    /// What a sample leaves out of the time of each executor.
    pub(super) left_out: FxHashMap<ExecutorId, LeftOut>,
}

/// The time of an executor, and how much of it a sample leaves out, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftOut {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) ns: u64,
}

impl LeftOut {
    fn add(&mut self, other: Self) {
        self.begin = self.begin.min(other.begin);
        self.end = self.end.max(other.end);
        self.ns += other.ns;
    }

    fn lasts(self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// The numbers of the contexts that have tasks.
pub(super) type Numbers = FxHashMap<ContextId, u32>;

impl Strands {
    /// Spinning costs nothing.
    pub(super) fn nobody_spins(&mut self) {
        for wait in &mut self.waits {
            wait.spins = false;
        }
    }

    /// A context does not spin if its thread executes other contexts while it lives.
    pub(super) fn spin_alone(&mut self, contexts: &[Context]) {
        if !self.waits.iter().any(|wait| wait.spins) {
            return;
        }
        let mut lives: FxHashMap<ExecutorId, Vec<u32>> = FxHashMap::default();
        for (at, &executor) in (0..).zip(&self.executors) {
            lives.entry(executor).or_default().push(at);
        }
        for mut own in lives.into_values() {
            let life = |at: u32| &contexts[at as usize];
            own.sort_by_key(|&at| life(at).first_ns);
            let (mut until, mut overlap) = (0, false);
            for &at in &own {
                overlap |= life(at).first_ns < until;
                until = until.max(life(at).last_ns);
            }
            for at in own.into_iter().filter(|_| overlap) {
                for strand in self.of_context(at) {
                    if let Some(wait) = self.waits.get_mut(self.all[strand].wait as usize) {
                        wait.spins = false;
                    }
                }
            }
        }
    }

    /// What waits for a lock mean, now that all uses of the locks are known.
    pub(super) fn settle(&mut self) {
        let spun = self.waits.iter().filter(|wait| wait.spins);
        let spun: FxHashSet<u64> = spun.map(|wait| wait.object).collect();
        for strand in &mut self.all {
            let Some(wait) = self.waits.get_mut(strand.wait as usize) else {
                continue;
            };
            let object = wait.object;
            let word = self.known.is_word(object);
            // Who found the lock free in the recorded run may have to wait for it in another one.
            wait.spins |= wait.kind == Kind::Lock && spun.contains(&object);
            match wait.kind {
                Kind::Lock | Kind::Word if self.known.is_queue(object) => {
                    (wait.kind, wait.ordered_ns) = (Kind::Lock, NEVER);
                }
                Kind::Word if self.known.is_limit(object) => wait.kind = Kind::Lock,
                Kind::Lock if self.known.is_ordered(object) => wait.ordered_ns = ALWAYS,
                // Whatever a context does until it has such a word, the word's state tells when
                // that is.
                Kind::Lock | Kind::Word | Kind::Barrier | Kind::Outside
                    if word && self.known.has_state(object) =>
                {
                    (wait.kind, wait.ordered_ns) = (Kind::Lock, NEVER);
                    if strand.sleeps {
                        (strand.ns, strand.sleeps) = (0, false);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn append(&mut self, part: Self) {
        let (strands, needs, waits) = (end(&self.all), end(&self.needs), end(&self.waits));
        let locks = end(&self.locks);
        let behind = |number, others| if number == NO_WAIT { NO_WAIT } else { number + others };
        let own = part.contexts.into_iter();
        self.contexts.extend(own.map(|first| first + strands));
        self.all.extend(part.all.into_iter().map(|strand| Strand {
            needs_end: strand.needs_end + needs,
            wait: behind(strand.wait, waits),
            lock: behind(strand.lock, locks),
            ..strand
        }));
        self.executors.extend(part.executors);
        self.needs.extend(part.needs);
        self.waits.extend(part.waits);
        self.locks.extend(part.locks);
        let sections = part.sections.into_iter();
        self.sections.extend(sections.map(|section| section.behind(strands)));
        self.shares.extend(part.shares.into_iter().map(|share| Share {
            strands: share.strands.start + strands..share.strands.end + strands,
            ..share
        }));
        self.known.merge(part.known);
        self.making += part.making;
        self.outside += part.outside;
        self.recording = self.recording.max(part.recording);
        for (executor, left_out) in part.left_out {
            self.leave_out(executor, left_out);
        }
    }

    /// Adds a wait, and returns its number.
    pub(super) fn add_wait(&mut self, wait: Wait) -> u32 {
        self.waits.push(wait);
        end(&self.waits) - 1
    }

    /// The first task of a strand.
    pub(super) fn task_of(&self, strand: u32) -> TaskId {
        let context = self.context_of(strand as usize);
        TaskId::new(self.ids[context as usize], self.all[strand as usize].first)
    }

    /// Adds what a sample leaves out of an executor's time.
    pub(super) fn leave_out(&mut self, executor: ExecutorId, more: LeftOut) {
        let all = self.left_out.entry(executor);
        all.and_modify(|all| all.add(more)).or_insert(more);
    }

    /// How many times as long as what a sample keeps of it the run is. What is left out of a thread
    /// that waits may be longer than the gaps of the sample, so the one counts that misses least of
    /// those that last.
    pub(super) fn longer(&self) -> f64 {
        let longest = self.left_out.values().map(|one| one.lasts()).max().unwrap_or(0);
        let lasting = self.left_out.values().filter(|one| one.lasts() >= longest / 2);
        let kept = lasting.map(|one| 1.0 - ratio(one.ns.min(one.lasts()), one.lasts()));
        kept.reduce(f64::max).map_or(1.0, |kept| 1.0 / kept.max(0.001))
    }

    /// The context that a strand is of.
    pub(super) fn context_of(&self, strand: usize) -> u32 {
        let after = self.contexts.partition_point(|&first| first as usize <= strand);
        index(after.saturating_sub(1))
    }

    /// The numbers of a context's strands.
    pub(super) fn of_context(&self, context: u32) -> Range<usize> {
        let at = context as usize;
        self.contexts[at] as usize..self.contexts[at + 1] as usize
    }

    /// What comes before a strand: contexts, and numbers of strands in them.
    pub(super) fn needs_of(&self, strand: usize) -> &[(u32, u32)] {
        let before = strand.checked_sub(1);
        let begin = before.map_or(0, |before| self.all[before].needs_end);
        &self.needs[begin as usize..self.all[strand].needs_end as usize]
    }

    /// The wait before a strand, or the strand's sleep.
    pub(super) fn wait_of(&self, strand: usize) -> Option<&Wait> {
        self.waits.get(self.all[strand].wait as usize)
    }

    /// The lock that the context takes or gives back before a strand, where the lock's state tells
    /// who may go on.
    pub(super) fn lock_of(&self, strand: usize) -> Option<(u64, LockUse)> {
        let lock = self.locks.get(self.all[strand].lock as usize).copied();
        lock.filter(|(lock, _)| self.known.has_state(*lock))
    }

    /// The number of places of a queue, if the condition says that it has room.
    pub(super) fn room(&self, condition: u64) -> Option<u64> {
        let full = self.queues.iter().find(|queue| queue.room && queue.condition == condition);
        full.map(|queue| queue.lead.unsigned_abs())
    }

    /// The strands that a task is in.
    pub(super) fn strands_of(&self, task: TaskId) -> Range<usize> {
        let Some(&context) = self.numbers.get(&task.context) else {
            return 0..0;
        };
        let own = self.of_context(context);
        let strands = &self.all[own.clone()];
        let begin = strands.partition_point(|strand| strand.first < task.seq);
        let end = strands.partition_point(|strand| strand.first <= task.seq);
        let inside = strands.get(begin).is_none_or(|first| first.inside || first.first > task.seq);
        let begin = begin - usize::from(inside && begin > 0);
        own.start + begin..own.start + end
    }
}

pub(super) fn end<T>(all: &[T]) -> u32 {
    index(all.len())
}

/// Strands, waits and locks are counted with 32 bits ([`MOST`]).
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
