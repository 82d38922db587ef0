//! The observed parallelism of a run (contech.txt, section 5.1): the segments of all contexts merged in order of time.
//! Memory grows with the contexts that live at one time and the steps kept, not with the tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{ContextId, TaskId};

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
        let end_ns = end_of(graph);
        let mut sums = Sums::new(end_ns);
        sweep(graph, |change| sums.change(change))?;
        Ok(sums.finish(end_ns))
    }
}

/// A context goes from one state to another; the changes of all contexts come in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When, nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Which, counting those with tasks.
    pub context: usize,
    /// What it did; none where it begins.
    pub from: Option<State>,
    /// What it does from now on; none where it ends.
    pub to: Option<State>,
    /// The task it does that in, or before; none where it ends.
    pub task: Option<TaskId>,
}

/// The end of the run: the last moment of any context.
#[must_use]
pub fn end_of(graph: &Graph) -> u64 {
    let with_tasks = graph.contexts().filter(|context| context.task_count > 0);
    with_tasks
        .map(|context| context.last_ns)
        .fold(graph.summary().duration_ns, u64::max)
}

/// Calls `visit` with every change of every context's state, in order of time.
///
/// # Errors
/// When the graph cannot be read.
pub fn sweep(graph: &Graph, mut visit: impl FnMut(Change)) -> Result<()> {
    let mut lives = Vec::new();
    let mut changes = Vec::new();
    for context in graph.contexts().filter(|context| context.task_count > 0) {
        changes.push(Reverse((context.first_ns, lives.len())));
        lives.push(Life::Unborn(context.id));
    }
    let mut changes: BinaryHeap<_> = changes.into();
    while let Some(Reverse((at_ns, context))) = changes.pop() {
        let (mut segments, from) = match std::mem::replace(&mut lives[context], Life::Ended) {
            Life::Unborn(id) => (Box::new(Segments::new(graph, id)?), None),
            Life::Alive(segments, state) => (segments, Some(state)),
            Life::Ended => continue,
        };
        let segment = segments.next().transpose()?;
        visit(Change {
            at_ns,
            context,
            from,
            to: segment.map(|segment| segment.state),
            task: segment.map(|segment| segment.task),
        });
        if let Some(segment) = segment {
            changes.push(Reverse((segment.to_ns.max(at_ns), context)));
            lives[context] = Life::Alive(segments, segment.state);
        }
    }
    Ok(())
}

/// A context during the sweep.
#[derive(Debug)]
enum Life<'g> {
    /// Its first task lies ahead; nothing is open yet.
    Unborn(ContextId),
    Alive(Box<Segments<'g>>, State),
    Ended,
}

/// What is added up on the way.
struct Sums {
    now_ns: u64,
    counts: Counts,
    timeline: TimelineBuilder,
    levels: Vec<u64>,
    waiting_ns: [u64; CAUSES],
    running_ns: u64,
}

impl Sums {
    fn new(end_ns: u64) -> Self {
        let mut timeline = TimelineBuilder::new(0, end_ns);
        timeline.step(0, Counts::default());
        Self {
            now_ns: 0,
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

    fn change(&mut self, change: Change) {
        self.advance(change.at_ns);
        if let Some(state) = change.from {
            self.counts.leave(state);
        }
        if let Some(state) = change.to {
            self.counts.enter(state);
        }
    }

    fn finish(mut self, end_ns: u64) -> Observed {
        self.advance(end_ns);
        Observed {
            timeline: self.timeline.finish(),
            levels: self.levels,
            waiting_ns: self.waiting_ns,
            running_ns: self.running_ns,
        }
    }
}
