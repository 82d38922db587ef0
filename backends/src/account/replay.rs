//! Replays a run on any number of processors, as it was or with one loss removed.
//!
//! A context that can run gets a processor as soon as one is free, and keeps it until it waits. With a loss removed,
//! processors that nobody else can use help with the code that the loss is charged to: what others waited for is
//! divided among them. Nobody waits for a lock that is removed, and sleeping that is removed takes no time. Other
//! waiting follows the edges that this run had.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::steps::{Losses, Steps};
use crate::view::units::whole;

/// Who gets the next free processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Schedule {
    /// Whoever has waited longest.
    #[default]
    Greedy,
    /// Who became ready last on the same processor; without such a context, who waited longest on another one.
    Stealing,
}

/// A context on a processor.
#[derive(Clone, Copy, Debug)]
struct Running {
    context: u32,
    /// What is left of its step, ns.
    left: f64,
    /// Whether idle processors help.
    helped: bool,
}

/// A replay.
#[derive(Debug)]
struct Replay<'s> {
    steps: &'s Steps,
    /// The losses that are removed.
    removed: Losses,
    schedule: Schedule,
    now: f64,
    /// The next step of each context.
    next: Vec<u32>,
    /// By context: the steps that others wait for, and who waits.
    awaited: Vec<BinaryHeap<Reverse<(u32, u32)>>>,
    /// Contexts whose next step may begin, if it needs nothing.
    woken: Vec<u32>,
    /// Contexts that can run, by the processor on which they became ready; with [`Schedule::Greedy`] all are with the
    /// first one.
    ready: Vec<VecDeque<u32>>,
    /// Number of contexts in `ready`.
    queued: usize,
    running: Vec<Option<Running>>,
    /// Number of processors for which there is no context, and which can only help.
    spare: u32,
    asleep: BinaryHeap<Reverse<(u64, u32)>>,
    /// Number of contexts that the run waits for.
    leads: usize,
}

/// How long the run takes on `processors` processors, in ns, without the losses `removed`.
pub(super) fn replay(steps: &Steps, processors: u32, schedule: Schedule, removed: Losses) -> f64 {
    let contexts = steps.leads.len();
    let places = contexts.clamp(1, processors.max(1) as usize);
    let spare = processors.saturating_sub(u32::try_from(places).unwrap_or(u32::MAX));
    let mut replay = Replay {
        steps,
        removed,
        schedule,
        now: 0.0,
        next: steps.contexts[..contexts].to_vec(),
        awaited: vec![BinaryHeap::new(); contexts],
        woken: (0..u32::try_from(contexts).unwrap_or(u32::MAX))
            .rev()
            .collect(),
        ready: vec![VecDeque::new(); places],
        queued: 0,
        running: vec![None; places],
        spare,
        asleep: BinaryHeap::new(),
        leads: steps.leads.iter().filter(|&&leads| leads).count(),
    };
    replay.settle(None, 0);
    while replay.leads > 0 && replay.advance() {}
    replay.now
}

impl Replay<'_> {
    /// Lets time pass until something ends. Returns false if nothing can.
    fn advance(&mut self) -> bool {
        for at in 0..self.running.len() {
            if self.running[at].is_none() {
                self.running[at] = self.take(at);
            }
        }
        let (mut idle, mut helped) = (self.spare, 0);
        for on in &self.running {
            idle += u32::from(on.is_none());
            helped += u32::from(on.is_some_and(|on| on.helped));
        }
        let more = f64::from(idle) / f64::from(helped.max(1));
        let rate = |on: &Running| if on.helped { 1.0 + more } else { 1.0 };
        let ends = self.running.iter().flatten().map(|on| on.left / rate(on));
        let wakes = self
            .asleep
            .peek()
            .map(|Reverse((at, _))| *at as f64 - self.now);
        let Some(passed) = ends.chain(wakes).min_by(f64::total_cmp) else {
            return false;
        };
        let passed = passed.max(0.0);
        self.now += passed;
        for at in 0..self.running.len() {
            let Some(on) = &mut self.running[at] else {
                continue;
            };
            on.left -= passed * rate(on);
            if on.left < 0.5 {
                let context = on.context;
                self.running[at] = None;
                self.finish(context, at);
            }
        }
        while let Some(&Reverse((until, context))) = self.asleep.peek()
            && until as f64 <= self.now + 0.5
        {
            self.asleep.pop();
            self.finish(context, 0);
        }
        true
    }

    /// The next context for a processor.
    fn take(&mut self, processor: usize) -> Option<Running> {
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
        let step = self.steps.all[self.next[context as usize] as usize];
        Some(Running {
            context,
            left: step.ns as f64,
            helped: step.losses & self.removed != 0,
        })
    }

    /// A context has done a step, and goes on with the next one.
    fn finish(&mut self, context: u32, processor: usize) {
        self.next[context as usize] += 1;
        self.wake(context as usize);
        self.settle(Some(context), processor);
    }

    /// Wakes those who waited for steps that a context has done.
    fn wake(&mut self, context: usize) {
        let done = self.next[context] - self.steps.contexts[context];
        let awaited = &mut self.awaited[context];
        while let Some(&Reverse((step, waits))) = awaited.peek()
            && step < done
        {
            awaited.pop();
            self.woken.push(waits);
        }
    }

    /// Takes `first` and all that have woken on a processor through steps without duration, until they run, sleep,
    /// wait or end. `first` keeps the processor if it runs.
    fn settle(&mut self, first: Option<u32>, processor: usize) {
        let queue = match self.schedule {
            Schedule::Greedy => 0,
            Schedule::Stealing => processor,
        };
        let keeps = first.is_some_and(|context| self.is_ready(context));
        while let Some(context) = self.woken.pop() {
            if self.is_ready(context) {
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

    /// Takes a context through steps without duration; whether it can run then.
    fn is_ready(&mut self, number: u32) -> bool {
        let context = number as usize;
        let steps = self.steps;
        let done = |next: &[u32], other: u32| next[other as usize] - steps.contexts[other as usize];
        while self.next[context] < steps.contexts[context + 1] {
            let at = self.next[context] as usize;
            let step = &steps.all[at];
            let begin = at
                .checked_sub(1)
                .map_or(0, |before| steps.all[before].needs_end);
            let needs = &steps.needs[begin as usize..step.needs_end as usize];
            let kept = step.freed & self.removed == 0;
            let missing = needs
                .iter()
                .filter(|_| kept)
                .find(|&&(other, before)| before >= done(&self.next, other));
            if let Some(&(other, before)) = missing {
                self.awaited[other as usize].push(Reverse((before, number)));
                return false;
            }
            match (step.ns, step.sleeps) {
                (1.., true) if step.losses & self.removed == 0 => {
                    let until = whole(self.now + step.ns as f64);
                    self.asleep.push(Reverse((until, number)));
                    return false;
                }
                (1.., false) => return true,
                _ => {
                    self.next[context] += 1;
                    self.wake(context);
                }
            }
        }
        self.leads -= usize::from(steps.leads[context]);
        false
    }
}
