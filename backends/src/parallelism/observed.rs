//! The observed parallelism of a run (contech.txt, section 5.1): the segments of all contexts merged in order of time.
//! Memory grows with the contexts that live at one time and the steps kept, not with the tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::ContextId;

use super::segments::Segments;
use super::state::{CAUSES, State};
use super::timeline::{Counts, Timeline, TimelineBuilder};
use crate::analysis::Graph;

/// What the contexts of a run did over time.
#[derive(Debug)]
pub struct Observed {
    /// Running and waiting contexts over time.
    pub timeline: Timeline,
    /// Nanoseconds with exactly `i` contexts running.
    pub levels: Vec<u64>,
    /// Context-nanoseconds of waiting, by cause.
    pub waiting_ns: [u64; CAUSES],
    /// Context-nanoseconds of running.
    pub running_ns: u64,
}

impl Observed {
    /// Measures a run.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn measure(graph: &Graph) -> Result<Self> {
        let mut sweep = Sweep::new(graph);
        while let Some(Reverse((now_ns, index))) = sweep.changes.pop() {
            sweep.advance(now_ns);
            sweep.change(now_ns, index)?;
        }
        Ok(sweep.finish())
    }
}

/// A context during the sweep.
#[derive(Debug)]
enum Life<'g> {
    /// Its first task lies ahead; nothing is open yet.
    Unborn(ContextId),
    Alive(Box<Segments<'g>>, State),
    Ended,
}

struct Sweep<'g> {
    graph: &'g Graph,
    lives: Vec<Life<'g>>,
    /// When each context changes its state next.
    changes: BinaryHeap<Reverse<(u64, usize)>>,
    now_ns: u64,
    end_ns: u64,
    counts: Counts,
    timeline: TimelineBuilder,
    levels: Vec<u64>,
    waiting_ns: [u64; CAUSES],
    running_ns: u64,
}

impl<'g> Sweep<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut lives = Vec::new();
        let mut changes = Vec::new();
        let mut end_ns = graph.summary().duration_ns;
        for context in graph.contexts().filter(|context| context.task_count > 0) {
            changes.push(Reverse((context.first_ns, lives.len())));
            lives.push(Life::Unborn(context.id));
            end_ns = end_ns.max(context.last_ns);
        }
        let mut timeline = TimelineBuilder::new(0, end_ns);
        timeline.step(0, Counts::default());
        Self {
            graph,
            lives,
            changes: changes.into(),
            now_ns: 0,
            end_ns,
            counts: Counts::default(),
            timeline,
            levels: vec![0],
            waiting_ns: [0; CAUSES],
            running_ns: 0,
        }
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
        self.running_ns += u64::from(self.counts.running) * ns;
        for (sum, &waiting) in self.waiting_ns.iter_mut().zip(&self.counts.waiting) {
            *sum += u64::from(waiting) * ns;
        }
        self.timeline.step(self.now_ns, self.counts);
        self.now_ns = now_ns;
    }

    /// Puts a context into its next state.
    fn change(&mut self, now_ns: u64, index: usize) -> Result<()> {
        let mut segments = match std::mem::replace(&mut self.lives[index], Life::Ended) {
            Life::Unborn(context) => Box::new(Segments::new(self.graph, context)?),
            Life::Alive(segments, state) => {
                self.counts.leave(state);
                segments
            }
            Life::Ended => return Ok(()),
        };
        if let Some(segment) = segments.next().transpose()? {
            self.counts.enter(segment.state);
            self.changes
                .push(Reverse((segment.to_ns.max(now_ns), index)));
            self.lives[index] = Life::Alive(segments, segment.state);
        }
        Ok(())
    }

    fn finish(mut self) -> Observed {
        self.advance(self.end_ns);
        Observed {
            timeline: self.timeline.finish(),
            levels: self.levels,
            waiting_ns: self.waiting_ns,
            running_ns: self.running_ns,
        }
    }
}
