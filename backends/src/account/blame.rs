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

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{Context, SyncOp, TaskId};

use super::births::{Births, LATE_NS, Thread};
use super::charges::{Charge, Charges};
use super::context::{Also, Doing, Lag, Now, SERIAL};
use super::group::{Group, Key, STRETCHES, When};
use super::wait::{Kind, Wait};
use crate::analysis::{Cause, Change, Graph, State, Task, end_of};

/// The largest number of waits that are followed in a chain.
const DEEP: usize = 32;
/// The largest number of waiting contexts that are considered at one moment.
const MOST: usize = 64;
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

/// The cause of an idle processor's moment.
enum Root {
    /// The task that the context at this place runs, and whether it is awaited only through other contexts.
    Task(usize, bool),
    /// A wait for something outside.
    Outside(Wait),
    /// Nothing is awaited any more, since then (ns) if that is known, so the wait should be over.
    Late(Option<u64>),
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
        let before = &mut self.contexts[at];
        if let (Doing::Runs(task, also), Some(same)) = (&mut before.doing, change.task)
            && same.id() == *task
        {
            *also = Also::of(same, change.call);
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
            && could_begin(task, self.now_ns)?
        {
            lag = Lag::of(task);
        }
        let doing = match (change.to, change.task) {
            (Some(State::Running), Some(task)) => {
                self.running.push(at);
                Doing::Runs(task.id(), Also::of(task, change.call))
            }
            (Some(_), Some(task)) if lag.is_some() => {
                self.running.push(at);
                Doing::Runs(task.id(), Also::Nothing)
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
            now.doing = Doing::Runs(thread.first, Also::Nothing);
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

    /// Charges the time of `idle` processors. For `late` ns tasks could have begun that any thread may run.
    fn idle(&mut self, idle: f64, late: u64, until_ns: u64) {
        let ns = (until_ns - self.now_ns) as f64;
        let stretch = self.stretch(until_ns);
        let all = idle * ns;
        let mut waiting: Vec<usize> = self
            .waiting
            .iter()
            .copied()
            .filter(|&at| self.has_reason(at))
            .collect();
        waiting.truncate(MOST);
        // Who runs for a part of the time only has no processor for the rest. Who could begin and does not has no
        // processor, if a thread is there for it. Who waits for others may run tasks meanwhile. If nothing else runs,
        // nobody has anything to do before it begins.
        let lack = |&at: &usize| 1.0 - self.contexts[at].share;
        let lacking = self.running.iter().map(lack).sum::<f64>() * ns;
        let blocked = waiting.iter().filter(|&&at| self.is_blocked(at)).count();
        let free = self.threads.saturating_sub(self.running.len() + blocked) as f64;
        let late = if self.running.is_empty() {
            all * (late as f64 / ns).min(1.0)
        } else {
            (free * ns).min(late as f64)
        };
        let late = (late + lacking).min(all);
        if late > 0.0 {
            let nothing = self.group(Key::Nothing);
            self.blame.groups[nothing as usize].lose(late, stretch);
        }
        let mut left = all - late;
        if !waiting.is_empty() {
            let each = (left / waiting.len() as f64).min(ns);
            left -= each * waiting.len() as f64;
            for at in waiting {
                self.lay_on(at, each, until_ns);
            }
        }
        if left < 1.0 {
            return;
        }
        if !self.running.is_empty() {
            let each = left / self.running.len() as f64;
            let nothing = self.group(Key::Nothing);
            let others = self.ended.0 / f64::max(self.ended.1, 1.0);
            for place in 0..self.running.len() {
                let at = self.running[place];
                let now = &mut self.contexts[at];
                let lost = each * (1.0 - now.share);
                let each = each - lost;
                self.blame.groups[nothing as usize].lose(lost, stretch);
                let kept = now.kept(others, now.idle_ns, ns * now.share) * each;
                now.idle_ns += ns;
                now.idle += each - kept;
                self.phase_when.add(stretch, each - kept);
                self.lay_on_delays(at, kept, stretch);
            }
            return;
        }
        // No context runs, and none waits for a context that runs. If one waits for something outside, that is the
        // cause.
        let outside = self
            .waiting
            .iter()
            .find_map(|&at| self.contexts[at].wait().filter(|wait| wait.is_outside()))
            .copied();
        // Otherwise one of those that wait for an end should go on.
        let ends = self.waiting.iter().filter_map(|&at| {
            let wait = self.contexts[at].wait()?;
            (wait.kind == Kind::End).then_some(wait.ended_by)
        });
        let happened = |end: Option<(TaskId, u64)>| Some(end?.1).filter(|&end| end <= self.now_ns);
        let (since, starts) = (
            ends.clone().filter_map(happened).min(),
            ends.count() > 0 && outside.is_none(),
        );
        if starts {
            let more = left * since.map_or(0.0, |since| self.overdue(since, until_ns));
            let starting = self.group(Key::Starting);
            self.blame.groups[starting as usize].lose(left - more, stretch);
            left = more;
        }
        let group = self.group(outside.as_ref().map_or(Key::Nothing, Key::of));
        self.blame.groups[group as usize].lose(left, stretch);
        if let Some(wait) = outside {
            self.blame.groups[group as usize].waited(&wait, left);
        }
    }

    /// Whether a context waits for something that keeps it from working. The end of what it has started is no such
    /// thing, nor is an event that never comes, nor a wait that is the context's purpose (a thread that only sleeps,
    /// waits for signals, or writes what others have made).
    fn has_reason(&self, at: usize) -> bool {
        let now = &self.contexts[at];
        let Some(wait) = now.wait() else { return false };
        match wait.kind {
            Kind::End => false,
            Kind::Outside => now.works(self.busy_ns),
            Kind::Word => now.works(self.busy_ns) && wait.ended_by.is_some(),
            Kind::Message | Kind::Startup | Kind::Recording | Kind::Unknown => true,
            _ => wait.ended_by.is_some(),
        }
    }

    /// Whether the thread of a context that waits can do nothing else.
    fn is_blocked(&self, at: usize) -> bool {
        let wait = self.contexts[at].wait();
        wait.is_some_and(|wait| !matches!(wait.kind, Kind::Barrier | Kind::Idle | Kind::Unknown))
    }

    /// Charges idle processor time to what kept the context at a place from its work.
    fn lay_on_delays(&mut self, at: usize, ns: f64, stretch: (f64, f64)) {
        let all = self.contexts[at].delay();
        for &(group, part) in &self.contexts[at].delays {
            self.blame.groups[group as usize].lose(ns * part / all.max(1.0), stretch);
        }
    }

    fn lay_on(&mut self, at: usize, mut ns: f64, until_ns: u64) {
        let now = &self.contexts[at];
        let Some(&wait) = now.wait() else {
            return;
        };
        let key = Key::of(&wait);
        let root = self.root(&wait);
        let stretch = self.stretch(until_ns);
        if let Root::Task(place, _) = root {
            let awaited = &self.contexts[place];
            let lost = ns * (1.0 - awaited.share);
            ns -= lost;
            let kept = if matches!(wait.kind, Kind::Barrier | Kind::Idle) {
                let passed = until_ns - self.now_ns;
                let after = (self.busy_ns - now.busy_ns).saturating_sub(passed) as f64;
                awaited.kept(now.delay(), after, passed as f64 * awaited.share) * ns
            } else {
                0.0
            };
            ns -= kept;
            self.lay_on_delays(place, kept, stretch);
            if lost > 0.0 {
                let nothing = self.group(Key::Nothing);
                self.blame.groups[nothing as usize].lose(lost, stretch);
            }
        }
        self.contexts[at].blamed += ns;
        match root {
            Root::Task(place, by_others) => {
                let awaited = &self.contexts[place];
                let own = awaited.creator == Some(wait.task.context) && !awaited.feeds();
                let context = awaited.task().map(|task| task.context);
                let group = self.group(key);
                let found = &mut self.blame.groups[group as usize];
                found.lose(ns, stretch);
                if let Some(context) = context {
                    found.held_by(context, ns);
                }
                if own || by_others {
                    found.indirect += ns;
                }
                self.contexts[place].charge(group, ns);
            }
            Root::Outside(outside) => {
                let group = self.group(Key::of(&outside));
                self.blame.groups[group as usize].lose(ns, stretch);
                self.blame.groups[group as usize].waited(&outside, ns);
            }
            Root::Late(since) => {
                let more = ns * since.map_or(0.0, |since| self.overdue(since, until_ns));
                let (group, nothing) = (self.group(key), self.group(Key::Nothing));
                self.blame.groups[group as usize].lose(ns - more, stretch);
                self.blame.groups[group as usize].late += ns - more;
                self.blame.groups[nothing as usize].lose(more, stretch);
            }
        }
    }

    /// The part of the time since the last change in which what ends a wait has happened for long.
    fn overdue(&self, since_ns: u64, until_ns: u64) -> f64 {
        let all_ns = until_ns - self.now_ns;
        let more_ns = until_ns.saturating_sub(since_ns + LATE_NS).min(all_ns);
        more_ns as f64 / all_ns.max(1) as f64
    }

    /// What the awaited context does or, if that context waits, what it waits for.
    fn root(&self, wait: &Wait) -> Root {
        let mut wait = *wait;
        if wait.is_outside() {
            return Root::Outside(wait);
        }
        for depth in 0..DEEP {
            let Some((task, end_ns)) = wait.ended_by else {
                return Root::Late(None);
            };
            if end_ns <= self.now_ns {
                return Root::Late(Some(end_ns));
            }
            let Some(at) = self.blame.charges.place(task.context) else {
                return Root::Late(None);
            };
            match self.contexts[at].doing {
                Doing::Runs(..) => return Root::Task(at, depth > 0),
                Doing::Waits(next) if next.is_outside() => return Root::Outside(next),
                Doing::Waits(next) => wait = next,
                Doing::Away => return Root::Late(None),
            }
        }
        Root::Late(None)
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

/// Whether all is done that a task depends on.
fn could_begin(task: &Task<'_>, now_ns: u64) -> Result<bool> {
    for &before in task.stored_dependencies() {
        if task.other(before)?.end_ns() > now_ns {
            return Ok(false);
        }
    }
    Ok(true)
}
