//! Finds the cause of each moment in which a processor has nothing to do, in a replay on idle
//! processors.
//!
//! The time of idle processors is divided among the contexts that wait for a reason, and charged to
//! what the awaited context does at that moment: if that context waits too, to what it waits for,
//! and so on. A context that waits for the end of what it has started gets no share while others
//! wait. If no other context waits, the code that still runs is to blame: as serial code or, within
//! a parallel phase, as the largest share of the work. Who comes last because of waits of its own
//! has no larger share of the work: the others wait for what it waited for.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::group::{Group, Key, STRETCHES, When, key};
use super::replay::Watch;
use super::strands::{Strands, end};
use super::wait::{Kind, Wait};

/// A charge of less than this, ns, is that of a small piece of work.
const PIECE_NS: f64 = 50_000.0;
/// A phase with two contexts at work for less than one part in so many is serial, because creating
/// and joining take that long.
const SERIAL: f64 = 50.0;
/// A context that ends so many waits of its creator, and hardly waits for its creator, makes
/// something for it.
const FED: u32 = 8;
/// The largest number of waits that are followed in a chain, such as one of tasks that depend on
/// each other.
const DEEP: usize = 1024;
/// The largest number of waiting contexts that are considered at one moment.
const MOST: usize = 64;

/// The causes of idle processor time.
#[derive(Debug, Default)]
pub(super) struct Blame {
    /// Processor time in which contexts ran, ns.
    pub(super) used: f64,
    pub(super) groups: Vec<Group>,
    /// The idle processor time, ns, that each strand is to blame for, by strand and group.
    pub(super) charges: BTreeMap<(usize, u32), f64>,
}

/// What a context does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    /// It has not begun, has ended, or has no processor.
    #[default]
    Away,
    /// It runs this strand.
    Runs(usize),
    /// It is in this wait, for another context if that is known.
    Waits(u32, Option<u32>),
}

/// The current state of a context.
#[derive(Clone, Debug, Default)]
struct Now {
    doing: Doing,
    /// Its place among those that wait or run.
    place: usize,
    begun: bool,
    /// How often it ended a wait of its creator, and its creator one of its own.
    fed: u32,
    asked: u32,
    /// How long it has run, and how long at least one context had run when it began, ns.
    ran_ns: f64,
    born_ns: f64,
    /// The time for which at least one context ran, when its wait began, ns.
    busy_ns: f64,
    /// The time that was charged to its wait so far, ns.
    blamed: f64,
    /// What the strand it runs is charged with so far, by group, ns; and the idle processor time
    /// beside the strand which no wait accounts for.
    charged: Vec<(u32, f64)>,
    idle: f64,
    /// How long it was kept from its work since it last met the others, by group, ns.
    delays: Vec<(u32, f64)>,
    /// How long processors have been idle beside it since then, ns.
    idle_ns: f64,
}

/// The causes up to a moment of the replay.
#[derive(Debug)]
pub(super) struct Sweep<'s> {
    strands: &'s Strands,
    processors: f64,
    /// The part of what contexts take from others by spinning that is lost to that.
    spinning: f64,
    now_ns: f64,
    /// Length of the run, ns.
    end_ns: f64,
    contexts: Vec<Now>,
    running: Vec<u32>,
    waiting: Vec<u32>,
    alive: u32,
    /// Number of contexts that wait for the end of others.
    joining: u32,
    groups: FxHashMap<Key, u32>,
    phase: Phase,
    /// For how long at least one context has run.
    busy_ns: f64,
    /// What is known of chains of waits at this moment, by context.
    roots: FxHashMap<u32, Root>,
    blame: Blame,
}

/// A part of the run in which either one context or several are alive.
#[derive(Debug, Default)]
struct Phase {
    /// Idle processor time that no wait accounts for, by strand, and when it was.
    idle: Vec<(usize, f64)>,
    when: When,
    /// Its length, and how long more than one context ran in it.
    ns: f64,
    together_ns: f64,
    /// For how long the contexts that ended in it were kept from their work, ns, and how many they
    /// are.
    ended: (f64, f64),
    /// The largest number of contexts at one time that did something other than wait for the end of
    /// others.
    most: u32,
}

/// The cause of an idle processor's moment.
#[derive(Clone, Copy, Debug)]
enum Root {
    /// The context that runs, and whether it is awaited only through other contexts.
    Runs(u32, bool),
    /// A wait for something outside.
    Outside(Wait),
    /// Nothing is awaited any more: who waits is about to go on.
    Waking,
}

impl Now {
    /// It meets the others: from here on all have the same time for their work.
    fn meet(&mut self) {
        self.delays.clear();
        self.idle_ns = 0.0;
    }

    /// How long it was kept from its work since it last met the others, ns.
    fn delay(&self) -> f64 {
        self.delays.iter().map(|(_, ns)| ns).sum()
    }

    /// The part of an interval of `ns`, `after` ns after others began to wait for this context, for
    /// which they wait only because it was kept from its work, and they were for no more than
    /// `others` ns. If it has more to do than they have, that comes last.
    fn kept(&self, others: f64, after: f64, ns: f64) -> f64 {
        (self.delay() - others - after).clamp(0.0, ns) / ns.max(f64::MIN_POSITIVE)
    }

    /// Whether it makes what its creator waits for time and again. Otherwise its creator waits for
    /// the end of a piece of work, or gives it the next one.
    fn feeds(&self) -> bool {
        self.fed / FED > self.asked
    }

    /// Whether it works for a part of its life that counts.
    fn works(&self, busy_ns: f64) -> bool {
        self.ran_ns * SERIAL >= busy_ns - self.born_ns
    }
}

impl<'s> Sweep<'s> {
    /// For a replay of `end_ns` on `processors` processors, where this part of what contexts take
    /// from others by spinning is lost to that.
    pub(super) fn new(
        strands: &'s Strands,
        (processors, spinning): (u32, f64),
        end_ns: f64,
    ) -> Self {
        Self {
            strands,
            processors: f64::from(processors.max(1)),
            spinning,
            now_ns: 0.0,
            end_ns,
            contexts: vec![Now::default(); strands.leads.len()],
            running: Vec::new(),
            waiting: Vec::new(),
            alive: 0,
            joining: 0,
            groups: FxHashMap::default(),
            phase: Phase::default(),
            busy_ns: 0.0,
            roots: FxHashMap::default(),
            blame: Blame::default(),
        }
    }

    /// All causes, after the end of the replay.
    pub(super) fn finish(mut self) -> Blame {
        for context in self.running.clone() {
            if let Doing::Runs(strand) = self.contexts[context as usize].doing {
                self.stops(context, strand);
            }
        }
        self.end_phase();
        for (&(_, group), &ns) in &self.blame.charges {
            if ns < PIECE_NS {
                self.blame.groups[group as usize].in_pieces += ns;
            }
        }
        self.blame
    }

    fn now(&mut self, context: u32) -> &mut Now {
        &mut self.contexts[context as usize]
    }

    /// The wait that a context is in.
    fn wait(&self, context: u32) -> Option<&'s Wait> {
        match self.contexts[context as usize].doing {
            Doing::Waits(wait, _) => self.wait_at(wait),
            _ => None,
        }
    }

    fn wait_at(&self, number: u32) -> Option<&'s Wait> {
        self.strands.waits.get(number as usize)
    }

    fn group(&mut self, key: Key) -> u32 {
        let groups = &mut self.blame.groups;
        *self.groups.entry(key).or_insert_with(|| {
            let number = end(groups);
            groups.push(Group { key, groups: vec![number], ..Group::default() });
            number
        })
    }

    fn group_of(&mut self, key: Key) -> &mut Group {
        let group = self.group(key);
        &mut self.blame.groups[group as usize]
    }

    /// The context leaves the list of those that run or wait.
    fn leave(&mut self, context: u32) {
        let now = &mut self.contexts[context as usize];
        let place = now.place;
        let list = match std::mem::take(&mut now.doing) {
            Doing::Away => return,
            Doing::Runs(_) => &mut self.running,
            Doing::Waits(..) => &mut self.waiting,
        };
        list.swap_remove(place);
        if let Some(&moved) = list.get(place) {
            self.contexts[moved as usize].place = place;
        }
    }

    fn enter(&mut self, context: u32, doing: Doing) {
        let list = match doing {
            Doing::Away => return,
            Doing::Runs(_) => &mut self.running,
            Doing::Waits(..) => &mut self.waiting,
        };
        list.push(context);
        let place = list.len() - 1;
        let now = &mut self.contexts[context as usize];
        (now.doing, now.place) = (doing, place);
    }

    /// The next `ns` from now on, in stretches of the run.
    fn stretch(&self, ns: f64) -> (f64, f64) {
        let place = |at: f64| at * STRETCHES as f64 / self.end_ns.max(1.0);
        (place(self.now_ns), place(self.now_ns + ns))
    }

    /// Charges the time of a finished phase in which the running code is to blame. If one context
    /// worked at a time and others waited for it, the code is serial. Otherwise the contexts that
    /// ran last had more to do.
    fn end_phase(&mut self) {
        for at in 0..self.running.len() {
            let context = self.running[at];
            let now = self.now(context);
            let idle = std::mem::take(&mut now.idle);
            now.meet();
            if let Doing::Runs(strand) = now.doing
                && idle > 0.0
            {
                self.phase.idle.push((strand, idle));
            }
        }
        let phase = std::mem::take(&mut self.phase);
        let serial = phase.together_ns * SERIAL <= phase.ns;
        let group = self.group((if serial { Kind::Serial } else { Kind::Share }, 0));
        // The number of processors that had no thread in the whole phase.
        let fewer = self.processors - f64::from(phase.most.max(1));
        let missing = if serial || fewer <= 0.0 { 0.0 } else { fewer * phase.ns };
        let all: f64 = phase.idle.iter().map(|&(_, ns)| ns).sum();
        let gone = missing.min(all);
        let part = gone / all.max(1.0);
        for (strand, ns) in phase.idle {
            let ns = ns * (1.0 - part);
            self.blame.groups[group as usize].ns += ns;
            *self.blame.charges.entry((strand, group)).or_default() += ns;
        }
        self.blame.groups[group as usize].when.join(&phase.when, 1.0 - part);
        if gone > 0.0 {
            let threads = self.group_of((Kind::Threads, 0));
            threads.ns += gone;
            threads.when.join(&phase.when, part);
        }
    }

    /// Whether a context waits for something that keeps it from working. The end of what it has
    /// started is no such thing, nor is an event that never comes, nor a wait that is the context's
    /// purpose (a thread that only sleeps, waits for signals, or writes what others have made).
    fn has_reason(&self, context: u32) -> bool {
        let now = &self.contexts[context as usize];
        let Some(wait) = self.wait(context) else {
            return false;
        };
        match wait.kind {
            Kind::End => false,
            Kind::Outside => now.works(self.busy_ns),
            Kind::Word => now.works(self.busy_ns) && wait.ended_by.is_some(),
            _ => true,
        }
    }

    /// Charges the time of `idle` processors.
    fn idle(&mut self, idle: f64, ns: f64) {
        let stretch = self.stretch(ns);
        self.roots.clear();
        let mut left = idle * ns;
        let waiting = self.waiting.iter().copied();
        let waiting: Vec<u32> =
            waiting.filter(|&context| self.has_reason(context)).take(MOST).collect();
        if !waiting.is_empty() {
            let each = (left / waiting.len() as f64).min(ns);
            left -= each * waiting.len() as f64;
            for context in waiting {
                self.lay_on(context, each, ns, stretch);
            }
        }
        if left < idle * ns * 1e-9 {
            return;
        }
        if !self.running.is_empty() {
            let each = left / self.running.len() as f64;
            let others = self.phase.ended.0 / f64::max(self.phase.ended.1, 1.0);
            for place in 0..self.running.len() {
                let context = self.running[place];
                let now = self.now(context);
                let kept = now.kept(others, now.idle_ns, ns) * each;
                now.idle_ns += ns;
                now.idle += each - kept;
                self.phase.when.add(stretch, each - kept);
                self.lay_on_delays(context, kept, stretch);
            }
            return;
        }
        // No context runs, and none waits for a context that runs. If one waits for something
        // outside, that is the cause. Otherwise one is about to begin or to go on.
        let outside = self.waiting.iter().find_map(|&context| {
            let wait = self.wait(context)?;
            wait.is_outside().then_some(*wait)
        });
        let group = self.group_of(outside.as_ref().map_or((Kind::Begin, 0), key));
        group.lose(left, stretch);
        if let Some(wait) = outside {
            group.waited(&wait, left);
        }
    }

    /// Charges idle processor time to what kept a context from its work.
    fn lay_on_delays(&mut self, context: u32, ns: f64, stretch: (f64, f64)) {
        if ns <= 0.0 {
            return;
        }
        let now = &self.contexts[context as usize];
        let all = now.delay();
        for &(group, part) in &now.delays {
            self.blame.groups[group as usize].lose(ns * part / all.max(1.0), stretch);
        }
    }

    /// Charges `ns` of idle processor time, of a moment of `passed` ns, to what a context waits
    /// for.
    fn lay_on(&mut self, context: u32, mut ns: f64, passed: f64, stretch: (f64, f64)) {
        let Some(&wait) = self.wait(context) else {
            return;
        };
        match self.root(context) {
            Root::Runs(other, by_others) => {
                let now = &self.contexts[context as usize];
                if matches!(wait.kind, Kind::Barrier | Kind::Idle) {
                    let awaited = &self.contexts[other as usize];
                    let after = self.busy_ns - now.busy_ns - passed;
                    let kept = awaited.kept(now.delay(), after, passed) * ns;
                    ns -= kept;
                    self.lay_on_delays(other, kept, stretch);
                }
                let creates = self.strands.creators[other as usize] == Some(context);
                let own = creates && !self.contexts[other as usize].feeds();
                let id = self.strands.ids[other as usize];
                let group = self.group(key(&wait));
                let found = &mut self.blame.groups[group as usize];
                found.lose(ns, stretch);
                *found.holders.entry(id).or_default() += ns;
                if own || by_others {
                    found.indirect += ns;
                }
                add(&mut self.now(other).charged, group, ns);
            }
            Root::Outside(outside) => {
                let group = self.group_of(key(&outside));
                group.lose(ns, stretch);
                group.waited(&outside, ns);
                if (wait.kind, outside.kind) == (Kind::Lock, Kind::Outside) {
                    group.holding += ns;
                    group.behind.get_or_insert((wait.task, wait.object));
                }
            }
            Root::Waking => {
                self.group_of(key(&wait)).lose(ns, stretch);
            }
        }
        self.now(context).blamed += ns;
    }

    /// What the context that a context waits for does or, if that one waits, what it waits for.
    fn root(&mut self, context: u32) -> Root {
        let (mut at, mut path) = (context, Vec::new());
        let root = loop {
            if let Some(&known) = self.roots.get(&at) {
                break known;
            }
            match self.contexts[at as usize].doing {
                Doing::Runs(_) => break Root::Runs(at, path.len() > 1),
                Doing::Waits(_, Some(other)) if path.len() < DEEP => {
                    path.push(at);
                    at = other;
                }
                Doing::Waits(..) => match self.wait(at).filter(|wait| wait.is_outside()) {
                    Some(&outside) => break Root::Outside(outside),
                    None => break Root::Waking,
                },
                Doing::Away => break Root::Waking,
            }
        };
        // Who waits for one of them is further away.
        let further = match root {
            Root::Runs(runs, _) => Root::Runs(runs, true),
            root => root,
        };
        self.roots.extend(path.into_iter().map(|on| (on, further)));
        match self.contexts[context as usize].doing {
            Doing::Waits(_, Some(other)) if matches!(root, Root::Runs(runs, _) if runs == other) => {
                Root::Runs(other, false)
            }
            _ => root,
        }
    }

    /// Notes what passes between a context and the one that created it, when a wait of the context
    /// ends.
    fn hand_over(&mut self, context: u32, other: u32) {
        let creators = &self.strands.creators;
        if creators[context as usize] == Some(other) {
            self.now(context).asked += 1;
        } else if creators[other as usize] == Some(context) {
            self.now(other).fed += 1;
        }
    }
}

impl Watch for Sweep<'_> {
    fn begins(&mut self, context: u32) {
        if self.alive <= 1 {
            self.end_phase();
        }
        let busy_ns = self.busy_ns;
        let now = self.now(context);
        (now.begun, now.born_ns) = (true, busy_ns);
        self.alive += 1;
    }

    fn waits(&mut self, context: u32, wait: u32, other: Option<u32>) {
        let kind = self.wait_at(wait).map(|wait| wait.kind);
        // Who has not been created yet does not wait.
        let unborn = other.is_some() || self.strands.creators[context as usize].is_none();
        if kind == Some(Kind::Begin) && unborn {
            return;
        }
        self.joining += u32::from(kind == Some(Kind::End));
        let busy_ns = self.busy_ns;
        self.enter(context, Doing::Waits(wait, other));
        self.now(context).busy_ns = busy_ns;
    }

    fn waits_for(&mut self, context: u32, other: u32) {
        if let Doing::Waits(_, holder) = &mut self.now(context).doing {
            *holder = Some(other);
        }
    }

    fn waited(&mut self, context: u32) {
        let (wait, doing) = (self.wait(context).copied(), self.now(context).doing);
        self.leave(context);
        let Some(wait) = wait else { return };
        self.joining -= u32::from(wait.kind == Kind::End);
        let meanwhile = self.busy_ns - self.now(context).busy_ns;
        let blamed = std::mem::take(&mut self.now(context).blamed);
        let group = self.group(key(&wait));
        if blamed > 0.0 {
            self.blame.groups[group as usize].waited(&wait, blamed);
        }
        let Doing::Waits(_, other) = doing else { return };
        if let Some(other) = other.filter(|_| wait.kind == Kind::Word) {
            self.hand_over(context, other);
        }
        match wait.kind {
            Kind::Barrier | Kind::Idle | Kind::End => {
                self.now(context).meet();
                // Who comes last does not wait.
                if let Some(last) = other.filter(|_| wait.kind != Kind::End) {
                    self.now(last).meet();
                }
            }
            Kind::Begin => {}
            // While nothing ran, it fell behind nobody.
            _ => add(&mut self.now(context).delays, group, meanwhile),
        }
    }

    fn runs(&mut self, context: u32, strand: usize) {
        self.enter(context, Doing::Runs(strand));
    }

    fn stops(&mut self, context: u32, strand: usize) {
        self.leave(context);
        let now = &mut self.contexts[context as usize];
        for (group, ns) in now.charged.drain(..) {
            *self.blame.charges.entry((strand, group)).or_default() += ns;
        }
        let idle = std::mem::take(&mut now.idle);
        if idle > 0.0 {
            self.phase.idle.push((strand, idle));
        }
    }

    fn ends(&mut self, context: u32) {
        if !std::mem::take(&mut self.now(context).begun) {
            return;
        }
        self.alive -= 1;
        let now = self.now(context);
        let delay = now.delay();
        now.meet();
        let ended = &mut self.phase.ended;
        *ended = (ended.0 + delay, ended.1 + 1.0);
        if self.alive <= 1 {
            self.end_phase();
        }
    }

    fn spins(&mut self, context: u32, ns: f64) {
        let stretch = self.stretch(ns);
        let wait = self.wait(context).copied();
        let lost = ns * self.spinning;
        let group = self.group_of((Kind::Spinning, 0));
        group.lose(lost, stretch);
        if let Some(wait) = wait {
            group.waited(&wait, lost);
        }
        self.roots.clear();
        self.lay_on(context, ns - lost, ns, stretch);
    }

    fn passes(&mut self, ns: f64, idle: f64) {
        let phase = &mut self.phase;
        phase.most = phase.most.max(self.alive.saturating_sub(self.joining));
        phase.ns += ns;
        if self.running.len() > 1 {
            phase.together_ns += ns;
        }
        if !self.running.is_empty() {
            self.busy_ns += ns;
        }
        self.blame.used += ns * self.running.len() as f64;
        if idle > 0.0 {
            self.idle(idle, ns);
        }
        for place in 0..self.running.len() {
            let context = self.running[place];
            self.now(context).ran_ns += ns;
        }
        self.now_ns += ns;
    }
}

fn add(charges: &mut Vec<(u32, f64)>, group: u32, ns: f64) {
    match charges.iter_mut().find(|charge| charge.0 == group) {
        Some(charge) => charge.1 += ns,
        None => charges.push((group, ns)),
    }
}
