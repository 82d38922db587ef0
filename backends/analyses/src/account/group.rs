//! Groups of waits for one thing, and what each group costs.

use rustc_hash::FxHashMap;
use taskgraph::{BlockId, ContextId, TaskId};

use super::site::Site;
use super::sums::{Sums, add_all};
use super::wait::{Kind, Wait};
use crate::analysis::source::Place;
use crate::view::units::whole;

/// Number of waits kept for each group, the costliest, to find out where they happen.
const SAMPLES: usize = 8;

/// Number of equal stretches of a run; of each it is known what was lost in it.
pub(super) const STRETCHES: usize = 64;

/// Lost time by stretch of the run, in order of time while it is added.
#[derive(Clone, Debug, Default)]
pub(super) struct When(Vec<(usize, f64)>);

impl When {
    /// Adds time that was lost evenly from one place of the run to another, both counted in
    /// stretches.
    pub(super) fn add(&mut self, (from, to): (f64, f64), ns: f64) {
        let last = STRETCHES - 1;
        let stretch = |place: f64| usize::try_from(whole(place)).map_or(last, |at| at.min(last));
        for at in stretch(from)..=stretch(to) {
            let begin = from.max(at as f64);
            let end = if at == last { to } else { to.min((at + 1) as f64) };
            let part = ns * (end - begin) / (to - from);
            match self.0.last_mut().filter(|known| known.0 == at) {
                Some(known) => known.1 += part,
                None if part > 0.0 => self.0.push((at, part)),
                None => {}
            }
        }
    }

    /// Adds a part of another loss.
    pub(super) fn join(&mut self, other: &Self, part: f64) {
        self.0.extend(other.0.iter().map(|&(at, ns)| (at, ns * part)));
    }

    /// Adds a part of it to the loss of each stretch, ns; there are none while nothing is known.
    pub(super) fn add_to(&self, each: &mut Vec<f64>, part: f64) {
        for &(at, ns) in &self.0 {
            each.resize(STRETCHES, 0.0);
            each[at] += ns * part;
        }
    }
}

/// The cause of idle processor time: its kind, and the object that is waited for.
pub(super) type Key = (Kind, u64);

/// The cause that a wait's time is told as.
pub(super) fn key(wait: &Wait) -> Key {
    match wait.kind {
        Kind::Begin | Kind::Unknown => (Kind::Begin, 0),
        // Such waits have no object; the places where contexts sleep tell them apart.
        Kind::Outside => (Kind::Outside, 0),
        kind => (kind, wait.object),
    }
}

/// A wait, its cost, and the task that ended it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) ns: f64,
    pub(super) task: TaskId,
    pub(super) ended_by: Option<TaskId>,
}

/// A cause and its cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) key: Key,
    /// Lost processor time, ns.
    pub(super) ns: f64,
    /// When it was lost.
    pub(super) when: When,
    /// The part of `ns` that depended on contexts that the waiting context itself has started, or
    /// on what others wait for.
    pub(super) indirect: f64,
    /// The part of `ns` that is charged to tasks with only little of it each.
    pub(super) in_pieces: f64,
    /// The part of `ns` that others lost who waited for a lock which the waiting context had; one
    /// of those waits, and the lock.
    pub(super) holding: f64,
    pub(super) behind: Option<(TaskId, u64)>,
    /// Number of waits that cost something.
    pub(super) waits: u64,
    /// The costliest waits.
    pub(super) samples: Vec<Sample>,
    /// How often each context waited here, and the time (ns) that others lost while waiting for
    /// each context.
    pub(super) waiters: FxHashMap<ContextId, u64>,
    pub(super) holders: Sums<ContextId>,
    /// Its number and those of groups that were merged with it.
    pub(super) groups: Vec<u32>,
    /// Where contexts wait, and whether who ends the waits comes to the same place.
    pub(super) site: Option<Site>,
    pub(super) meets: bool,
    /// Where others wait for a lock that those have who wait here.
    pub(super) lock: Option<Place>,
    /// The code that is awaited, by time, and the task that has most of it.
    pub(super) code: Sums<BlockId>,
    pub(super) most: (f64, TaskId),
}

impl Group {
    /// Adds time that was lost from one place of the run to another.
    pub(super) fn lose(&mut self, ns: f64, stretch: (f64, f64)) {
        self.ns += ns;
        self.when.add(stretch, ns);
    }

    /// Counts a finished wait that cost `ns`.
    pub(super) fn waited(&mut self, wait: &Wait, ns: f64) {
        self.waits += 1;
        *self.waiters.entry(wait.task.context).or_default() += 1;
        self.samples.push(Sample {
            ns,
            task: wait.task,
            ended_by: wait.ended_by.map(|(task, _)| task),
        });
        if self.samples.len() > 2 * SAMPLES {
            self.shorten();
        }
    }

    pub(super) fn shorten(&mut self) {
        self.samples.sort_by(|a, b| b.ns.total_cmp(&a.ns).then(a.task.cmp(&b.task)));
        self.samples.truncate(SAMPLES);
    }

    /// Adds another group of the same kind.
    pub(super) fn add(&mut self, other: Self) {
        self.ns += other.ns;
        self.when.join(&other.when, 1.0);
        self.indirect += other.indirect;
        self.in_pieces += other.in_pieces;
        self.holding += other.holding;
        self.behind = self.behind.or(other.behind);
        self.waits += other.waits;
        self.samples.extend(other.samples);
        self.shorten();
        for (context, waits) in other.waiters {
            *self.waiters.entry(context).or_default() += waits;
        }
        add_all(&mut self.holders, other.holders);
        self.groups.extend(other.groups);
        add_all(&mut self.code, other.code);
        if other.most.0 > self.most.0 {
            self.most = other.most;
        }
    }

    /// Whether contexts take turns: those that are waited for wait here as well, about as often as
    /// the others.
    pub(super) fn takes_turns(&self) -> bool {
        let all: f64 = self.holders.values().sum();
        let mean = self.waits as f64 / self.waiters.len().max(1) as f64;
        let also = self.holders.iter().filter(|(context, _)| {
            self.waiters.get(context).is_some_and(|&waits| waits as f64 >= mean / 2.0)
        });
        let also: f64 = also.map(|(_, ns)| ns).sum();
        self.waiters.len() > 1 && also * 2.0 > all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_divided_among_the_stretches_it_lasts() {
        let (mut when, mut each) = (When::default(), Vec::new());
        when.add_to(&mut each, 1.0);
        assert!(each.is_empty());
        when.add((0.5, 0.75), 1.0);
        when.add((0.75, 2.25), 6.0);
        when.add((63.5, 64.0), 3.0);
        when.add_to(&mut each, 1.0);
        assert_eq!(each[..4], [2.0, 4.0, 1.0, 0.0]);
        let mut half = When::default();
        half.join(&when, 0.5);
        half.add_to(&mut each, 2.0);
        assert_eq!(each[..4], [4.0, 8.0, 2.0, 0.0]);
        assert_eq!((each.len(), each[63]), (STRETCHES, 6.0));
    }
}
