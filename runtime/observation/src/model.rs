//! What is measured: plain data.

use bincode::{Decode, Encode};

/// What a thread does, from the point of view of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[repr(u8)]
pub enum State {
    /// The program's own code (and what keeps it slow in the hardware).
    Running,
    /// Work of the parallel runtime: making tasks and threads, handing out iterations.
    Scheduling,
    /// Waiting for work.
    Idle,
    /// Blocked in a mutex, read-write lock, critical section, OpenMP lock.
    Lock,
    /// Busy in a spin lock.
    Spin,
    /// In a barrier, that at the end of a parallel region included.
    Barrier,
    /// Waiting for a thread or task to end.
    Join,
    /// Waiting for a condition or semaphore.
    Condition,
    /// Waiting for a message.
    Message,
    /// Asleep of its own will.
    Sleep,
}

impl State {
    /// All, in order.
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
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its word in JSON and legends.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Times(pub [u64; State::COUNT]);

impl Times {
    /// Time in one state.
    #[must_use]
    pub const fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// Time in all of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// Adds another's times.
    pub fn add(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(ns);
        }
    }
}

/// An address in the code of the program or of a library: what a call returns to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Place {
    /// Index in [`Observation::modules`]; none where the address belongs to no file.
    pub module: Option<u32>,
    /// Distance from the module's first byte as loaded (an address of the file's symbols for all but non-PIE ones).
    pub offset: u64,
    /// Name the dynamic symbols have for it; may be empty.
    pub symbol: String,
}

/// A file with code that was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Module {
    /// Its path.
    pub path: String,
}

/// What makes a phase parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Model {
    /// An outermost OpenMP parallel region.
    OpenMp,
    /// Threads created and joined.
    Threads,
    /// The program said so (`contech_phase_begin`).
    Marked,
}

/// A row of the activity graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lane {
    /// Threads that used it, one after the other.
    pub threads: u32,
    /// Time by state.
    pub times: Times,
    /// How often each state began.
    pub counts: [u64; State::COUNT],
    /// Processor time its threads took, ns.
    pub cpu_ns: u64,
    /// Times they gave up the processor.
    pub voluntary: u64,
    /// Times the processor was taken from them.
    pub involuntary: u64,
    /// Locks they took, free or not: an estimate from a sample.
    pub locks: u64,
    /// Time by state in each bin of [`Observation::bin_ns`]; bins after the last are empty.
    pub bins: Vec<Times>,
}

/// Parallel phases of one place, added up.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Phase {
    /// Where they begin.
    pub place: Place,
    /// What made them.
    pub model: Model,
    /// How many.
    pub count: u64,
    /// Sum of their durations, ns.
    pub wall_ns: u64,
    /// Most threads that took part in one.
    pub threads: u32,
    /// Time by state of the threads that took part.
    pub times: Times,
    /// Sum over phases of the largest time of a thread without its waiting for synchronisation (speedup stacks, section 6.3).
    pub slowest_ns: u64,
    /// Begin of the first one, ns.
    pub first_ns: u64,
    /// Iterations were handed out at run time (dynamic or guided schedule, tasks): which thread does what is no property of
    /// the program.
    pub dynamic: bool,
    /// In an alone-run: time of the profiled thread without its waiting at barriers, ns.
    pub alone_ns: u64,
    /// Pieces of work given out at run time: tasks that began, parts of loops with a dynamic or guided schedule (these by an
    /// estimate).
    pub pieces: u64,
}

/// Where threads waited, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct WaitSite {
    /// Call that waited.
    pub place: Place,
    /// What it waited for.
    pub state: State,
    /// How often.
    pub count: u64,
    /// How long in all, ns.
    pub ns: u64,
}

/// A run in which one thread ran alone between barriers (speedup stacks, section 6.1).
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Alone {
    /// Number of the profiled thread within its team, from 0.
    pub thread: u32,
    /// Why the measurement is not one (condition variables, spinning barriers, ...); none where it is.
    pub invalid: Option<String>,
    /// What the Pirate did.
    pub pirate: Option<Pirate>,
}

/// A thread that keeps a part of the shared cache for itself (speedup stacks, section 3).
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Pirate {
    /// Its working set.
    pub bytes: u64,
    /// Its mean time of an access with the cache to itself, ns.
    pub quiet_ns: f64,
    /// The same beside the program, ns.
    pub beside_ns: f64,
    /// Mean time of an access that misses the cache, ns.
    pub miss_ns: f64,
    /// Rounds through the working set beside the program.
    pub rounds: u64,
    /// Whether the working set stayed in the cache.
    pub held: bool,
}

/// All that was measured in one process.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Observation {
    /// The observer saw the end.
    pub complete: bool,
    /// Process.
    pub pid: u32,
    /// Processors it was allowed.
    pub cpus: u32,
    /// Wall-clock time of what was observed, ns.
    pub duration_ns: u64,
    /// The program marked a region of interest, and only that was observed.
    pub region: bool,
    /// OpenMP library, as it names itself; empty without.
    pub openmp: String,
    /// What could not be seen, in words (an OpenMP library that does not tell, lanes that ran out ...).
    pub notes: Vec<String>,
    /// Width of the bins of the time line, ns.
    pub bin_ns: u64,
    /// Rows of the activity graph.
    pub lanes: Vec<Lane>,
    /// Parallel phases by place, in the order of their first one.
    pub phases: Vec<Phase>,
    /// Where threads waited.
    pub waits: Vec<WaitSite>,
    /// Files with code.
    pub modules: Vec<Module>,
    /// The alone-run this was.
    pub alone: Option<Alone>,
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
