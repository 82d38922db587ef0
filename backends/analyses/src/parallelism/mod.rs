//! `parallelism`: how many contexts run over time, what the others wait for, and how many could
//! run.
//!
//! Observed parallelism follows contech.txt, section 5.1 and Figure 6, from the start and end times
//! of tasks. A context runs while it is in a Work or Create task or in an operation that cannot
//! block; it waits inside Join, Barrier and acquiring Sync tasks and in the gap a barrier owned by
//! another context leaves. Potential parallelism is work over span of the graph with waiting taken
//! out.

mod chart;
mod lanes;
mod places;
mod potential;
mod render;
pub(crate) mod timeline;

use anyhow::Result;
use serde::Serialize;

use crate::analysis::{Analysis, CAUSES, Cause, Graph, Order, by_name, end_of, sweep};
use crate::critpath::Strands;
use crate::view::units::ratio;
use timeline::Timeline;

pub use lanes::Doing;
pub use lanes::{Lanes, Seen};
pub use places::{OutsidePlace, WaitPlace};
pub use timeline::Bucket;

/// Options of `parallelism`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Options {
    /// Sum the run up in at most N stretches (peaks are kept); without it every step is given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub points: Option<u32>,
}

/// The analysis.
#[derive(Debug)]
pub struct Parallelism {
    options: Options,
    timeline: Timeline,
    lanes: Lanes,
    groups: places::Groups,
}

/// Observed and potential parallelism of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Length of the run.
    pub duration_ns: u64,
    /// Contexts of the run.
    pub contexts: u64,
    /// Average number of running contexts.
    pub average: f64,
    /// Most contexts running at one time.
    pub peak: u32,
    /// Average number of tasks an unlimited machine could run at once: work over span.
    pub potential_average: f64,
    /// Running time of all contexts together.
    pub work_ns: u64,
    /// Longest chain of dependent running time.
    pub span_ns: u64,
    /// Time spent at each number of running contexts, zero-length ones left out.
    pub levels: Vec<LevelTime>,
    /// Waiting time by cause, the most first; shares are of the life time of all contexts together.
    pub waits: Vec<WaitTime>,
    /// All waits by cause and place, the most time first.
    pub places: Vec<WaitPlace>,
    /// Running time in calls of code that was not recorded, the most first: tasks of a millisecond
    /// or more that execute hardly a block. What is said of functions and blocks does not know it.
    pub outside: Vec<OutsidePlace>,
    /// Whether `steps` is the step function itself and not a summary of it.
    pub exact: bool,
    /// The number of running contexts from each time on.
    pub steps: Vec<RunningStep>,
    /// The run in a few thousand stretches, for drawing.
    #[serde(skip)]
    pub stretches: Vec<Bucket>,
    /// What each executor did, for drawing.
    #[serde(skip)]
    pub lanes: Lanes,
    /// The schedule that starts every task as soon as it can: start of stretch, average tasks at
    /// once.
    #[serde(skip)]
    pub potential: Vec<(u64, f64)>,
}

/// Time with a number of contexts running.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelTime {
    /// Running contexts.
    pub running: usize,
    /// How long.
    pub ns: u64,
    /// Share of the run.
    pub share: f64,
}

/// Time waited for a cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitTime {
    /// What for.
    #[serde(serialize_with = "by_name")]
    pub cause: Cause,
    /// Context-nanoseconds.
    pub ns: u64,
    /// Share of the life time of all contexts together.
    pub share: f64,
}

/// A step of the step function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunningStep {
    /// Nanoseconds since the start of the run.
    pub t_ns: u64,
    /// Contexts running from then on.
    pub running: u32,
}

/// Stretches in the picture of a report.
const DRAWN: usize = 6000;
/// Steps given when there are too many to give them all.
const SUMMED_UP: usize = 100_000;

impl Analysis for Parallelism {
    const NAME: &'static str = "parallelism";
    const ABOUT: &'static str =
        "Running contexts over time, what the others wait for, and the potential parallelism";
    const ORDER: Order = Order::Tables;
    type Config = Options;
    type Shard = ();
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        Ok(Self {
            options,
            timeline: Timeline::new(end_of(graph)),
            lanes: Lanes::new(graph),
            groups: places::Groups::default(),
        })
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        sweep(graph, |change| {
            self.timeline.change(change);
            self.lanes.change(change)?;
            places::note(&mut self.groups, change)
        })?;
        self.timeline.finish();
        Ok(())
    }

    fn shard(&self) {}

    fn finish(self, graph: &Graph, _: Vec<()>) -> Result<Report> {
        let Self { options, timeline, lanes, groups } = self;
        let strands = Strands::new(graph)?;
        let (work_ns, span_ns) = (strands.work_ns(), strands.span_ns());
        let duration_ns = timeline.duration_ns();
        let Bucket { running_ns, max, waiting_ns, .. } = timeline.all;
        let life_ns = running_ns + waiting_ns.iter().sum::<u64>();
        let (places, outside) = places::rows(graph, groups);
        let (exact, steps) = steps(&timeline, options.points);
        Ok(Report {
            duration_ns,
            contexts: graph.summary().contexts,
            average: ratio(running_ns, duration_ns),
            peak: max,
            potential_average: ratio(work_ns, span_ns),
            work_ns,
            span_ns,
            levels: levels(&timeline.levels, duration_ns),
            waits: waits(&waiting_ns, life_ns),
            places,
            outside,
            exact,
            steps,
            lanes,
            stretches: timeline.stretches(DRAWN),
            potential: potential::curve(&strands),
        })
    }
}

fn levels(levels: &[u64], duration_ns: u64) -> Vec<LevelTime> {
    let nonzero = levels.iter().enumerate().filter(|&(_, &ns)| ns > 0);
    nonzero.map(|(running, &ns)| LevelTime { running, ns, share: ratio(ns, duration_ns) }).collect()
}

fn waits(waiting_ns: &[u64; CAUSES], life_ns: u64) -> Vec<WaitTime> {
    let causes = Cause::ALL.iter().zip(waiting_ns).filter(|&(_, &ns)| ns > 0);
    let mut waits: Vec<_> =
        causes.map(|(&cause, &ns)| WaitTime { cause, ns, share: ratio(ns, life_ns) }).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.ns));
    waits
}

/// The steps to give, and whether they are exact.
fn steps(timeline: &Timeline, points: Option<u32>) -> (bool, Vec<RunningStep>) {
    let most = points.map_or(SUMMED_UP, |points| points as usize);
    if let Some(steps) = timeline.steps().filter(|steps| points.is_none() || steps.len() <= most) {
        let mut exact: Vec<RunningStep> = Vec::new();
        for step in steps {
            let running = step.counts.running;
            if exact.last().is_none_or(|last| last.running != running) {
                exact.push(RunningStep { t_ns: step.t_ns, running });
            }
        }
        return (true, exact);
    }
    (false, timeline.buckets(most).iter().flat_map(summed_up).collect())
}

/// A bucket as at most two steps with its minimum, its maximum and its integral: first the maximum,
/// then the minimum.
fn summed_up(bucket: &Bucket) -> impl Iterator<Item = RunningStep> + use<> {
    let spread = u64::from(bucket.max - bucket.min);
    let above = bucket.running_ns - u64::from(bucket.min) * bucket.length_ns;
    let high = RunningStep { t_ns: bucket.t_ns, running: bucket.max };
    let low = above
        .checked_div(spread)
        .map(|ns| RunningStep { t_ns: bucket.t_ns + ns, running: bucket.min });
    [Some(high), low].into_iter().flatten()
}
