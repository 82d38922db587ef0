//! The observed parallelism of a run (contech.txt, section 5.1): the changes of all contexts, added
//! up. Memory grows with the steps kept, not with the tasks.

use super::timeline::{Counts, Timeline};
use crate::analysis::{CAUSES, Change};

/// What the contexts of a run do over time.
#[derive(Debug)]
pub(crate) struct Observed {
    now_ns: u64,
    counts: Counts,
    /// Running and waiting contexts over time.
    pub(crate) timeline: Timeline,
    /// Nanoseconds with exactly `i` contexts running.
    pub(crate) levels: Vec<u64>,
    /// Context-nanoseconds of waiting, by cause.
    pub(crate) waiting_ns: [u64; CAUSES],
}

impl Observed {
    /// For a run that ends at `end_ns`.
    pub(crate) fn new(end_ns: u64) -> Self {
        let mut timeline = Timeline::new(end_ns);
        timeline.step(0, Counts::default());
        Self {
            now_ns: 0,
            counts: Counts::default(),
            timeline,
            levels: vec![0],
            waiting_ns: [0; CAUSES],
        }
    }

    /// Context-nanoseconds of running.
    pub(crate) fn running_ns(&self) -> u64 {
        self.levels.iter().zip(0..).map(|(ns, running)| ns * running).sum()
    }

    /// Accounts for the time since the last change.
    fn advance(&mut self, now_ns: u64) {
        if now_ns <= self.now_ns {
            return;
        }
        let ns = now_ns - self.now_ns;
        let level = self.counts.running as usize;
        if self.levels.len() <= level {
            self.levels.resize(level + 1, 0);
        }
        self.levels[level] += ns;
        for (sum, &waiting) in self.waiting_ns.iter_mut().zip(&self.counts.waiting) {
            *sum += u64::from(waiting) * ns;
        }
        self.timeline.step(self.now_ns, self.counts);
        self.now_ns = now_ns;
    }

    /// Follows a change; they come in order of time.
    pub(crate) fn change(&mut self, change: &Change<'_>) {
        if change.from == change.to {
            return;
        }
        self.advance(change.at_ns);
        if let Some(state) = change.from {
            self.counts.leave(state);
        }
        if let Some(state) = change.to {
            self.counts.enter(state);
        }
    }

    /// The last change has come.
    pub(crate) fn finish(&mut self) {
        self.advance(self.timeline.duration_ns());
        self.timeline.finish();
    }
}
