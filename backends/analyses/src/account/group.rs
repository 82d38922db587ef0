//! Groups of waits for one thing, and what each group costs.

use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use super::wait::{Kind, Wait};
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

    /// The loss of each stretch, ns; nothing if it is not known when it was.
    pub(super) fn each(&self) -> Vec<f64> {
        let known = if self.0.is_empty() { 0 } else { STRETCHES };
        let mut each = vec![0.0; known];
        for &(at, ns) in &self.0 {
            each[at] += ns;
        }
        each
    }
}

/// The cause of idle processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Waits for an object.
    Wait(Kind, u64),
    /// Serial code.
    Serial,
    /// A larger share of the work than others have.
    Imbalance,
    /// Fewer threads than processors.
    Threads,
    /// Threads that begin, or that find that what they waited for has happened.
    Starting,
    /// Threads that spin on processors which others want.
    Spinning,
}

impl Key {
    pub(super) fn of(wait: &Wait) -> Self {
        match wait.kind {
            Kind::Begin | Kind::Unknown | Kind::Recording => Self::Starting,
            // Such waits have no object; the places where contexts sleep tell them apart.
            Kind::Outside => Self::Wait(Kind::Outside, 0),
            kind => Self::Wait(kind, wait.object),
        }
    }

    /// Whether a signal from another context is waited for.
    pub(super) fn is_signal(self) -> bool {
        matches!(self, Self::Wait(Kind::Word, _))
    }

    /// The lock that is waited for.
    pub(super) fn lock(self) -> Option<u64> {
        match self {
            Self::Wait(Kind::Lock, lock) => Some(lock),
            _ => None,
        }
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
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) key: Key,
    /// Lost processor time, ns.
    pub(super) ns: f64,
    /// When it was lost.
    pub(super) when: When,
    /// The part of `ns` that was lost after what was waited for had happened.
    pub(super) late: f64,
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
    pub(super) holders: FxHashMap<ContextId, f64>,
}

impl Group {
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            ns: 0.0,
            when: When::default(),
            late: 0.0,
            indirect: 0.0,
            in_pieces: 0.0,
            holding: 0.0,
            behind: None,
            waits: 0,
            samples: Vec::new(),
            waiters: FxHashMap::default(),
            holders: FxHashMap::default(),
        }
    }

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

    /// Notes that others lost `ns` while waiting for `context`.
    pub(super) fn held_by(&mut self, context: ContextId, ns: f64) {
        *self.holders.entry(context).or_default() += ns;
    }

    /// Adds another group of the same kind.
    pub(super) fn add(&mut self, other: Self) {
        self.ns += other.ns;
        self.when.join(&other.when, 1.0);
        self.late += other.late;
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
        for (context, ns) in other.holders {
            *self.holders.entry(context).or_default() += ns;
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
        let mut when = When::default();
        assert!(when.each().is_empty());
        when.add((0.5, 0.75), 1.0);
        when.add((0.75, 2.25), 6.0);
        when.add((63.5, 64.0), 3.0);
        let mut half = When::default();
        half.join(&when, 0.5);
        assert_eq!(when.each()[..4], [2.0, 4.0, 1.0, 0.0]);
        assert_eq!(half.each()[..4], [1.0, 2.0, 0.5, 0.0]);
        assert_eq!((when.each().len(), when.each()[63]), (STRETCHES, 3.0));
    }
}
