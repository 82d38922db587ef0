//! What is measured: plain data.

use serde::{Deserialize, Serialize};

/// What a thread does, from the point of view of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// A loaded file with code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    pub path: String,
}

/// What makes a phase parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// The phase is an outermost OpenMP parallel region.
    OpenMp,
    /// The phase creates and joins threads.
    Threads,
    /// The program marked the phase (`contech_phase_begin`).
    Marked,
}

/// A row of the activity graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Number of threads that used the row, one after the other.
    pub threads: u32,
    /// Time by state.
    pub times: Times,
    /// How often each state began.
    pub counts: [u64; State::COUNT],
    /// Processor time that its threads took, ns.
    pub cpu_ns: u64,
    /// How often its threads gave up the processor.
    pub voluntary: u64,
    /// How often the processor was taken from its threads.
    pub involuntary: u64,
    /// How many locks its threads took, free or not: an estimate from a sample.
    pub locks: u64,
    /// Time by state in each bin of [`Observation::bin_ns`]; bins after the last are empty.
    pub bins: Vec<Times>,
}

/// The parallel phases of one place, added up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Where the phases begin.
    pub place: Place,
    /// What made them parallel.
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
    pub slowest_ns: u64,
    /// Begin of the first phase, ns.
    pub first_ns: u64,
    /// Whether iterations were handed out at run time (dynamic or guided schedule, tasks), so that
    /// the program does not determine which thread does what.
    pub dynamic: bool,
    /// Pieces of work given out at run time: tasks that began, and parts of loops with a dynamic or
    /// guided schedule (the latter estimated).
    pub pieces: u64,
}

/// A place where threads waited, and what they waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitSite {
    /// The call that waited.
    pub place: Place,
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
    /// Process id.
    pub pid: u32,
    /// Number of processors that the process was allowed to use.
    pub cpus: u32,
    /// Wall-clock time of the observed part, ns.
    pub duration_ns: u64,
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
    /// Parallel phases by place, in the order of the first phase of each place.
    pub phases: Vec<Phase>,
    /// Where threads waited.
    pub waits: Vec<WaitSite>,
    pub modules: Vec<Module>,
}

impl Observation {
    /// Time by state of all lanes.
    #[must_use]
    pub fn times(&self) -> Times {
        let mut sum = Times::default();
        self.lanes.iter().for_each(|lane| sum.add(&lane.times));
        sum
    }
}
