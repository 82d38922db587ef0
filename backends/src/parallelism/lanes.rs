//! What each context did over time, in bins.

use std::cmp::Reverse;

use taskgraph::ContextId;

use crate::analysis::{CAUSES, Cause, Change, Graph, State, end_of};
use crate::view::chart::{ActivityRow, ActivityState};

/// The most contexts that have a lane, those that live longest.
const LANES: usize = 100;
/// The most bins of all lanes, and of one.
const BINS: u64 = 50_000;
const WIDEST: u64 = 1000;

/// Nanoseconds that a context waits in each bin, by cause, and those that it runs.
type Bins = Vec<[u64; CAUSES + 1]>;

/// The lanes of a run.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Width of a bin.
    pub bin_ns: u64,
    /// The contexts, in their order, and what they did.
    lanes: Vec<(ContextId, Bins)>,
    /// For each context that has tasks, its lane.
    lane: Vec<Option<usize>>,
}

impl Lanes {
    /// Empty lanes for the contexts of a graph.
    pub(super) fn new(graph: &Graph) -> Self {
        let mut lives: Vec<(u64, usize, ContextId)> = graph
            .contexts()
            .filter(|context| context.task_count > 0)
            .enumerate()
            .map(|(at, context)| (context.last_ns - context.first_ns, at, context.id))
            .collect();
        let mut lane = vec![None; lives.len()];
        lives.sort_by_key(|&(ns, at, _)| (Reverse(ns), at));
        lives.truncate(LANES);
        lives.sort_by_key(|&(_, at, _)| at);
        let bins = (BINS / lives.len().max(1) as u64).min(WIDEST);
        for (number, &(_, at, _)) in lives.iter().enumerate() {
            lane[at] = Some(number);
        }
        Self {
            bin_ns: end_of(graph).div_ceil(bins).max(1),
            lanes: lives
                .into_iter()
                .map(|(_, _, context)| (context, Bins::new()))
                .collect(),
            lane,
        }
    }

    /// Follows a change.
    pub(super) fn change(&mut self, change: &Change<'_>) {
        let lane = self.lane.get(change.context).copied().flatten();
        let (Some(lane), Some(state)) = (lane, change.to) else {
            return;
        };
        let (mut at, end) = (change.at_ns, change.at_ns + change.ns);
        let bins = &mut self.lanes[lane].1;
        while at < end {
            let bin = at / self.bin_ns;
            let until = end.min((bin + 1) * self.bin_ns);
            let bin = usize::try_from(bin).unwrap_or(usize::MAX);
            if bins.len() <= bin {
                bins.resize(bin + 1, [0; CAUSES + 1]);
            }
            bins[bin][state.index().unwrap_or(CAUSES)] += until - at;
            at = until;
        }
    }

    /// Number of contexts that have no lane.
    #[must_use]
    pub fn others(&self) -> usize {
        self.lane.len() - self.lanes.len()
    }

    /// The lane of a context.
    #[must_use]
    pub fn of(&self, context: ContextId) -> Option<usize> {
        self.lanes.iter().position(|(id, _)| *id == context)
    }

    /// The lanes as rows of a chart.
    #[must_use]
    pub fn rows(&self) -> Vec<ActivityRow> {
        let states = || {
            let waits = Cause::ALL
                .into_iter()
                .map(|cause| (State::Waiting(cause), cause.name()));
            std::iter::once((State::Running, "running")).chain(waits)
        };
        let row = |(context, bins): &(ContextId, Bins)| ActivityRow {
            name: context.to_string(),
            states: states()
                .filter_map(|(state, name)| {
                    let index = state.index().unwrap_or(CAUSES);
                    let times = bins.iter().map(|bin| bin[index]);
                    ActivityState::of(name, name, times, self.bin_ns)
                })
                .collect(),
        };
        self.lanes.iter().map(row).collect()
    }
}
