//! The file of the on-line profiler (`runtime/online/FORMAT.md`), which it writes and the backends read.

use serde::{Deserialize, Serialize};

use crate::Measure;

/// What the file says it is.
pub const FORMAT: &str = "contech-workspan";
/// Version of the format.
pub const VERSION: u32 = 1;

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`] and [`VERSION`]; a reader checks them before the rest.
    pub format: String,
    pub version: u32,
    pub metric: Metric,
    pub work: u64,
    pub span: u64,
    pub parallelism: f64,
    /// Whether there is nothing to note: the profile is that of a whole fork-join program.
    pub complete: bool,
    /// The largest number of invocations on the stack.
    pub depth: usize,
    /// Number of allocated list elements of the prof structures.
    pub elements: usize,
    pub sites: Vec<CallSite>,
    pub notes: Vec<String>,
}

/// The unit of all work and span in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Nanoseconds.
    Time,
    /// IR operations.
    Ops,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Function that contains it; empty if unknown.
    pub caller: String,
    pub callee: String,
    /// Source file; empty if unknown.
    pub file: String,
    /// Source line; 0 if unknown.
    pub line: u32,
    pub kind: CallKind,
    /// Number of invocations that have returned.
    pub count: u64,
    pub on_work: Measure,
    pub on_span: Measure,
}

/// The kind of a call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallKind {
    Call,
    Spawn,
    /// A parallel loop, whose invocations are its iterations.
    Loop,
}

impl CallKind {
    /// The word for it in the file and in texts.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Spawn => "spawn",
            Self::Loop => "loop",
        }
    }
}
