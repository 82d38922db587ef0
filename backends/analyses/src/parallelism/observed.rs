//! The observed parallelism of a run (contech.txt, section 5.1): the changes of all contexts, added
//! up. Memory grows with the steps kept, not with the tasks.

use super::timeline::{Counts, Timeline, TimelineBuilder};
use crate::analysis::{CAUSES, Change};

/// What the contexts of a run did over time.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Running and waiting contexts over time.
    pub(crate) timeline: Timeline,
    /// Nanoseconds with exactly `i` contexts running.
    pub(crate) levels: Vec<u64>,
    /// Context-nanoseconds of waiting, by cause.
    pub(crate) waiting_ns: [u64; CAUSES],
}

impl Observed {
    /// Context-nanoseconds of running.
    pub(crate) fn running_ns(&self) -> u64 {
        self.levels.iter().zip(0..).map(|(ns, running)| ns * running).sum()
    }
}

/// What is added up on the way.
#[derive(Debug)]
pub(crate) struct Sums {
    end_ns: u64,
    now_ns: u64,
    counts: Counts,
    timeline: TimelineBuilder,
    sums: Observed,
}

impl Sums {
    /// For a run that ends at `end_ns`.
    pub(crate) fn new(end_ns: u64) -> Self {
        let mut timeline = TimelineBuilder::new(end_ns);
        timeline.step(0, Counts::default());
        Self {
            end_ns,
            now_ns: 0,
            counts: Counts::default(),
            timeline,
            sums: Observed { levels: vec![0], ..Observed::default() },
        }
    }

    /// Accounts for the time since the last change.
    fn advance(&mut self, now_ns: u64) {
        if now_ns <= self.now_ns {
            return;
        }
        let ns = now_ns - self.now_ns;
        let level = self.counts.running as usize;
        let Observed { levels, waiting_ns, .. } = &mut self.sums;
        if levels.len() <= level {
            levels.resize(level + 1, 0);
        }
        levels[level] += ns;
        for (sum, &waiting) in waiting_ns.iter_mut().zip(&self.counts.waiting) {
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

    /// What the contexts did, after the last change.
    pub(crate) fn finish(mut self) -> Observed {
        self.advance(self.end_ns);
        Observed { timeline: self.timeline.finish(), ..self.sums }
    }
}
