//! The causes to which processor time is lost.

use serde::Serialize;

/// A cause of lost processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// One context works and the others wait for it.
    #[default]
    Serial,
    /// Some contexts have more work than others.
    Imbalance,
    /// Waiting for a lock that another context holds.
    Lock,
    /// Barriers with too little work between them.
    Barrier,
    /// Waiting for data that another context makes.
    Producer,
    /// Contexts take turns, so the work in their turns is done by one at a time.
    Handover,
    /// Making, handing out and waiting for pieces of work that are too small.
    Scheduling,
    /// Lines that processors take from each other.
    Sharing,
    /// Data that no cache near the processor holds.
    Cache,
    /// Asking for memory and giving it back.
    Allocation,
    /// Sleeping, and waiting for input or output.
    Io,
    /// Waiting for messages of other processes.
    Message,
    /// Starting and ending MPI.
    Startup,
    /// Fewer threads than processors.
    Threads,
    /// Operations of locks and atomic variables themselves.
    Locking,
    /// Calls of the system.
    System,
    /// Copies of memory.
    Copying,
    /// Threads begin, or go on after their wait has ended.
    Starting,
    /// Threads that spin on processors which others want.
    Spinning,
    /// Processors that no thread of the program ran on.
    Bound,
}

impl Loss {
    /// All causes.
    pub const ALL: [Self; 20] = [
        Self::Serial,
        Self::Imbalance,
        Self::Lock,
        Self::Barrier,
        Self::Producer,
        Self::Handover,
        Self::Scheduling,
        Self::Sharing,
        Self::Cache,
        Self::Allocation,
        Self::Io,
        Self::Message,
        Self::Startup,
        Self::Threads,
        Self::Locking,
        Self::System,
        Self::Copying,
        Self::Starting,
        Self::Spinning,
        Self::Bound,
    ];

    /// The name of the loss, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Imbalance => "imbalance",
            Self::Lock => "lock",
            Self::Barrier => "barrier",
            Self::Producer => "producer",
            Self::Handover => "handover",
            Self::Scheduling => "scheduling",
            Self::Sharing => "sharing",
            Self::Cache => "cache",
            Self::Allocation => "allocation",
            Self::Io => "io",
            Self::Message => "message",
            Self::Startup => "startup",
            Self::Threads => "threads",
            Self::Locking => "locking",
            Self::System => "system",
            Self::Copying => "copying",
            Self::Starting => "starting",
            Self::Spinning => "spinning",
            Self::Bound => "bound",
        }
    }

    /// The loss as a part of a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Serial => "serial code",
            Self::Imbalance => "load imbalance: some threads or tasks have more work than others",
            Self::Lock => "waiting for a lock",
            Self::Barrier => "barriers that come after very little work",
            Self::Producer => "waiting for what another thread makes",
            Self::Handover => "taking turns, which lets one thread work at a time",
            Self::Scheduling => "making, handing out and waiting for very small pieces of work",
            Self::Sharing => "cache lines that threads take from each other (estimate)",
            Self::Cache => "data that is not in a cache (estimate)",
            Self::Allocation => "asking for memory and giving it back (estimate)",
            Self::Io => "sleep, input and output",
            Self::Message => "waiting for messages",
            Self::Startup => "starting and ending MPI",
            Self::Threads => "fewer threads than processors",
            Self::Locking => "operations of locks and atomic variables themselves (estimate)",
            Self::System => "calls of the system",
            Self::Copying => "copying memory",
            Self::Starting => "starting threads and waking them",
            Self::Spinning => {
                "threads that spin on processors which other threads of the program need"
            }
            Self::Bound => {
                "processors that the threads never ran on, although they had work for them"
            }
        }
    }

    /// What to do about the loss, as a sentence.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Serial => "Make it parallel, or overlap it with other work.",
            Self::Imbalance => {
                "Deal out the work in smaller or in equal pieces, the next one to whoever is free."
            }
            Self::Lock => "Do less while the lock is held, or give each part of the data its own.",
            Self::Barrier => "Do more between barriers, or do without some of them.",
            Self::Producer => "Make it faster, in several threads, or in larger batches.",
            Self::Handover => {
                "Do only what needs the order in turn; compute before, or keep results and put them in order later."
            }
            Self::Scheduling => {
                "Make fewer and larger pieces: a larger cut-off, grain, chunk or batch."
            }
            Self::Sharing => {
                "Give each thread lines of its own: pad what threads write, or add up locally."
            }
            Self::Cache => {
                "Use what is loaded at once: another order of loops, blocks that fit, smaller or denser data."
            }
            Self::Allocation => "Allocate once outside of the loop and use it again.",
            Self::Io => "Do something else meanwhile, or in other threads.",
            Self::Message => "Send earlier, or do something else meanwhile.",
            Self::Startup => "Each run pays this once: a longer run shows the rest better.",
            Self::Threads => "Start as many threads as there are processors.",
            Self::Locking => {
                "Do more with each operation, or add up in each thread and join the sums once."
            }
            Self::Copying => {
                "Pass a reference, move it, or copy only what is needed; share what nobody changes."
            }
            Self::System => "Make fewer calls, each for more, or keep what they return.",
            Self::Starting => "Start threads once, and give each of them more to do.",
            Self::Spinning => {
                "Start no more threads than there are processors, or wait asleep: with a condition, a barrier of the library, an atomic wait."
            }
            Self::Bound => {
                "Let threads run on all processors: bind each to one of its own, or none."
            }
        }
    }

    /// Whether nobody can mend it in the program. Such losses come last, and nothing is promised
    /// for their end.
    #[must_use]
    pub fn is_given(self) -> bool {
        matches!(self, Self::Startup | Self::Starting)
    }
}
