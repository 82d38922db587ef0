//! Parallel phases of a recorded run, fork to join: the time in which more than one context lives, if more than one did
//! anything else than wait for another to end.

use anyhow::Result;
use contech_observation::State as Doing;
use rustc_hash::FxHashMap;

use crate::analysis::Graph;
use crate::parallelism::{Cause, Change, State, end_of, sweep};
use crate::scaling::Stretch;

/// What contexts did within and outside of parallel phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// One context at most lived.
    pub serial: Stretch,
    /// More lived.
    pub parallel: Stretch,
    /// Number of parallel phases.
    pub count: u64,
    /// Most contexts that ran at one time for a good part of the run (one that creates others runs beside them for a
    /// moment).
    pub peak: u32,
    /// Sum over the phases of what they would take on `processors` if waiting took no time, ns: that of the context
    /// that runs longest, or an equal share of all running where contexts are more than processors.
    pub slowest_ns: u64,
}

impl Phases {
    /// Those of a graph; `processors` none: as many as ran at one time.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn of(graph: &Graph, processors: Option<u32>) -> Result<Self> {
        let mut sums = Sums::default();
        sweep(graph, |change| sums.change(change))?;
        sums.advance(end_of(graph));
        if sums.alive > 1 {
            sums.end_phase();
        }
        let mut phases = sums.phases;
        phases.peak = peak(&sums.levels);
        let p = u64::from(processors.unwrap_or(phases.peak).max(1));
        let slowest = |&(longest, all): &(u64, u64)| longest.max(all / p);
        phases.slowest_ns = sums.each.iter().map(slowest).sum();
        Ok(phases)
    }
}

/// Phases whose slowest context is kept; beyond it they are added up as equal.
const MOST: usize = 1 << 20;

/// Less than one part in so many with two at work: creating and joining take that long.
const SERIAL: u64 = 100;

/// Less than one part in so many of the run is a moment.
const MOMENT: u64 = 100;

/// The most that ran at one time, or more, for longer than a moment of the time in which any did.
fn peak(levels: &[u64]) -> u32 {
    let all: u64 = levels.iter().skip(1).sum();
    let mut above = 0;
    let found = levels.iter().enumerate().rev().find(|&(_, ns)| {
        above += ns;
        above > 0 && above >= all / MOMENT
    });
    found.map_or(0, |(running, _)| u32::try_from(running).unwrap_or(u32::MAX))
}

#[derive(Default)]
struct Sums {
    phases: Phases,
    now_ns: u64,
    /// Time with each number of running contexts.
    levels: Vec<u64>,
    alive: u32,
    running: u32,
    waiting: [u32; crate::parallelism::CAUSES],
    /// This phase so far.
    phase: Stretch,
    /// How long of it more than one context did something else than wait for another to end, ns.
    together_ns: u64,
    /// Running contexts of this phase, and since when; running time of those that ran before.
    since: FxHashMap<usize, u64>,
    ran: FxHashMap<usize, u64>,
    /// For each phase: the longest running time of a context, and that of all.
    each: Vec<(u64, u64)>,
}

impl Sums {
    fn advance(&mut self, now_ns: u64) {
        let ns = now_ns.saturating_sub(self.now_ns);
        if self.alive - self.waiting[Cause::Join as usize] > 1 {
            self.together_ns += ns;
        }
        let stretch = if self.alive > 1 {
            &mut self.phase
        } else {
            &mut self.phases.serial
        };
        stretch.wall_ns += ns;
        stretch.times[Doing::Running as usize] += u64::from(self.running) * ns;
        for (cause, waiting) in Cause::ALL.into_iter().zip(self.waiting) {
            if let Some(doing) = doing(cause) {
                stretch.times[doing as usize] += u64::from(waiting) * ns;
            }
        }
        let running = self.running as usize;
        if self.levels.len() <= running {
            self.levels.resize(running + 1, 0);
        }
        self.levels[running] += ns;
        self.now_ns = self.now_ns.max(now_ns);
    }

    fn change(&mut self, change: Change) {
        self.advance(change.at_ns);
        let parallel = self.alive > 1;
        match change.from {
            None => self.alive += 1,
            Some(State::Running) => {
                self.running -= 1;
                if let Some(since) = self.since.remove(&change.context) {
                    *self.ran.entry(change.context).or_default() += self.now_ns - since;
                }
            }
            Some(State::Waiting(cause)) => self.waiting[cause as usize] -= 1,
        }
        match change.to {
            None => self.alive -= 1,
            Some(State::Running) => {
                self.running += 1;
                self.since.insert(change.context, self.now_ns);
            }
            Some(State::Waiting(cause)) => self.waiting[cause as usize] += 1,
        }
        match (parallel, self.alive > 1) {
            (false, true) => self.begin_phase(),
            (true, false) => self.end_phase(),
            _ => {}
        }
    }

    /// What ran before does not count.
    fn begin_phase(&mut self) {
        self.phase = Stretch::default();
        self.together_ns = 0;
        self.ran.clear();
        let now = self.now_ns;
        self.since.values_mut().for_each(|since| *since = now);
    }

    fn end_phase(&mut self) {
        for (context, since) in &mut self.since {
            *self.ran.entry(*context).or_default() += self.now_ns - *since;
            *since = self.now_ns;
        }
        let longest = self.ran.values().copied().max().unwrap_or(0);
        let all = self.ran.values().sum();
        self.ran.clear();
        // One at work and another that waits for it to end: serial code.
        if self.together_ns * SERIAL < self.phase.wall_ns {
            self.phases.serial.add(&self.phase);
            return;
        }
        self.phases.parallel.add(&self.phase);
        self.phases.count += 1;
        let full = self.each.len() >= MOST;
        match self.each.last_mut() {
            Some(last) if full => {
                last.0 += longest;
                last.1 += all;
            }
            _ => self.each.push((longest, all)),
        }
    }
}

/// The state of a live observation that a cause of waiting is; none for what uses no processor and waits for nobody's
/// work to be dealt out.
fn doing(cause: Cause) -> Option<Doing> {
    match cause {
        Cause::Lock | Cause::Once => Some(Doing::Lock),
        Cause::Barrier => Some(Doing::Barrier),
        Cause::Condition | Cause::Semaphore => Some(Doing::Condition),
        Cause::Message => Some(Doing::Message),
        // A thread that waits for a signal or for input uses no processor, and is not at work (live, `poll` is idle, too).
        // Recording paused it: no time of the program's.
        Cause::Call | Cause::Join | Cause::Delay | Cause::Other => None,
    }
}
