//! What a context does at a moment, and what kept it from its work before.

use taskgraph::{ContextId, TaskId, TaskKind};

use super::wait::Wait;
use crate::analysis::{LongCall, State, Task, long_call, state_of};

/// A phase with two contexts at work for less than one part in so many is serial, because creating and joining take
/// that long.
pub(super) const SERIAL: u64 = 50;

/// A context that ends so many waits of its creator, and hardly waits for its creator, makes something for it.
const FED: u32 = 8;

/// The current state of a context.
#[derive(Debug)]
pub(super) struct Now {
    /// The context that created it.
    pub(super) creator: Option<ContextId>,
    /// How often it ended a wait of its creator, and its creator one of its own.
    pub(super) fed: u32,
    pub(super) asked: u32,
    pub(super) doing: Doing,
    /// The part of a processor that it has if it runs, and what it lags behind if it lacks the rest.
    pub(super) share: f64,
    pub(super) lag: Option<Lag>,
    /// How long the context has run.
    pub(super) ran_ns: f64,
    /// The value of `ran_ns` when the context's previous wait ended that was not for a processor.
    pub(super) ran_before_ns: f64,
    /// How long at least one context had run by then.
    pub(super) busy_ns: u64,
    /// The same, when the context began.
    pub(super) born_ns: u64,
    /// The time that was charged to its wait so far, ns.
    pub(super) blamed: f64,
    /// What the task it runs is charged with so far, by group, ns; and the idle processor time of this phase beside
    /// that task which no wait accounts for.
    pub(super) charged: Vec<(u32, f64)>,
    pub(super) idle: f64,
    /// How long it was kept from its work since it last met the others, by group, ns.
    pub(super) delays: Vec<(u32, f64)>,
    /// How long processors have been idle beside it since then, ns.
    pub(super) idle_ns: f64,
}

/// What a context still has to do that lacked a processor before the end of its task. In the graph it lacks the processor
/// before the task and has it from there on, but when others took the processor is not known. So the work is spread over
/// the whole time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// Work, ns.
    pub(super) left: f64,
    /// When the task ends, ns.
    pub(super) end_ns: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Doing {
    Away,
    /// Runs a task, and what that does beside executing recorded code.
    Runs(TaskId, Also),
    Waits(Wait),
}

/// What a running task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Also {
    Nothing,
    /// It creates a context.
    Makes,
    /// It calls code that was not recorded.
    Calls,
}

impl Lag {
    /// The work of a task, unless the task does something else.
    pub(super) fn of(task: &Task<'_>) -> Option<Self> {
        let works = task.kind() == TaskKind::Work && state_of(task) == State::Running;
        works.then(|| Self {
            left: task.duration_ns() as f64,
            end_ns: task.end_ns(),
        })
    }
}

impl Also {
    pub(super) fn of(task: &Task<'_>) -> Self {
        match long_call(task) {
            _ if task.kind() == TaskKind::Create => Self::Makes,
            Some(LongCall::Works(_)) => Self::Calls,
            _ => Self::Nothing,
        }
    }
}

impl Now {
    pub(super) fn new(creator: Option<ContextId>) -> Self {
        Self {
            creator,
            fed: 0,
            asked: 0,
            doing: Doing::Away,
            share: 1.0,
            lag: None,
            ran_ns: 0.0,
            ran_before_ns: 0.0,
            busy_ns: 0,
            born_ns: 0,
            blamed: 0.0,
            charged: Vec::new(),
            idle: 0.0,
            delays: Vec::new(),
            idle_ns: 0.0,
        }
    }

    /// It meets the others: from here on all have the same time for their work.
    pub(super) fn meet(&mut self) {
        self.delays.clear();
        self.idle_ns = 0.0;
    }

    /// How long it was kept from its work since it last met the others, ns.
    pub(super) fn delay(&self) -> f64 {
        self.delays.iter().map(|(_, ns)| ns).sum()
    }

    /// The part of an interval of `ns`, `after` ns of work after others began to wait for this context, for which they wait
    /// only because it was kept from its work, and they were for no more than `others` ns. If it has more to do than
    /// they have, that comes last.
    pub(super) fn kept(&self, others: f64, after: f64, ns: f64) -> f64 {
        (self.delay() - others - after).clamp(0.0, ns) / ns.max(1.0)
    }

    /// Whether it makes what its creator waits for time and again. Otherwise its creator waits for the end of a piece of
    /// work, or gives it the next one.
    pub(super) fn feeds(&self) -> bool {
        self.fed / FED > self.asked
    }

    /// Whether it works for a part of its life that counts. By now at least one context has run for `busy_ns`; what
    /// else passed was other programs' time, or sleep.
    pub(super) fn works(&self, busy_ns: u64) -> bool {
        self.ran_ns * SERIAL as f64 >= (busy_ns - self.born_ns) as f64
    }

    /// The task that it runs.
    pub(super) fn task(&self) -> Option<TaskId> {
        match self.doing {
            Doing::Runs(task, _) => Some(task),
            _ => None,
        }
    }

    /// The part of a processor that its work needs from a time on, to be done in time.
    pub(super) fn needs(&self, now_ns: u64) -> f64 {
        self.lag.map_or(1.0, |lag| {
            let rest_ns = lag.end_ns.saturating_sub(now_ns).max(1);
            (lag.left / rest_ns as f64).min(1.0)
        })
    }

    /// Runs for a while. Returns for how long it lacked a processor meanwhile, ns.
    pub(super) fn run(&mut self, ns: f64) -> f64 {
        let ran = ns * self.share;
        self.ran_ns += ran;
        match &mut self.lag {
            Some(lag) => {
                lag.left -= ran;
                ns - ran
            }
            None => 0.0,
        }
    }

    /// Charges the task that it runs.
    pub(super) fn charge(&mut self, group: u32, ns: f64) {
        add(&mut self.charged, group, ns);
    }

    /// Notes that it was kept from its work.
    pub(super) fn keep(&mut self, group: u32, ns: f64) {
        add(&mut self.delays, group, ns);
    }

    pub(super) fn wait(&self) -> Option<&Wait> {
        match &self.doing {
            Doing::Waits(wait) => Some(wait),
            _ => None,
        }
    }
}

fn add(charges: &mut Vec<(u32, f64)>, group: u32, ns: f64) {
    match charges.iter_mut().find(|charge| charge.0 == group) {
        Some(charge) => charge.1 += ns,
        None => charges.push((group, ns)),
    }
}
