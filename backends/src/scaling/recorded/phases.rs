//! Parallel phases of a recorded run, from fork to join: the time in which more than one context lives, if more than
//! one of them did anything else than wait for another to end.

use anyhow::Result;
use contech_observation::State as Doing;
use rustc_hash::FxHashMap;

use crate::analysis::{CAUSES, Cause, Change, Graph, State, end_of, sweep};
use crate::scaling::Stretch;

/// What contexts did within and outside of parallel phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Time in which at most one context lived.
    pub serial: Stretch,
    /// Time in which more contexts lived.
    pub parallel: Stretch,
    /// Number of parallel phases.
    pub count: u64,
    /// The largest number of contexts that ran at one time for a good part of the run. (A context that creates others
    /// runs beside them for a moment.)
    pub peak: u32,
    /// Sum over the phases of the time that they would take on `processors` if waiting took no time, ns: the time of
    /// the context that runs longest or, if there are more contexts than processors, an equal share of all running
    /// time.
    pub slowest_ns: u64,
}

impl Phases {
    /// The phases of a graph, in a pass of its own.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn of(graph: &Graph, processors: Option<u32>) -> Result<Self> {
        let mut sums = PhaseSums::default();
        sweep(graph, |change| {
            sums.change(change);
            Ok(())
        })?;
        Ok(sums.finish(end_of(graph), processors))
    }
}

/// Number of phases whose slowest context is remembered; further phases are added up as equal.
const MOST: usize = 1 << 20;

/// A phase with two at work for less than one part in so many is serial, because creating and joining take that long.
const SERIAL: u64 = 100;

/// Less than one part in so many of the run is a moment.
const MOMENT: u64 = 100;

/// The largest number that ran at one time for longer than a moment of the time in which any ran.
fn peak(levels: &[u64]) -> u32 {
    let all: u64 = levels.iter().skip(1).sum();
    let mut above = 0;
    let found = levels.iter().enumerate().rev().find(|&(_, ns)| {
        above += ns;
        above > 0 && above >= all / MOMENT
    });
    found.map_or(0, |(running, _)| u32::try_from(running).unwrap_or(u32::MAX))
}

/// The phases up to a change.
#[derive(Debug, Default)]
pub struct PhaseSums {
    phases: Phases,
    now_ns: u64,
    /// Time by number of running contexts.
    levels: Vec<u64>,
    alive: u32,
    running: u32,
    waiting: [u32; CAUSES],
    /// This phase so far.
    phase: Stretch,
    /// How long more than one context did something else in the phase than wait for another to end, ns.
    together_ns: u64,
    /// The running contexts of this phase, and since when they run; and the running time of those that ran before.
    since: FxHashMap<usize, u64>,
    ran: FxHashMap<usize, u64>,
    /// For each phase: the longest running time of a context, and the running time of all.
    each: Vec<(u64, u64)>,
}

impl PhaseSums {
    /// The phases of a run that ends at `end_ns`. If `processors` is `None`, it is the number of contexts that ran at
    /// one time.
    #[must_use]
    pub fn finish(mut self, end_ns: u64, processors: Option<u32>) -> Phases {
        self.advance(end_ns);
        if self.alive > 1 {
            self.end_phase();
        }
        let mut phases = self.phases;
        phases.peak = peak(&self.levels);
        let p = u64::from(processors.unwrap_or(phases.peak).max(1));
        let slowest = |&(longest, all): &(u64, u64)| longest.max(all / p);
        phases.slowest_ns = self.each.iter().map(slowest).sum();
        phases
    }

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

    /// Follows a change; they come in order of time.
    pub fn change(&mut self, change: &Change<'_>) {
        if change.from == change.to {
            return;
        }
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

    /// Forgets what ran before, because it does not count.
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
        // One context works and another waits for it to end, so the code is serial.
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

/// The state of a live observation that corresponds to a cause of waiting. `None` for waits that use no processor and
/// are not waits for distributed work.
fn doing(cause: Cause) -> Option<Doing> {
    match cause {
        Cause::Lock | Cause::Once => Some(Doing::Lock),
        Cause::Barrier => Some(Doing::Barrier),
        Cause::Condition | Cause::Semaphore => Some(Doing::Condition),
        Cause::Message => Some(Doing::Message),
        // A thread that waits for a signal or for input uses no processor and is not at work (in a live observation
        // `poll` is idle, too). A pause by the recording is not the program's time.
        Cause::Call | Cause::Join | Cause::Delay | Cause::Other => None,
    }
}
