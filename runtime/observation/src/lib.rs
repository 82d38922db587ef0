//! What the observer measured in one process: the file that `libcontech_observe.so` leaves and
//! `contech scale` reads. It is an [`Observation`] as JSON. Its size is bounded by the threads that
//! lived at the same time, the places that created phases or waited, and the bins of the time line.
//! It does not grow with the duration of the run. The library and the reader are of one build, so
//! there are no versions.
//!
//! ## What the numbers mean
//!
//! Times are nanoseconds of the processor's time stamp counter, calibrated against the system's
//! clock over the run. Time zero is the start of `main`, and the end is the exit of the process.
//! With a region of interest they are the region's first begin and last end.
//!
//! A *lane* is a row of the activity graph. It has one thread at a time; a thread that begins takes
//! the first free lane. The states of a lane add up to the time in which it had a thread. Time
//! without a thread is not counted.
//!
//! A *phase* is a parallel phase, from fork to join: an outermost OpenMP parallel region, or the
//! lifetime of threads that `pthread_create` made and that are joined later, or a phase that the
//! program marked (`contech_phase_begin`, `_end`). Phases of one place are added up. The states of
//! a phase are those of its threads while they take part in it. Their wait at the end of the phase
//! counts as `Barrier` or `Join` until the phase ends.
//!
//! A wait that begins while the thread is already idle, scheduling or waiting counts as a part of
//! that state. A task that runs within a wait counts as running. The part of a wait before a task
//! begins counts as `Scheduling` if it took less than 10,000 ticks (some four microseconds),
//! because the task was ready. A wait for tasks of less than 1,000 ticks also counts as
//! `Scheduling`, because there was no task to wait for. libomp's making of tasks and handing out of
//! iterations is timed at about every 16th call of a thread. The measured time stands for all calls
//! since the last timed one, and is subtracted from the state before the call. A `Spin` of no time
//! counts yields of the processor.
//!
//! With a region of interest, times count only within the region, and its occurrences are added up;
//! processor time is that of the whole process. Between the end of a thread and the next
//! thread of its lane no time is counted. A process that forks is observed, and its child is not. A
//! process leaves a file if it ends by `exit`, `_exit`, `quick_exit` or a signal that it does not
//! handle. SIGKILL leaves no file.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// What a thread does, from the point of view of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum State {
    /// The thread runs the program's own code (with everything that keeps it slow in the hardware).
    Running,
    /// The thread works for the parallel runtime: it makes tasks or threads, or hands out
    /// iterations.
    Scheduling,
    /// The thread waits for work.
    Idle,
    /// The thread is blocked in a mutex, read-write lock, critical section, or OpenMP lock.
    Lock,
    /// The thread is busy in a spin lock.
    Spin,
    /// The thread is in a barrier, which includes the one at the end of a parallel region.
    Barrier,
    /// The thread waits for another thread or a task to end.
    Join,
    /// The thread waits for a condition or a semaphore.
    Condition,
    /// The thread waits for a message.
    Message,
    /// The thread sleeps by its own choice.
    Sleep,
}

impl State {
    /// All states, in order.
    pub const ALL: [Self; 10] = [
        Self::Running,
        Self::Scheduling,
        Self::Idle,
        Self::Lock,
        Self::Spin,
        Self::Barrier,
        Self::Join,
        Self::Condition,
        Self::Message,
        Self::Sleep,
    ];
    pub const COUNT: usize = Self::ALL.len();

    /// The state's word in JSON and legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Scheduling => "scheduling",
            Self::Idle => "idle",
            Self::Lock => "lock",
            Self::Spin => "spin",
            Self::Barrier => "barrier",
            Self::Join => "join",
            Self::Condition => "condition",
            Self::Message => "message",
            Self::Sleep => "sleep",
        }
    }
}

/// Nanoseconds by [`State`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times(pub [u64; State::COUNT]);

impl Times {
    #[must_use]
    pub const fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// Time in all states.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    pub fn add(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(ns);
        }
    }
}

/// An address in the code of the program or of a library, to which a call returns.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index in [`Observation::modules`]; `None` if the address belongs to no file.
    pub module: Option<u32>,
    /// Distance from the module's first byte as loaded. Except in non-PIE files it is an address of
    /// the file's symbols.
    pub offset: u64,
    /// The name that the dynamic symbols have for the address; may be empty.
    pub symbol: String,
}

/// What makes a phase parallel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// The phase is an outermost OpenMP parallel region.
    #[default]
    OpenMp,
    /// The phase creates and joins threads.
    Threads,
    /// The program marked the phase (`contech_phase_begin`).
    Marked,
}

impl Model {
    pub const ALL: [Self; 3] = [Self::OpenMp, Self::Threads, Self::Marked];
}

/// A row of the activity graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Number of threads that used the row, one after the other.
    pub threads: u32,
    /// Time by state.
    pub times: Times,
    /// Time by state in each bin of [`Observation::bin_ns`]; bins after the last are empty.
    pub bins: Vec<Times>,
}

/// What is added up of a run. `P` tells where something is: a [`Place`] here, an address in the
/// observer, the index of a name in the measurement that `contech scale` keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run<P> {
    /// Wall-clock time of the observed part, ns.
    pub t_ns: u64,
    /// Processor time that the process took, ns.
    #[serde(default)]
    pub cpu_ns: u64,
    /// How many locks were taken, free or not: an estimate from a sample.
    #[serde(default)]
    pub locks: u64,
    /// Number of lanes, which is the largest number of threads that lived at one time.
    #[serde(default)]
    pub lanes: u32,
    /// Time by state, all threads.
    #[serde(default)]
    pub times: Times,
    /// Parallel phases by place, in the order of the first phase of each place.
    #[serde(default)]
    pub phases: Vec<Phase<P>>,
    /// Where threads waited.
    #[serde(default)]
    pub waits: Vec<Wait<P>>,
}

/// The parallel phases of one place, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase<P> {
    /// Where the phases begin.
    pub place: P,
    /// What made them parallel.
    #[serde(default)]
    pub model: Model,
    /// Number of phases.
    pub count: u64,
    /// Sum of their durations, ns.
    pub wall_ns: u64,
    /// Most threads that took part in one phase.
    pub threads: u32,
    /// Time by state of the threads that took part.
    pub times: Times,
    /// Sum over phases of the largest time of a thread without its waiting for synchronisation
    /// (speedup stacks, section 6.3).
    #[serde(default)]
    pub slowest_ns: u64,
    /// Whether iterations were handed out at run time (dynamic or guided schedule, tasks), so that
    /// the program does not determine which thread does what.
    #[serde(default)]
    pub dynamic: bool,
    /// Pieces of work given out at run time: tasks that began, and parts of loops with a dynamic or
    /// guided schedule (the latter estimated).
    #[serde(default)]
    pub pieces: u64,
}

impl<P> Phase<P> {
    /// Adds other phases of the same place.
    pub fn add<Q>(&mut self, other: &Phase<Q>) {
        self.count += other.count;
        self.wall_ns += other.wall_ns;
        self.threads = self.threads.max(other.threads);
        self.times.add(&other.times);
        self.slowest_ns += other.slowest_ns;
        self.dynamic |= other.dynamic;
        self.pieces += other.pieces;
    }

    /// Whether the phase is parallel on so many processors. A region in which only one of several
    /// threads takes part is serial.
    #[must_use]
    pub fn parallel(&self, processors: u32) -> bool {
        self.threads != 1 || processors == 1
    }
}

/// A place where threads waited, and what they waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait<P> {
    /// The call that waited.
    pub place: P,
    /// The state of the waiting threads.
    pub state: State,
    /// Number of waits.
    pub count: u64,
    /// Total time of the waits, ns.
    pub ns: u64,
}

/// Everything that was measured in one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Whether the observer saw the end of the program.
    pub complete: bool,
    /// Whether the program marked a region of interest, so that only the region was observed.
    pub region: bool,
    /// Name that the OpenMP library gives itself; empty without one.
    pub openmp: String,
    /// Sentences about what could not be seen (an OpenMP library that does not report, lanes that
    /// ran out, ...).
    pub notes: Vec<String>,
    /// Width of the bins of the time line, ns.
    pub bin_ns: u64,
    pub lanes: Vec<Lane>,
    pub run: Run<Place>,
    /// Paths of the loaded files with code.
    pub modules: Vec<String>,
}
