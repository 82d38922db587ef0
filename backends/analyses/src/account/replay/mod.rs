//! Replays a run on processors that nobody else uses, as it was or with losses removed.
//!
//! A context that can run gets a processor as soon as one is free, and keeps it until it waits.
//! Where there are more threads than processors, each in turn has one for a slice of time. Who
//! spins keeps the processor while it waits, until its slice is over.
//! With a loss removed, processors that nobody else can use help with the code that the loss is
//! charged to: what others waited for is divided among them. Nobody waits for a lock that is
//! removed, and sleeping that is removed takes no time. Other waiting follows the edges that this
//! run had.

mod spinning;
mod stocks;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::locks::LockUse;
use super::strands::{Strands, index};
use super::wait::{ALWAYS, NEVER};
use crate::view::units::whole;

/// Who gets the next free processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Whoever has waited longest.
    #[default]
    Greedy,
    /// Who became ready last on the same processor; without such a context, who waited longest on
    /// another one.
    Stealing,
}

/// For so long a thread has a processor while others want one, ns: the kernel's base slice.
const SLICE_NS: f64 = 3e6;
/// So many contexts that are ready are looked through for one of another thread.
const LOOKS: usize = 64;

/// A set of losses, by their bits.
pub(super) type Losses = u32;

/// Removes that contexts go on late when what they wait for is done.
pub(super) const LATE: Losses = 1 << 31;
/// Removes that contexts which spin have processors.
pub(super) const SPINNING: Losses = 1 << 30;

/// What is charged with which losses.
#[derive(Debug, Default)]
pub(super) struct Removable {
    /// By strand: the losses that are charged to it.
    pub(super) strands: Vec<Losses>,
    /// By wait: the losses without which nobody waits there.
    pub(super) waits: Vec<Losses>,
}

/// What somebody who watches a replay is told.
pub(super) trait Watch {
    /// The context has begun.
    fn begins(&mut self, _context: u32) {}
    /// The context waits: for the other context, or until some time has passed. Waits are counted
    /// in [`Strands::waits`].
    fn waits(&mut self, _context: u32, _wait: u32, _other: Option<u32>) {}
    /// The context waits for this other context from now on, which has the lock.
    fn waits_for(&mut self, _context: u32, _other: u32) {}
    /// The wait is over.
    fn waited(&mut self, _context: u32) {}
    /// The context runs a strand from now on.
    fn runs(&mut self, _context: u32, _strand: usize) {}
    /// The context has done the strand.
    fn stops(&mut self, _context: u32, _strand: usize) {}
    fn ends(&mut self, _context: u32) {}
    /// The context spins for so much time (ns) on a processor that others want.
    fn spins(&mut self, _context: u32, _ns: f64) {}
    /// So much time (ns) passes until the next change, in which so many processors have nothing to
    /// do.
    fn passes(&mut self, _ns: f64, _idle: f64) {}
}

/// Nobody watches.
#[derive(Debug)]
pub(super) struct Nobody;

impl Watch for Nobody {}

/// A context on a processor.
#[derive(Clone, Copy, Debug)]
struct Running {
    context: u32,
    /// What is left of its strand, ns; without end if it spins.
    left: f64,
    /// What is left of its slice, ns.
    slice: f64,
    /// Whether idle processors help.
    helped: bool,
}

impl Running {
    fn spins(&self) -> bool {
        self.left.is_infinite()
    }
}

/// How far a context is at its next strand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// It has just done the strand before.
    #[default]
    Begin,
    /// It waits for strands of others.
    Blocked,
    /// It takes a lock, and what it takes from a queue with that lock, as soon as it has a
    /// processor.
    Trying,
    /// It waits for others to make something.
    Lacking,
    /// It waits for a lock, after what else it waited for.
    Locked,
    /// What it waited for has happened, and it is about to go on.
    Waking,
    /// It sleeps, in the strand itself.
    Asleep,
    /// It waits for nothing more.
    Free,
    /// It runs as soon as it has a processor.
    Ready,
}

/// How far a context is. All of it is in one place, because contexts are many and each change needs
/// most of it.
#[derive(Debug, Default)]
struct Progress {
    /// Its next strand, and how far it is there.
    next: u32,
    at: At,
    /// Whether it has counted there what it makes or takes.
    counted: bool,
    /// Whether it does jobs of a queue.
    deals: bool,
    /// Whether it has, or wants, a processor while it waits.
    spins: bool,
    /// What is left of its next strand if it lost its processor in it, ns.
    left: Option<f64>,
    /// How many of the strands that come before its next one are known to be done.
    met: u32,
    /// Its own strands.
    own: Range<u32>,
    /// Its strands that others wait for, and who waits with which strand.
    awaited: BinaryHeap<Reverse<(u32, u32, u32)>>,
}

/// A lock.
#[derive(Debug, Default)]
struct Lock {
    /// The contexts that have it, more than one if they only read.
    holders: Vec<u32>,
    shared: bool,
    /// Who waits for it and with which use, the first one first.
    queue: VecDeque<(u32, LockUse)>,
}

/// The state of a queue.
#[derive(Debug, Default)]
struct Stock {
    made: i64,
    taken: i64,
    /// Number of its jobs that somebody does or has done.
    dealt: usize,
    /// Who waits for so much, the first one first.
    queue: VecDeque<(u32, u32)>,
}

/// A context that does jobs of a queue.
#[derive(Clone, Copy, Debug)]
struct Dealt {
    queue: u32,
    /// Where the context's own jobs begin, where the job at hand ends, and where the context goes
    /// on after the last job.
    own: u32,
    until: u32,
    last: u32,
}

/// A replay.
#[derive(Debug)]
struct Replay<'s, W> {
    strands: &'s Strands,
    removable: &'s Removable,
    /// The losses that are removed.
    removed: Losses,
    schedule: Schedule,
    watch: W,
    now: f64,
    contexts: Vec<Progress>,
    /// Contexts whose next strand may begin, if it needs nothing.
    woken: Vec<u32>,
    /// Contexts that can run, by the processor on which they became ready; with
    /// [`Schedule::Greedy`] all are with the first one.
    ready: Vec<VecDeque<u32>>,
    /// Number of contexts in `ready`, and of all that spin, there or on a processor.
    queued: usize,
    spinning: usize,
    running: Vec<Option<Running>>,
    /// Number of processors for which there is no context, and which can only help.
    spare: u32,
    /// When something happens to a context at a strand, unless it is elsewhere by then.
    timers: BinaryHeap<Reverse<(u64, u32, u32)>>,
    locks: FxHashMap<u64, Lock>,
    /// The locks of the contexts that have some.
    holds: FxHashMap<u32, Vec<u64>>,
    /// The queues, and the jobs of queues that contexts do.
    stocks: Vec<Stock>,
    dealt: FxHashMap<u32, Dealt>,
    /// Number of contexts that the run waits for.
    leads: usize,
}

/// How long the run takes on `processors` processors, in ns, without the losses `removed`.
pub(super) fn replay<W: Watch>(
    strands: &Strands,
    (processors, schedule): (u32, Schedule),
    (removable, removed): (&Removable, Losses),
    watch: W,
) -> (f64, W) {
    let contexts = strands.leads.len();
    let places = contexts.clamp(1, processors.max(1) as usize);
    let spare = processors.saturating_sub(index(places));
    let begin =
        |&[first, end]: &[u32; 2]| Progress { next: first, own: first..end, ..Progress::default() };
    let mut replay = Replay {
        strands,
        removable,
        removed,
        schedule,
        watch,
        now: 0.0,
        contexts: strands.contexts.array_windows().map(begin).collect(),
        woken: (0..index(contexts)).rev().collect(),
        ready: vec![VecDeque::new(); places],
        queued: 0,
        spinning: 0,
        running: vec![None; places],
        spare,
        timers: BinaryHeap::new(),
        locks: FxHashMap::default(),
        holds: FxHashMap::default(),
        stocks: strands.queues.iter().map(|_| Stock::default()).collect(),
        dealt: FxHashMap::default(),
        leads: strands.leads.iter().filter(|&&leads| leads).count(),
    };
    replay.settle(None, 0);
    while replay.leads > 0 && (replay.advance() || replay.unlock()) {}
    (replay.now, replay.watch)
}

impl<W: Watch> Replay<'_, W> {
    /// Lets time pass until something ends. Returns false if nothing can.
    fn advance(&mut self) -> bool {
        loop {
            for at in 0..self.running.len() {
                if self.running[at].is_none() {
                    self.running[at] = self.take(at);
                }
            }
            if self.woken.is_empty() {
                break;
            }
            self.settle(None, 0);
        }
        let spinners = self.running.iter().flatten().filter(|on| on.spins()).count();
        // Of those that are ready, some only want to spin.
        let wanted = self.queued > self.spinning - spinners;
        // Who spins could help, too.
        let (mut idle, mut helping, mut helped) = (self.spare, self.spare, 0);
        for on in &self.running {
            idle += u32::from(on.is_none_or(|on| on.spins() && !wanted));
            helping += u32::from(on.is_none_or(|on| on.spins()));
            helped += u32::from(on.is_some_and(|on| on.helped));
        }
        let more = f64::from(helping) / f64::from(helped.max(1));
        let rate = |on: &Running| if on.helped { 1.0 + more } else { 1.0 };
        let works = |on: &&Running| !on.spins();
        let ends = self.running.iter().flatten().filter(works).map(|on| on.left / rate(on));
        let timer = self.timers.peek().map(|Reverse((at, ..))| *at as f64);
        let timer = timer.map(|at| at - self.now);
        let shares = self.queued > 0 && self.schedule == Schedule::Greedy;
        let slices = self.running.iter().flatten().map(|on| on.slice);
        // Nobody ends the waits of those who only spin.
        let slices = slices.filter(|_| shares && (wanted || spinners < self.running.len()));
        let Some(passed) = ends.chain(timer).chain(slices).min_by(f64::total_cmp) else {
            return false;
        };
        let passed = passed.max(0.0);
        if passed > 0.0 {
            self.watch.passes(passed, f64::from(idle));
            for on in self.running.iter().flatten().filter(|on| wanted && on.spins()) {
                self.watch.spins(on.context, passed);
            }
        }
        self.now += passed;
        for at in 0..self.running.len() {
            let Some(on) = &mut self.running[at] else {
                continue;
            };
            on.left -= passed * rate(on);
            on.slice -= passed;
            if on.left < 0.5 {
                let (context, slice) = (on.context, on.slice);
                self.running[at] = None;
                let strand = self.contexts[context as usize].next as usize;
                self.watch.stops(context, strand);
                self.finish(context, at);
                self.spin(context, at, slice);
            } else if shares && on.slice < 0.5 {
                self.next_slice(at);
            }
        }
        while let Some(&Reverse((until, context, strand))) = self.timers.peek()
            && until as f64 <= self.now + 0.5
        {
            self.timers.pop();
            self.time(context, strand);
        }
        true
    }

    /// The slice of the context on a processor is over: a context of a thread that has no processor
    /// gets this one. (Contexts of one thread run one after the other, but one that spins keeps its
    /// thread from nothing.)
    fn next_slice(&mut self, processor: usize) {
        let executor = |context: u32| self.strands.executors.get(context as usize);
        let runs = |other: u32| {
            let mut working = self.running.iter().flatten().filter(|on| !on.spins());
            working.any(|on| executor(on.context) == executor(other))
        };
        let next = self.ready[0].iter().take(LOOKS).position(|&other| !runs(other));
        let Some(on) = &mut self.running[processor] else {
            return;
        };
        on.slice = SLICE_NS;
        let on = *on;
        let Some(context) = next.and_then(|next| self.ready[0].remove(next)) else {
            return;
        };
        self.ready[0].push_front(context);
        self.ready[0].push_back(on.context);
        self.queued += 1;
        self.running[processor] = None;
        let of = &mut self.contexts[on.context as usize];
        if !on.spins() {
            of.left = Some(on.left);
            self.watch.stops(on.context, of.next as usize);
        }
    }

    /// The time has come that a context waited for at a strand.
    fn time(&mut self, context: u32, strand: u32) {
        let of = &mut self.contexts[context as usize];
        if of.next != strand {
            return;
        }
        match of.at {
            At::Asleep => {
                self.watch.waited(context);
                self.finish(context, 0);
            }
            At::Blocked | At::Waking => {
                of.at = At::Free;
                self.watch.waited(context);
                self.woken.push(context);
                self.settle(None, 0);
            }
            _ => {}
        }
    }

    /// The next context for a processor that runs there.
    fn take(&mut self, processor: usize) -> Option<Running> {
        loop {
            let context = self.first(processor)?;
            if !self.contexts[context as usize].spins && self.is_ready(context, true) {
                return Some(self.run(context));
            }
            self.spin(context, processor, SLICE_NS);
            if self.running[processor].is_some() {
                return self.running[processor];
            }
        }
    }

    /// The context that is ready and has the next turn on a processor.
    fn first(&mut self, processor: usize) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let own = match self.schedule {
            Schedule::Greedy => self.ready[0].pop_front(),
            Schedule::Stealing => self.ready[processor].pop_back(),
        };
        let all = self.ready.len();
        let others = || (1..all).find_map(|step| self.ready[(processor + step) % all].pop_front());
        let context = own.or_else(others)?;
        self.queued -= 1;
        Some(context)
    }

    fn run(&mut self, context: u32) -> Running {
        let of = &mut self.contexts[context as usize];
        let strand = of.next as usize;
        self.watch.runs(context, strand);
        Running {
            context,
            left: of.left.take().unwrap_or(self.strands.all[strand].ns as f64),
            slice: SLICE_NS,
            helped: self.is_removed(&self.removable.strands, strand),
        }
    }

    fn is_removed(&self, losses: &[Losses], at: usize) -> bool {
        self.removed != 0 && losses.get(at).is_some_and(|of| of & self.removed != 0)
    }

    /// A context has done a strand, and goes on with the next one.
    fn finish(&mut self, context: u32, processor: usize) {
        self.done(context);
        self.settle(Some(context), processor);
    }

    /// A context has done a strand; wakes those who waited for it.
    fn done(&mut self, context: u32) {
        let of = &mut self.contexts[context as usize];
        of.next += 1;
        (of.at, of.met, of.counted) = (At::Begin, 0, false);
        if !self.strands.pools.is_empty() {
            self.deal(context);
        }
        if self.contexts[context as usize].awaited.is_empty() {
            return;
        }
        let done = self.passed(context);
        while let Some(&Reverse((strand, waits, with))) =
            self.contexts[context as usize].awaited.peek()
            && strand < done
        {
            self.contexts[context as usize].awaited.pop();
            let waiting = &mut self.contexts[waits as usize];
            if waiting.next == with && waiting.at == At::Blocked {
                waiting.at = At::Begin;
                self.watch.waited(waits);
                self.woken.push(waits);
            }
        }
    }

    /// Takes `first` and all that have woken on a processor through strands without duration, until
    /// they run, sleep, wait or end. `first` keeps the processor if it runs.
    fn settle(&mut self, first: Option<u32>, processor: usize) {
        let queue = match self.schedule {
            Schedule::Greedy => 0,
            Schedule::Stealing => processor,
        };
        let keeps = first.is_some_and(|context| self.is_ready(context, true));
        while let Some(context) = self.woken.pop() {
            if self.contexts[context as usize].spins {
                self.go_on(context);
            } else if self.is_ready(context, false) {
                self.queued += 1;
                self.ready[queue].push_back(context);
            }
        }
        self.queued += usize::from(keeps);
        match (first.filter(|_| keeps), self.schedule) {
            (Some(context), Schedule::Greedy) => self.ready[0].push_front(context),
            (Some(context), Schedule::Stealing) => self.ready[queue].push_back(context),
            (None, _) => {}
        }
    }

    /// Takes a context through strands without duration; whether it can run then. Without a
    /// processor it takes no lock: others would wait for the lock until the context has one.
    fn is_ready(&mut self, number: u32, has_processor: bool) -> bool {
        let context = number as usize;
        let strands = self.strands;
        loop {
            let of = &self.contexts[context];
            let (at, first) = (of.next as usize, of.own.start as usize);
            if !of.deals && of.next >= of.own.end {
                break;
            }
            let strand = &strands.all[at];
            if of.at == At::Ready {
                return true;
            }
            if of.at == At::Begin && self.is_kept(number, at) {
                return false;
            }
            if self.contexts[context].at != At::Locked {
                let takes = |(_, how)| how != LockUse::Give;
                if !has_processor && self.lock_of(at).is_some_and(takes) {
                    self.contexts[context].at = At::Trying;
                    return true;
                }
                if self.lacks(number, at) || self.is_locked(number, at) {
                    return false;
                }
            }
            if at == first {
                self.watch.begins(number);
            }
            let removed = self.is_removed(&self.removable.strands, at);
            match (strand.ns, strand.sleeps) {
                (1.., true) if !removed => {
                    self.sleep(number, strand.wait, strand.ns, At::Asleep);
                    return false;
                }
                (1.., false) => {
                    self.contexts[context].at = At::Ready;
                    return true;
                }
                _ => self.done(number),
            }
        }
        self.watch.ends(number);
        self.give_all(number);
        self.leads -= usize::from(strands.leads[context]);
        false
    }

    /// Whether a context has to wait before a strand.
    fn is_kept(&mut self, number: u32, at: usize) -> bool {
        let strands = self.strands;
        let strand = &strands.all[at];
        let wait = strand.wait as usize;
        if strand.sleeps || self.is_removed(&self.removable.waits, wait) {
            return false;
        }
        let (ordered_ns, latency_ns) = match strands.waits.get(wait) {
            Some(wait) => (wait.ordered_ns, wait.latency_ns),
            None => (ALWAYS, 0),
        };
        let done = |other: u32| self.passed(other);
        let needs = if ordered_ns == NEVER { &[] } else { strands.needs_of(at) };
        let met = self.contexts[number as usize].met as usize;
        let more = needs[met..].iter();
        let more = more.take_while(|&&(other, before)| before < done(other));
        let met = met + more.count();
        self.contexts[number as usize].met = index(met);
        let own = index(at);
        if let Some(&(other, before)) = needs.get(met) {
            self.contexts[number as usize].at = At::Blocked;
            let awaited = &mut self.contexts[other as usize].awaited;
            awaited.push(Reverse((before, number, own)));
            if ordered_ns != ALWAYS {
                let until = whole(self.now + ordered_ns as f64);
                self.timers.push(Reverse((until, number, own)));
            }
            self.watch.waits(number, strand.wait, Some(other));
            return true;
        }
        let late = latency_ns > 0 && self.removed & LATE == 0;
        if late {
            self.sleep(number, strand.wait, latency_ns, At::Waking);
        }
        late
    }

    /// The lock that is taken or given back before a strand, unless nobody waits for it.
    fn lock_of(&self, at: usize) -> Option<(u64, LockUse)> {
        let wait = self.strands.all[at].wait as usize;
        let lock = self.strands.lock_of(at);
        lock.filter(|_| !self.is_removed(&self.removable.waits, wait))
    }

    /// Whether a context has to wait for the lock that it takes before a strand. Otherwise it has
    /// the lock, or has given it back.
    fn is_locked(&mut self, number: u32, at: usize) -> bool {
        let Some((object, how)) = self.lock_of(at) else {
            return false;
        };
        let lock = self.locks.entry(object).or_default();
        if how == LockUse::Give {
            let had = lock.holders.len();
            lock.holders.retain(|&holder| holder != number);
            if lock.holders.len() < had {
                self.gave(number, object);
                self.hand_on(object);
            }
            return false;
        }
        let shares = lock.shared && how == LockUse::Share && lock.queue.is_empty();
        match lock.holders.first() {
            None => lock.shared = how == LockUse::Share,
            Some(&holder) if holder != number && !shares => {
                lock.queue.push_back((number, how));
                self.contexts[number as usize].at = At::Locked;
                let wait = self.strands.all[at].wait;
                self.watch.waits(number, wait, Some(holder));
                return true;
            }
            Some(_) => {}
        }
        if !lock.holders.contains(&number) {
            lock.holders.push(number);
            self.holds.entry(number).or_default().push(object);
        }
        false
    }

    /// A context has this lock no more.
    fn gave(&mut self, number: u32, object: u64) {
        if let Some(holds) = self.holds.get_mut(&number) {
            holds.retain(|&held| held != object);
            if holds.is_empty() {
                self.holds.remove(&number);
            }
        }
    }

    /// A context ends with locks.
    fn give_all(&mut self, number: u32) {
        for object in self.holds.remove(&number).unwrap_or_default() {
            if let Some(lock) = self.locks.get_mut(&object) {
                lock.holders.retain(|&holder| holder != number);
            }
            self.hand_on(object);
        }
    }

    /// Lets those that wait for a free lock try to take it, one of them or several that only read.
    /// Who has a processor may be faster.
    fn hand_on(&mut self, object: u64) {
        let Some(lock) = self.locks.get_mut(&object) else {
            return;
        };
        if !lock.holders.is_empty() {
            return;
        }
        let mut taken = None;
        while let Some(&(next, how)) = lock.queue.front()
            && (taken.is_none() || how == LockUse::Share)
        {
            lock.queue.pop_front();
            self.contexts[next as usize].at = At::Trying;
            self.watch.waited(next);
            self.woken.push(next);
            taken = Some(next);
            if how != LockUse::Share {
                break;
            }
        }
        if let Some(taken) = taken {
            for &(waits, _) in &lock.queue {
                self.watch.waits_for(waits, taken);
            }
        }
    }

    /// Where the order of locks differs from the recorded one, contexts may wait for each other in
    /// a circle, which the program never did. One of them goes on without its lock, or what it
    /// takes. Returns false if there is none.
    fn unlock(&mut self) -> bool {
        let waits = |lock: &Lock| lock.queue.front().map(|&(context, _)| context);
        let locks = self.locks.values_mut();
        let first = locks.filter_map(|lock| Some((waits(lock)?, lock)));
        let first = first.min_by_key(|&(context, _)| context);
        let first = first.and_then(|(_, lock)| lock.queue.pop_front());
        let first = first.map(|(context, _)| context);
        let first = first.or_else(|| self.supply());
        let Some(context) = first else {
            return false;
        };
        self.watch.waited(context);
        self.woken.push(context);
        self.settle(None, 0);
        true
    }

    /// A context does nothing for some time, which is this wait's or a part of it.
    fn sleep(&mut self, number: u32, wait: u32, ns: u64, how: At) {
        let of = &mut self.contexts[number as usize];
        of.at = how;
        let until = whole(self.now + ns as f64);
        self.timers.push(Reverse((until, number, of.next)));
        self.watch.waits(number, wait, None);
    }
}

#[cfg(test)]
mod tests {
    use taskgraph::{ExecutorId, TaskId};

    use super::super::strands::Strand;
    use super::super::wait::{Kind, Wait};
    use super::*;

    /// Contexts that take two locks each, run for 100 ns with each, and end with both.
    fn takes(locks: &[[u64; 2]]) -> Strands {
        let uses = locks.iter().flatten().map(|&lock| (lock, LockUse::Take));
        let locks: Vec<_> = uses.collect();
        Strands {
            all: (0..index(locks.len()))
                .map(|lock| Strand { lock, ..Strand::running(100) })
                .collect(),
            contexts: (0..=index(locks.len())).step_by(2).collect(),
            leads: vec![true; locks.len() / 2],
            locks,
            ..Strands::default()
        }
    }

    fn lasts(strands: &Strands) -> f64 {
        let on = (8, Schedule::Greedy);
        replay(strands, on, (&Removable::default(), 0), Nobody).0
    }

    #[test]
    fn contexts_that_wait_in_a_circle_go_on_one_by_one() {
        assert_eq!(lasts(&takes(&[[1, 2], [3, 4]])), 200.0);
        // The first one goes on without its second lock, and the other one after it.
        assert_eq!(lasts(&takes(&[[1, 2], [2, 1]])), 300.0);
        // The second circle is cut when nothing else can go on, and nobody of it is forgotten.
        assert_eq!(lasts(&takes(&[[1, 2], [2, 1], [3, 4], [4, 3]])), 500.0);
        assert_eq!(lasts(&takes(&[[3, 4], [1, 2], [4, 3], [2, 1]])), 500.0);
    }

    /// Two contexts that wait for a third one.
    fn waiting(spins: bool) -> Strands {
        let wait = Wait::free(Kind::Word, 1, TaskId::default());
        let begins = Strand::running(1000);
        let goes_on = |needs_end| Strand { wait: 0, needs_end, ..begins };
        let second = Strand { needs_end: 1, ..begins };
        let works = Strand { needs_end: 2, ..Strand::running(1_000_000) };
        Strands {
            all: vec![begins, goes_on(1), second, goes_on(2), works],
            contexts: vec![0, 2, 4, 5],
            needs: vec![(2, 0), (2, 0)],
            waits: vec![Wait { ordered_ns: ALWAYS, spins, ..wait }],
            leads: vec![true; 3],
            executors: [0, 1, 2].map(ExecutorId::new).to_vec(),
            ..Strands::default()
        }
    }

    fn replayed(strands: &Strands, removed: Losses) -> f64 {
        replay(strands, (2, Schedule::Greedy), (&Removable::default(), removed), Nobody).0
    }

    #[test]
    fn who_spins_keeps_the_processor_until_its_slice_is_over() {
        // The third context gets no processor while the other two spin.
        assert_eq!(replayed(&waiting(false), 0), 1_002_000.0);
        assert_eq!(replayed(&waiting(true), 0), 4_001_000.0);
        assert_eq!(replayed(&waiting(true), SPINNING), 1_002_000.0);
    }

    #[test]
    fn who_spins_does_not_keep_its_own_thread_from_what_it_waits_for() {
        let strands = Strands { executors: vec![ExecutorId::new(0); 3], ..waiting(true) };
        assert_eq!(replayed(&strands, 0), 4_001_000.0);
    }

    #[test]
    fn more_threads_than_processors_have_them_in_turn() {
        let three = |executors: [u32; 3]| Strands {
            all: vec![Strand::running(60_000_000); 3],
            contexts: vec![0, 1, 2, 3],
            leads: vec![true; 3],
            executors: executors.map(ExecutorId::new).to_vec(),
            ..Strands::default()
        };
        let lasts = |executors| replayed(&three(executors), 0);
        assert_eq!(lasts([0, 1, 2]), 90e6);
        // A thread has one of its contexts after the other.
        assert_eq!(lasts([0, 1, 1]), 120e6);
    }
}
