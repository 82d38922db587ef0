//! What each context did over time, in bins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use taskgraph::{Context, ContextId};

use crate::analysis::{CAUSES, Cause, Change, Graph, State, end_of};
use crate::view::chart::{ActivityRow, ActivityState};

/// Contexts that have lanes of their own, if there are no more.
const OWN: usize = 40;
/// The most lanes, those in which contexts live longest.
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
    /// The contexts of each lane, in their order, and what they did.
    lanes: Vec<(Vec<ContextId>, Bins)>,
    /// For each context that has tasks, its lane.
    lane: Vec<Option<usize>>,
    of: FxHashMap<ContextId, usize>,
}

/// The contexts that have tasks, in lanes. If there are more than `own` of them, those that do not overlap share a lane.
pub(crate) fn in_lanes(graph: &Graph, own: usize) -> Vec<Vec<ContextId>> {
    let mut contexts: Vec<Context> = graph.contexts().filter(|c| c.task_count > 0).collect();
    if contexts.len() <= own {
        return contexts.iter().map(|context| vec![context.id]).collect();
    }
    contexts.sort_by_key(|context| (context.first_ns, context.id));
    let mut lanes: Vec<Vec<ContextId>> = Vec::new();
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for context in contexts {
        let free = ends.peek().filter(|end| end.0.0 <= context.first_ns);
        let lane = match free.is_some().then(|| ends.pop()).flatten() {
            Some(Reverse((_, lane))) => lane,
            None => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        lanes[lane].push(context.id);
        ends.push(Reverse((context.last_ns.max(context.first_ns), lane)));
    }
    lanes
}

impl Lanes {
    /// Empty lanes for the contexts of a graph.
    pub(super) fn new(graph: &Graph) -> Self {
        let contexts = || graph.contexts().filter(|context| context.task_count > 0);
        let lived: FxHashMap<ContextId, u64> = contexts()
            .map(|context| (context.id, context.last_ns - context.first_ns))
            .collect();
        let mut lanes: Vec<(usize, Vec<ContextId>)> =
            in_lanes(graph, OWN).into_iter().enumerate().collect();
        lanes.sort_by_key(|(at, contexts)| {
            let all: u64 = contexts.iter().map(|context| lived[context]).sum();
            (Reverse(all), *at)
        });
        lanes.truncate(LANES);
        lanes.sort_by_key(|&(at, _)| at);
        let of: FxHashMap<ContextId, usize> = (0..)
            .zip(&lanes)
            .flat_map(|(lane, (_, contexts))| contexts.iter().map(move |&id| (id, lane)))
            .collect();
        let bins = (BINS / lanes.len().max(1) as u64).min(WIDEST);
        Self {
            bin_ns: end_of(graph).div_ceil(bins).max(1),
            lanes: lanes
                .into_iter()
                .map(|(_, contexts)| (contexts, Bins::new()))
                .collect(),
            lane: contexts()
                .map(|context| of.get(&context.id).copied())
                .collect(),
            of,
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
        self.lane.iter().filter(|lane| lane.is_none()).count()
    }

    /// The lane of a context.
    #[must_use]
    pub fn of(&self, context: ContextId) -> Option<usize> {
        self.of.get(&context).copied()
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
        let name = |contexts: &[ContextId]| match contexts {
            [] => String::new(),
            [only] => only.to_string(),
            [first, others @ ..] => format!("{first} +{}", others.len()),
        };
        let row = |(contexts, bins): &(Vec<ContextId>, Bins)| ActivityRow {
            name: name(contexts),
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
