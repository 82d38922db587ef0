//! Groups of waits for one thing, and what each group costs.

use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use super::wait::{Kind, Wait};

/// Number of waits kept for each group, the costliest, to find out where they happen.
const SAMPLES: usize = 8;

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
    /// The recording itself.
    Recording,
    /// Nothing ran, for no recorded reason.
    Nothing,
}

impl Key {
    pub(super) fn of(wait: &Wait) -> Self {
        match wait.kind {
            Kind::Unknown => Self::Nothing,
            Kind::Recording => Self::Recording,
            // Such waits have no object; the places where contexts sleep tell them apart.
            Kind::Outside => Self::Wait(Kind::Outside, 0),
            kind => Self::Wait(kind, wait.object),
        }
    }
}

/// A cause and its cost.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) key: Key,
    /// Lost processor time, ns.
    pub(super) ns: f64,
    /// The part of `ns` that was lost after what was waited for had happened.
    pub(super) late: f64,
    /// The part of `ns` that depended on contexts that the waiting context itself has started, or on what others wait
    /// for.
    pub(super) indirect: f64,
    /// The part of `ns` that is charged to tasks with only little of it each.
    pub(super) in_pieces: f64,
    /// Number of waits that cost something.
    pub(super) waits: u64,
    /// The costliest waits, each with its cost in ns.
    pub(super) samples: Vec<(f64, TaskId)>,
    /// How often each context waited here, and the time (ns) that others lost while waiting for each context.
    pub(super) waiters: FxHashMap<ContextId, u64>,
    pub(super) holders: FxHashMap<ContextId, f64>,
}

impl Group {
    pub(super) fn new(key: Key) -> Self {
        Self {
            key,
            ns: 0.0,
            late: 0.0,
            indirect: 0.0,
            in_pieces: 0.0,
            waits: 0,
            samples: Vec::new(),
            waiters: FxHashMap::default(),
            holders: FxHashMap::default(),
        }
    }

    /// Counts a finished wait that cost `ns`.
    pub(super) fn waited(&mut self, wait: &Wait, ns: f64) {
        self.waits += 1;
        *self.waiters.entry(wait.task.context).or_default() += 1;
        self.samples.push((ns, wait.task));
        if self.samples.len() > 2 * SAMPLES {
            self.shorten();
        }
    }

    pub(super) fn shorten(&mut self) {
        self.samples
            .sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.samples.truncate(SAMPLES);
    }

    /// Notes that others lost `ns` while waiting for `context`.
    pub(super) fn held_by(&mut self, context: ContextId, ns: f64) {
        *self.holders.entry(context).or_default() += ns;
    }

    /// Adds another group of the same kind.
    pub(super) fn add(&mut self, other: Self) {
        self.ns += other.ns;
        self.late += other.late;
        self.indirect += other.indirect;
        self.in_pieces += other.in_pieces;
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

    /// Whether contexts take turns: those that are waited for wait here as well, about as often as the others.
    pub(super) fn takes_turns(&self) -> bool {
        let all: f64 = self.holders.values().sum();
        let mean = self.waits as f64 / self.waiters.len().max(1) as f64;
        let also = self.holders.iter().filter(|(context, _)| {
            self.waiters
                .get(context)
                .is_some_and(|&waits| waits as f64 >= mean / 2.0)
        });
        let also: f64 = also.map(|(_, ns)| ns).sum();
        self.waiters.len() > 1 && also * 2.0 > all
    }
}
