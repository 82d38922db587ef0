//! What is known about the run, and its totals.

use contech_program::Counts;
use serde::{Deserialize, Serialize};

use crate::note::Note;

/// Facts about the recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMeta {
    /// Command line of the program.
    pub command: Vec<String>,
    /// Process id.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// Start of the run, nanoseconds since 1970-01-01 UTC.
    pub start_unix_ns: u64,
    /// Ticks per second of the clock that was read while recording.
    pub clock_hz: u64,
    /// Version of Contech-rs that recorded the run.
    pub contech_version: String,
    /// Whether the trace was closed cleanly and nothing was lost.
    pub complete: bool,
    /// Remarks for the reader of a report: "3 threads appeared unannounced".
    pub notes: Vec<Note>,
    /// Bytes of the trace that were lost or unreadable.
    pub lost_bytes: u64,
    /// Size of the trace file(s) in bytes.
    pub trace_bytes: u64,
    /// Recording mode: "full", "sync".
    pub mode: String,
    /// The regions of interest that the program marked, sorted by start: start and end in
    /// nanoseconds since the start of the run.
    pub regions: Vec<(u64, u64)>,
    /// Which accesses are missing, if order and times are of a longer part of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrecorded: Option<Unrecorded>,
    /// The processors that the program could use: those of the machine that its affinity and its
    /// control group allow. 0 if this was not recorded.
    pub processors: u32,
    /// The MPI ranks that are in the graph, ascending; empty if the graph has one address space.
    pub ranks: Vec<RankMeta>,
    /// The executables and libraries with recorded code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectMeta>,
    /// The libraries that made threads which nobody announced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thread_libraries: Vec<String>,
}

/// An executable or a library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectMeta {
    /// Path of its file.
    pub path: String,
    /// What is added to an address in the file to get the address in the graph.
    pub load_address: u64,
}

/// The part of a run whose accesses were not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrecorded {
    /// Why.
    pub of: AccessesOf,
    /// The time from which on accesses are missing, in nanoseconds since the start of the run, if
    /// they go on missing.
    pub since_ns: Option<u64>,
}

/// Why accesses of a part of the run are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessesOf {
    /// The trace reached its limit.
    Limit,
    /// They are outside of the region of interest.
    Region,
    /// They are outside of the windows of a sample.
    Sample,
}

/// A rank of an MPI program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankMeta {
    /// The rank's number in MPI_COMM_WORLD.
    pub rank: u32,
    /// Number of ranks of the run, whether they are in the graph or not.
    pub size: u32,
    /// Process id.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// The name that the MPI library gives itself.
    pub library: String,
}

/// Tasks by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskCounts {
    /// Work tasks.
    pub work: u64,
    /// Create tasks.
    pub create: u64,
    /// Join tasks.
    pub join: u64,
    /// Sync tasks.
    pub sync: u64,
    /// Barrier tasks.
    pub barrier: u64,
}

impl TaskCounts {
    /// All tasks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.work + self.create + self.join + self.sync + self.barrier
    }

    /// Counts one task of a kind.
    pub fn add(&mut self, kind: crate::TaskKind) {
        use crate::TaskKind::{Barrier, Create, Join, Sync, Work};
        *match kind {
            Work => &mut self.work,
            Create => &mut self.create,
            Join => &mut self.join,
            Sync => &mut self.sync,
            Barrier => &mut self.barrier,
        } += 1;
    }
}

/// Totals of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Contexts.
    pub contexts: u64,
    /// Tasks by kind.
    pub tasks: TaskCounts,
    /// Stored edges: those between tasks that do not follow one another in one context.
    pub edges: u64,
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Memory accesses: reads + writes.
    pub accesses: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes_accessed: u64,
    /// Latest end of a task, nanoseconds since the start of the run.
    pub duration_ns: u64,
    /// Functions in the static tables.
    pub functions: u64,
}

impl Summary {
    /// Adds what a task executes and accesses, and when it ends.
    pub(crate) fn add(&mut self, counts: &Counts, end_ns: u64) {
        self.blocks = self.blocks.wrapping_add(counts.blocks);
        self.reads = self.reads.wrapping_add(counts.reads);
        self.writes = self.writes.wrapping_add(counts.writes);
        self.bytes_accessed = self.bytes_accessed.wrapping_add(counts.bytes);
        self.duration_ns = self.duration_ns.max(end_ns);
    }
}
