//! The one error type of the crate. An error says which file is meant, what was wrong, and what to
//! do.

use std::io;
use std::path::PathBuf;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a trace could not be converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace could not be opened or read.
    #[error("cannot {action} the trace {file}: {source}; {remedy}")]
    Input {
        /// What was tried.
        action: &'static str,
        /// Name of the trace.
        file: String,
        /// Why it failed.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The bytes are not a trace that this version reads.
    #[error("{file}: {source}")]
    Trace {
        /// Name of the trace.
        file: String,
        /// What is wrong.
        source: contech_trace::Error,
    },
    /// The graph could not be written.
    #[error("cannot write the task graph: {0}; give a path in a writable folder with enough room")]
    Graph(#[from] taskgraph::Error),
    /// Input and output are the same file.
    #[error("{0} is both trace and graph; give another name for the graph")]
    SameFile(PathBuf),
    /// The traces are not the ranks of one run.
    #[error("{what}")]
    Apart {
        /// Which traces, why, and what to do.
        what: String,
    },
    /// The temporary file could not be used.
    #[error(
        "temporary file in {}: {source}; the folder of the graph needs room for sorting, give a path elsewhere or a larger --memory",
        folder.display()
    )]
    Spill {
        /// The folder of the temporary file.
        folder: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The recorded order contradicts itself although the trace is complete.
    #[error(
        "{file}: the recorded order is a cycle: context {context} waits in its task {task} (event {event}, chunk at byte {offset}) for task {needed}, which comes after it; this is a fault of the recording, please report it with the trace"
    )]
    Cycle {
        /// Name of the trace.
        file: String,
        /// Context of the waiting task that starts first.
        context: u32,
        /// The waiting task.
        task: String,
        /// Number of the event in the context. Tasks and barrier arrivals are counted from 0.
        event: u32,
        /// Place in the file of the chunk that holds the event.
        offset: u64,
        /// A task that the waiting task needs.
        needed: String,
    },
    /// A graph does not hold what the trace recorded.
    #[error(
        "{file}: context {context} recorded {recorded} actions, the graph has {stored}; the first difference is between actions {} and {}. If the graph was made from this trace by this version, please report it with the trace", place.0, place.1
    )]
    Differs {
        /// Name of the trace.
        file: String,
        context: u32,
        /// Numbers of the actions of the context between which the first difference is.
        place: (u64, u64),
        /// Number of actions in the trace.
        recorded: u64,
        /// Number of actions in the graph.
        stored: u64,
    },
    /// A context has more tasks than a task id can count.
    #[error("{file}: context {context} has more than 4294967295 tasks; record a shorter run")]
    TooManyTasks {
        /// Name of the trace.
        file: String,
        context: u32,
    },
    /// The conversion was stopped by [`crate::Options::cancel`].
    #[error("interrupted; no graph was written")]
    Cancelled,
    /// An invariant of this program does not hold.
    #[error("internal error: {0}; please report it with the trace")]
    Internal(String),
}

impl Error {
    /// Makes the error for a trace that cannot be read.
    pub(crate) fn unreadable(file: &str, remedy: &'static str) -> impl Fn(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Error::Input { action: "read", file: file.clone(), source, remedy }
    }

    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Error::Internal(what.into())
    }
}
