//! What was measured: runs of the baseline, and of the program at each number of threads.

use contech_observation::{Observation, Place, Times, Wait};
use serde::{Deserialize, Serialize};

/// One run, whose places are indices in [`Measurement::places`].
pub type Run = contech_observation::Run<usize>;
/// The parallel phases of one place in one run.
pub type Phase = contech_observation::Phase<usize>;

/// Measurements of one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The command, with its placeholders.
    pub command: Vec<String>,
    /// The sequential baseline, if there is one.
    #[serde(default)]
    pub baseline: Option<Vec<String>>,
    /// The sequential elision, if there is one.
    #[serde(default)]
    pub elision: Option<Vec<String>>,
    /// Processors of the machine.
    pub cpus: u32,
    /// Runs of the baseline.
    #[serde(default)]
    pub baseline_runs: Vec<Run>,
    /// Runs of the elision.
    #[serde(default)]
    pub elision_runs: Vec<Run>,
    /// Runs of the program, by number of threads, ascending.
    pub points: Vec<Point>,
    /// Names of the places that runs refer to.
    #[serde(default)]
    pub places: Vec<PlaceName>,
    /// What its reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Measurement {
    /// A place in words; empty if it is not known.
    #[must_use]
    pub fn place(&self, place: usize) -> String {
        self.places.get(place).map(PlaceName::words).unwrap_or_default()
    }
}

/// Runs at one number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Number of threads, P.
    pub threads: u32,
    /// The runs.
    pub runs: Vec<Run>,
    /// If the work depends on P: one-processor runs of the work of this P (work inflation, chart
    /// 3.f). Otherwise empty.
    #[serde(default)]
    pub one: Vec<Run>,
    /// What the lanes of one of the runs did over time.
    #[serde(default)]
    pub activity: Option<Activity>,
}

/// The activity graph of one run (deconstructing overhead, section III).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Width of a bin, ns.
    pub bin_ns: u64,
    /// Time by state, for each bin of each lane.
    pub lanes: Vec<Vec<Times>>,
}

/// A place in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceName {
    /// Function; may be empty.
    pub function: String,
    /// Source file; may be empty.
    pub file: String,
    /// Line; 0 unknown.
    pub line: u32,
}

impl PlaceName {
    /// `function (file:line)`, or the known parts of it.
    #[must_use]
    pub fn words(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        match (self.function.is_empty(), file.is_empty()) {
            (true, true) => "an unknown place".to_owned(),
            (false, true) => self.function.clone(),
            (true, false) => format!("{file}:{}", self.line),
            (false, false) => format!("{} ({file}:{})", self.function, self.line),
        }
    }
}

/// Which number stands for several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Estimate {
    /// The mean: the expected time (work inflation, section 2.7).
    #[default]
    Mean,
    /// The run in the middle: for machines with other users.
    Median,
    /// The fastest run.
    Min,
}

impl Estimate {
    /// The runs whose mean is the estimate.
    #[must_use]
    pub fn choose<'a>(self, runs: &'a [Run]) -> Vec<&'a Run> {
        let mut sorted: Vec<&'a Run> = runs.iter().collect();
        sorted.sort_by_key(|run| run.t_ns);
        match self {
            Self::Mean => sorted,
            Self::Median => sorted.get(sorted.len() / 2).copied().into_iter().collect(),
            Self::Min => sorted.first().copied().into_iter().collect(),
        }
    }
}

/// The run in the middle.
pub(super) fn middle(runs: &[Run]) -> Option<&Run> {
    Estimate::Median.choose(runs).first().copied()
}

/// How far the runs of one thing lie apart: the slowest minus the fastest, over their estimate `t`
/// ns.
#[must_use]
pub fn spread(runs: &[Run], t: f64) -> f64 {
    let times = || runs.iter().map(|run| run.t_ns);
    let (least, most) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    super::ratio::over((most - least) as f64, t)
}

/// The run with names for its places; `name` has the index of each. Copied code (inlined, unrolled)
/// has one name and several places.
#[must_use]
pub fn named(run: &contech_observation::Run<Place>, mut name: impl FnMut(&Place) -> usize) -> Run {
    let mut phases: Vec<Phase> = Vec::new();
    for phase in &run.phases {
        let (place, model) = (name(&phase.place), phase.model);
        let known = phases.iter().position(|other| other.place == place);
        let at = known.unwrap_or_else(|| {
            phases.push(Phase { place, model, ..Phase::default() });
            phases.len() - 1
        });
        phases[at].add(phase);
    }
    let waits = run.waits.iter().map(|wait| {
        let Wait { ref place, state, count, ns } = *wait;
        Wait { place: name(place), state, count, ns }
    });
    let waits = waits.collect();
    let contech_observation::Run { t_ns, cpu_ns, locks, lanes, times, .. } = *run;
    Run { t_ns, cpu_ns, locks, lanes, times, phases, waits }
}

impl Activity {
    /// The run of an observation.
    #[must_use]
    pub fn of(observation: Observation) -> Self {
        let lanes = observation.lanes.into_iter().map(|lane| lane.bins);
        Self { bin_ns: observation.bin_ns, lanes: lanes.collect() }
    }
}
