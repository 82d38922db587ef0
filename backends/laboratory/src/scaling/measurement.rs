//! What was measured: runs of the baseline, and of the program at each number of threads.

use contech_observation::{Observation, State};
use serde::{Deserialize, Serialize};

/// Nanoseconds by state, in the order of [`State::ALL`].
pub type StateTimes = [u64; State::COUNT];

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

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How long it took, ns.
    pub t_ns: u64,
    /// Processor time it took, ns.
    #[serde(default)]
    pub cpu_ns: u64,
    /// Locks taken, free or not (an estimate).
    #[serde(default)]
    pub locks: u64,
    /// Number of lanes, which is the largest number of threads that lived at one time.
    #[serde(default)]
    pub lanes: u32,
    /// Time by state, all threads.
    #[serde(default)]
    pub times: StateTimes,
    /// Parallel phases by place.
    #[serde(default)]
    pub phases: Vec<PhaseRun>,
    /// Where threads waited.
    #[serde(default)]
    pub waits: Vec<WaitRun>,
}

/// The parallel phases of one place in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRun {
    /// Index in [`Measurement::places`].
    pub place: usize,
    /// Number of phases.
    pub count: u64,
    /// Sum of their durations, ns.
    pub wall_ns: u64,
    /// Most threads that took part in one.
    pub threads: u32,
    /// Time by state of the threads that took part.
    pub times: StateTimes,
    /// Sum of the slowest thread's time without its waits for synchronisation, ns.
    #[serde(default)]
    pub slowest_ns: u64,
    /// Whether it is decided at run time which thread does what.
    #[serde(default)]
    pub dynamic: bool,
    /// Pieces of work given out at run time: tasks, parts of loops.
    #[serde(default)]
    pub pieces: u64,
}

/// Waits of one place in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitRun {
    /// Index in [`Measurement::places`].
    pub place: usize,
    /// [`State::name`] of the wait.
    pub state: String,
    /// Number of waits.
    pub count: u64,
    /// Total time of the waits, ns.
    pub ns: u64,
}

/// The activity graph of one run (deconstructing overhead, section III).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Width of a bin, ns.
    pub bin_ns: u64,
    /// Time by state, for each bin of each lane.
    pub lanes: Vec<Vec<StateTimes>>,
}

/// A place in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl PhaseRun {
    fn add(&mut self, phase: &contech_observation::Phase) {
        self.count += phase.count;
        self.wall_ns += phase.wall_ns;
        self.threads = self.threads.max(phase.threads);
        for (sum, ns) in self.times.iter_mut().zip(phase.times.0) {
            *sum += ns;
        }
        self.slowest_ns += phase.slowest_ns;
        self.dynamic |= phase.dynamic;
        self.pieces += phase.pieces;
    }

    /// Whether the phase is parallel on so many processors. A region in which only one of several
    /// threads takes part is serial.
    #[must_use]
    pub fn parallel(&self, processors: u32) -> bool {
        self.threads != 1 || processors == 1
    }
}

impl Run {
    /// The run of an observation; `place` names its places.
    pub fn of(
        observation: &Observation,
        mut place: impl FnMut(&contech_observation::Place) -> usize,
    ) -> Self {
        let mut phases: Vec<PhaseRun> = Vec::new();
        for phase in &observation.phases {
            let place = place(&phase.place);
            // Copied code (inlined, unrolled) has one place and several addresses.
            match phases.iter_mut().find(|other| other.place == place) {
                Some(other) => other.add(phase),
                None => {
                    let mut first = PhaseRun { place, ..PhaseRun::default() };
                    first.add(phase);
                    phases.push(first);
                }
            }
        }
        let waits = observation.waits.iter().map(|wait| WaitRun {
            place: place(&wait.place),
            state: wait.state.name().to_owned(),
            count: wait.count,
            ns: wait.ns,
        });
        Self {
            t_ns: observation.duration_ns,
            cpu_ns: observation.lanes.iter().map(|lane| lane.cpu_ns).sum(),
            locks: observation.lanes.iter().map(|lane| lane.locks).sum(),
            lanes: u32::try_from(observation.lanes.len()).unwrap_or(u32::MAX),
            times: observation.times().0,
            phases,
            waits: waits.collect(),
        }
    }
}

impl Activity {
    /// The run of an observation.
    #[must_use]
    pub fn of(observation: &Observation) -> Self {
        let bins = |lane: &contech_observation::Lane| lane.bins.iter().map(|bin| bin.0).collect();
        Self { bin_ns: observation.bin_ns, lanes: observation.lanes.iter().map(bins).collect() }
    }
}
