//! The file of the on-line profiler (`runtime/online/FORMAT.md`), which it writes and the backends
//! read.

use serde::{Deserialize, Serialize};

use crate::{Kind, Measure};

/// What the file says it is.
pub const FORMAT: &str = "contech-workspan";
/// Version of the format.
pub const VERSION: u32 = 2;

/// What a reader advises who has no profile.
const MAKE: &str = "build with contech-cc --contech-mode=workspan and run the program to write one";

/// Why bytes are no profile.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it is no on-line work/span profile (JSON with \"format\":\"{FORMAT}\"); {MAKE}")]
    Foreign(#[source] serde_json::Error),
    #[error("it says it is \"{0}\"; expected \"{FORMAT}\"; {MAKE}")]
    Format(String),
    #[error(
        "it has version {0}; this program reads version {VERSION}: use the contech that wrote it, or write it again"
    )]
    Version(u32),
    #[error("it is damaged; run the program again to write it")]
    Damaged(#[source] serde_json::Error),
}

/// Which file it is: read before the rest.
#[derive(Debug, Deserialize)]
struct Head {
    format: String,
    version: u32,
}

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
    /// Number of allocated list elements of the profiles.
    pub elements: usize,
    pub sites: Vec<CallSite>,
    pub notes: Vec<String>,
}

impl Document {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// When they are no profile of this version; the error says what was expected and what to do.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: Head = serde_json::from_slice(bytes).map_err(ReadError::Foreign)?;
        if head.format != FORMAT {
            return Err(ReadError::Format(head.format));
        }
        if head.version != VERSION {
            return Err(ReadError::Version(head.version));
        }
        serde_json::from_slice(bytes).map_err(ReadError::Damaged)
    }
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
    pub kind: Kind,
    /// Number of invocations that have returned.
    pub count: u64,
    pub on_work: Measure,
    pub on_span: Measure,
}
