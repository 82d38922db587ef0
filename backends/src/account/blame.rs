//! Finds the cause of each moment in which a processor had nothing to do.
//!
//! The number of idle processors at a moment is the number of processors less the number of running contexts. Their
//! time is divided among the contexts that wait for a reason, and charged to what the awaited context does at that
//! moment: if that context waits too, to what it waits for, and so on. A context that waits for the end of what it has
//! started gets no share while others wait. If no other context waits, the code that still runs is to blame: as serial
//! code or, within a parallel phase, as the largest share of the work. Who comes last because of waits of its own, for a
//! lock or for a processor, has no larger share of the work: the others wait for what it waited for.
//!
//! A context from which other programs took the processor runs with a part of one, and lacks the rest of it. Of those
//! who wait for it, the same part waits for its work, and the rest for a processor.

mod idle;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{Context, SyncOp, TaskId};

use super::births::{Births, Thread};
use super::charges::{Charge, Charges};
use super::context::{Also, Doing, Lag, Now, SERIAL};
use super::group::{Group, Key, STRETCHES, When};
use super::wait::{Kind, Wait};
use crate::analysis::{Cause, Change, Graph, State, end_of, ready_ns};

/// A charge of less than this, ns, is that of a small piece of work.
const PIECE_NS: f64 = 50_000.0;
/// A context that ran for less than one part in so many of its wait had nothing to do.
const IDLE: f64 = 10.0;

/// The causes of idle processor time.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// Length of the run from its first task on, without what the recording took, ns.
    pub(super) duration_ns: u64,
    /// Processor time in which contexts ran, ns.
    pub(super) used: f64,
    /// The part of `used` in which contexts were created, ns.
    pub(super) making: f64,
    /// The part of `used` that was spent in calls of code that was not recorded, ns.
    pub(super) outside: f64,
    /// Number of contexts that ran.
    pub(super) contexts: u64,
    pub(super) groups: Vec<Group>,
    /// What each task is charged with.
    pub(super) charges: Charges,
}

/// The causes up to a change.
#[derive(Debug)]
pub(super) struct Sweep {
    processors: u32,
    now_ns: u64,
    end_ns: u64,
    contexts: Vec<Now>,
    running: Vec<usize>,
    waiting: Vec<usize>,
    births: Births,
    /// The largest number of contexts that ran at one time so far: for so many there are threads.
    threads: usize,
    alive: u32,
    groups: FxHashMap<Key, u32>,
    /// Idle processor time of this phase that no wait accounts for, with the place and the task of a context that ran
    /// meanwhile; the length of the phase; how long more than one context ran in it.
    phase: Vec<(usize, u32, f64)>,
    phase_when: When,
    phase_ns: u64,
    together_ns: u64,
    /// For how long at least one context has run.
    busy_ns: u64,
    /// For how long the contexts that ended in this phase were kept from their work, ns, and how many they are.
    ended: (f64, f64),
    /// The largest number of contexts at one time that did something other than wait for the end of others.
    most: u32,
    blame: Blame,
}

impl Blame {
    /// What a task is charged with; see [`Charges::of`].
    pub(super) fn charges(&self, task: TaskId) -> &[Charge] {
        self.charges.of(task)
    }
}

impl Sweep {
    /// For a run on `processors` processors.
    pub(super) fn new(graph: &Graph, processors: u32) -> Self {
        let contexts = || graph.contexts().filter(|context| context.task_count > 0);
        let began = contexts().map(|context| context.first_ns).min();
        let (began, end_ns) = (began.unwrap_or(0), end_of(graph));
        let creator = |context: Context| context.creator.map(|task| task.context);
        Self {
            processors: processors.max(1),
            now_ns: began,
            end_ns,
            contexts: contexts()
                .map(|context| Now::new(creator(context)))
                .collect(),
            running: Vec::new(),
            waiting: Vec::new(),
            births: Births::of(graph, processors as usize),
            threads: 0,
            alive: 0,
            groups: FxHashMap::default(),
            phase: Vec::new(),
            phase_when: When::default(),
            phase_ns: 0,
            together_ns: 0,
            busy_ns: 0,
            ended: (0.0, 0.0),
            most: 0,
            blame: Blame {
                duration_ns: end_ns.saturating_sub(began),
                contexts: contexts().count() as u64,
                charges: Charges::new(contexts().map(|context| context.id)),
                ..Blame::default()
            },
        }
    }

    /// Follows a change; they come in order of time.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn change(&mut self, change: &Change<'_>) -> Result<()> {
        while let Some(thread) = self.births.thread(change.at_ns) {
            self.advance(thread.ready_ns);
            self.lacks(&thread);
        }
        self.advance(change.at_ns);
        if let (None, Some(first)) = (change.from, change.task) {
            self.births.begin(first.graph(), self.now_ns)?;
        }
        let at = change.context;
        let before = &self.contexts[at];
        if let (Doing::Runs(task, _), Some(same)) = (before.doing, change.task)
            && same.id() == task
        {
            return Ok(());
        }
        let meanwhile = self.busy_ns - before.busy_ns;
        let own_ns = before.ran_ns - before.ran_before_ns;
        match before.doing {
            Doing::Away => self.appear(at),
            Doing::Runs(..) => {
                self.running.retain(|&other| other != at);
                self.leave(at);
            }
            Doing::Waits(wait) => {
                let blamed = before.blamed;
                self.waiting.retain(|&other| other != at);
                if blamed > 0.0 {
                    let group = self.group(Key::of(&wait));
                    self.blame.groups[group as usize].waited(&wait, blamed);
                }
                self.hand_over(at, &wait);
                let meets = matches!(wait.kind, Kind::Barrier | Kind::Idle | Kind::End);
                let group = self.group(Key::of(&wait));
                let now = &mut self.contexts[at];
                // Whoever had no processor goes on with what it did before.
                if !matches!(wait.kind, Kind::Unknown | Kind::Recording) {
                    now.ran_before_ns = now.ran_ns;
                }
                if meets {
                    now.meet();
                    // Who comes last does not wait.
                    let last = wait.ended_by.filter(|_| wait.kind != Kind::End);
                    let last = last.and_then(|(task, _)| self.blame.charges.place(task.context));
                    if let Some(last) = last {
                        self.contexts[last].meet();
                    }
                } else {
                    // While nothing ran, it fell behind nobody.
                    now.keep(group, meanwhile as f64);
                }
            }
        }
        let mut lag = None;
        if let (Some(State::Waiting(Cause::Other)), Some(task)) = (change.to, change.task)
            && ready_ns(task, self.now_ns)? == self.now_ns
        {
            lag = Lag::of(task);
        }
        let doing = match (change.to, change.task) {
            (Some(to), Some(task)) if to == State::Running || lag.is_some() => {
                self.running.push(at);
                Doing::Runs(task.id(), Also::of(task))
            }
            (Some(State::Waiting(cause)), Some(task)) => {
                self.waiting.push(at);
                let mut wait = Wait::of(task, cause)?;
                let ends = wait.ended_by.map_or(self.now_ns, |(_, end)| end);
                let idles = own_ns * IDLE < ends.saturating_sub(self.now_ns) as f64;
                // At a barrier of the program's own only threads meet that have a part of the work.
                if wait.kind == Kind::Barrier && idles && task.op() != SyncOp::AtomicLoad {
                    wait.kind = Kind::Idle;
                }
                Doing::Waits(wait)
            }
            _ => {
                self.alive -= 1;
                self.ended = (self.ended.0 + self.contexts[at].delay(), self.ended.1 + 1.0);
                self.contexts[at].meet();
                Doing::Away
            }
        };
        let now = &mut self.contexts[at];
        (now.doing, now.blamed) = (doing, 0.0);
        (now.share, now.lag, now.busy_ns) = (1.0, lag, self.busy_ns);
        if self.alive <= 1 {
            self.end_phase();
        }
        Ok(())
    }

    /// A context begins.
    fn appear(&mut self, at: usize) {
        self.contexts[at].born_ns = self.busy_ns;
        self.alive += 1;
    }

    /// A thread that has not begun lacks a processor from now on.
    fn lacks(&mut self, thread: &Thread) {
        let at = thread.place;
        self.appear(at);
        let now = &mut self.contexts[at];
        (now.busy_ns, now.lag) = (self.busy_ns, thread.lag);
        if thread.lag.is_some() {
            self.running.push(at);
            now.doing = Doing::Runs(thread.first, thread.also);
        } else {
            self.waiting.push(at);
            now.doing = Doing::Waits(Wait::for_processor(thread.first));
        }
    }

    /// Notes what passes between a context and the one that created it, when the wait of the context at a place ends.
    fn hand_over(&mut self, at: usize, wait: &Wait) {
        let from = wait.ended_by.filter(|_| wait.kind == Kind::Word);
        let Some((from, _)) = from else { return };
        if self.contexts[at].creator == Some(from.context) {
            self.contexts[at].asked += 1;
        } else if let Some(other) = self.blame.charges.place(from.context) {
            let other = &mut self.contexts[other];
            other.fed += u32::from(other.creator == Some(wait.task.context));
        }
    }

    /// All causes, after the last change.
    pub(super) fn finish(mut self) -> Blame {
        self.advance(self.end_ns);
        self.end_phase();
        for at in 0..self.contexts.len() {
            self.leave(at);
        }
        self.blame.charges.settle();
        for charge in self.blame.charges.all() {
            if charge.ns < PIECE_NS {
                self.blame.groups[charge.group as usize].in_pieces += charge.ns;
            }
        }
        self.blame
    }

    /// The context at a place leaves the task that it runs, with all that the task is charged with.
    fn leave(&mut self, at: usize) {
        let now = &mut self.contexts[at];
        let Doing::Runs(task, _) = now.doing else {
            return;
        };
        for (group, ns) in now.charged.drain(..) {
            self.blame.charges.add(at, task.seq, group, ns);
        }
        let idle = std::mem::take(&mut now.idle);
        if idle > 0.0 {
            self.phase.push((at, task.seq, idle));
        }
    }

    /// Accounts for the time since the last change.
    fn advance(&mut self, now_ns: u64) {
        if now_ns <= self.now_ns {
            return;
        }
        let ns = now_ns - self.now_ns;
        let beside = self.waiting.iter().filter(|&&at| {
            self.contexts[at]
                .wait()
                .is_some_and(|wait| wait.kind == Kind::End)
        });
        let at_work = self
            .alive
            .saturating_sub(u32::try_from(beside.count()).unwrap_or(u32::MAX));
        self.most = self.most.max(at_work);
        let runs = self.running.len().min(self.processors as usize);
        self.threads = self.threads.max(runs);
        let used = self.hand_out();
        self.blame.used += used * ns as f64;
        let had: f64 = self.running.iter().map(|&at| self.contexts[at].share).sum();
        let each = used / had.max(f64::MIN_POSITIVE) * ns as f64;
        for &at in &self.running {
            let now = &self.contexts[at];
            match now.doing {
                Doing::Runs(_, Also::Makes) => self.blame.making += now.share * each,
                Doing::Runs(_, Also::Calls) => self.blame.outside += now.share * each,
                _ => {}
            }
        }
        self.phase_ns += ns;
        self.busy_ns += if self.running.is_empty() { 0 } else { ns };
        // Who lacks a processor works, too.
        let late = self.births.late(self.now_ns, now_ns);
        let begins = if self.threads > runs { late } else { 0 };
        let kept = |&at: &usize| {
            self.contexts[at]
                .wait()
                .is_some_and(|wait| wait.kind == Kind::Unknown)
        };
        let kept = self.waiting.iter().filter(|at| kept(at)).count();
        if self.running.len() + kept + usize::from(begins * 2 > ns) > 1 {
            self.together_ns += ns;
        }
        let idle = f64::from(self.processors) - used;
        if idle > 0.0 {
            self.idle(idle, late, now_ns);
        }
        let mut all_lacked = 0.0;
        for place in 0..self.running.len() {
            let at = self.running[place];
            let lacked = self.contexts[at].run(ns as f64);
            if lacked > 0.0 {
                let nothing = self.group(Key::Nothing);
                self.contexts[at].keep(nothing, lacked);
            }
            all_lacked += lacked;
        }
        // As long as no processor is left over, those that have ended would have been kept as much as those that run.
        if self.running.len() >= self.processors as usize {
            self.ended.0 += self.ended.1 * all_lacked / self.running.len() as f64;
        }
        self.now_ns = now_ns;
    }

    /// Hands the processors out to the contexts that run: those that lag behind get what the others leave. Returns how
    /// many processors are used.
    fn hand_out(&mut self) -> f64 {
        let (mut full, mut needed) = (0.0, 0.0);
        for &at in &self.running {
            let now = &mut self.contexts[at];
            now.share = now.needs(self.now_ns);
            match now.lag {
                None => full += 1.0,
                Some(_) => needed += now.share,
            }
        }
        let processors = f64::from(self.processors);
        let left = f64::max(processors - full, 0.0);
        if needed > left {
            for &at in &self.running {
                let now = &mut self.contexts[at];
                if now.lag.is_some() {
                    now.share *= left / needed;
                }
            }
        }
        f64::min(full + needed, processors)
    }

    /// The time from the last change to this one, in stretches of the run.
    fn stretch(&self, until_ns: u64) -> (f64, f64) {
        let all = self.end_ns.max(1) as f64;
        let place = |ns: u64| ns as f64 * STRETCHES as f64 / all;
        (place(self.now_ns), place(until_ns))
    }

    fn group(&mut self, key: Key) -> u32 {
        let groups = &mut self.blame.groups;
        *self.groups.entry(key).or_insert_with(|| {
            groups.push(Group::new(key));
            u32::try_from(groups.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Charges the time of a finished phase in which the running code is to blame. If one context worked at a time and
    /// others waited for it, the code is serial. Otherwise the contexts that ran last had more to do.
    fn end_phase(&mut self) {
        for at in 0..self.running.len() {
            let at = self.running[at];
            let now = &mut self.contexts[at];
            let idle = std::mem::take(&mut now.idle);
            now.meet();
            if let Some(task) = now.task().filter(|_| idle > 0.0) {
                self.phase.push((at, task.seq, idle));
            }
        }
        let serial = self.together_ns * SERIAL <= self.phase_ns;
        let group = self.group(if serial { Key::Serial } else { Key::Imbalance });
        // The number of processors that had no thread in the whole phase.
        let fewer = self.processors.saturating_sub(self.most.max(1));
        let missing = if serial {
            0.0
        } else {
            f64::from(fewer) / f64::from(self.processors.max(1))
        };
        let threads = if missing > 0.0 {
            Some(self.group(Key::Threads))
        } else {
            None
        };
        let all: f64 = self.phase.iter().map(|&(_, _, ns)| ns).sum();
        let gone = (missing * f64::from(self.processors) * self.phase_ns as f64).min(all);
        for (at, seq, ns) in self.phase.drain(..) {
            let ns = ns * (1.0 - gone / all.max(1.0));
            self.blame.groups[group as usize].ns += ns;
            self.blame.charges.add(at, seq, group, ns);
        }
        let when = std::mem::take(&mut self.phase_when);
        let part = gone / all.max(1.0);
        let found = &mut self.blame.groups[group as usize];
        found.when.join(&when, 1.0 - part);
        if let Some(threads) = threads {
            let threads = &mut self.blame.groups[threads as usize];
            threads.ns += gone;
            threads.when.join(&when, part);
        }
        (self.phase_ns, self.together_ns, self.most) = (0, 0, 0);
        self.ended = (0.0, 0.0);
    }
}
