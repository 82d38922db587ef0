//! The one error type of the crate. It says which file is wrong, what is wrong with which part of
//! it, and what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use contech_program::wire::Malformed;

use crate::id::TaskId;

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading, writing or using a task graph, with the file it concerns where that is
/// known.
///
/// Its `Debug` form is the message too, so that `fn main() -> taskgraph::Result<()>` of a small
/// tool is readable.
pub struct Error(Box<Inner>);

struct Inner {
    file: Option<PathBuf>,
    kind: ErrorKind,
}

impl Error {
    /// What happened.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The graph file, when the graph came from a file (or was named with
    /// [`TaskGraph::named`](crate::TaskGraph::named)).
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The same error, naming `file` unless it names one already.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        self.0.file.get_or_insert_with(|| file.to_owned());
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { file: None, kind }))
    }
}

impl From<Malformed> for Error {
    fn from(m: Malformed) -> Self {
        malformed(m.what, m.detail)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.file {
            Some(file) => write!(f, "{}: {}", file.display(), self.0.kind),
            None => self.0.kind.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error has no `source`: its message already has the system's words in it, and whoever prints
/// the chain would print them twice. The system's error is in [`Error::kind`].
impl std::error::Error for Error {}

/// The kinds of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused an operation on the file.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried: "open", "write", ...
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The file has no bytes.
    #[error(
        "the file is empty, a task graph was expected; write it with `contech-middle TRACE GRAPH`"
    )]
    Empty,
    /// The file starts with another magic.
    #[error(
        "not a task graph: it starts with \"{found}\", a task graph starts with \"CONTECHG\"; contech-middle makes one of a trace, and a profile (workspan.json) is for `contech-backend profile`"
    )]
    NotAGraph {
        /// The first bytes, escaped.
        found: String,
    },
    /// The file is a recorded trace.
    #[error(
        "this is a trace, not a task graph; run `contech-middle` on it first and give its output"
    )]
    IsATrace,
    /// A later release wrote the file.
    #[error(
        "format version {found}, but this program reads version {supported}; use the release that wrote the file, or run contech-middle of this release again"
    )]
    NewerVersion {
        /// Version in the file.
        found: u32,
        /// The version this library reads.
        supported: u32,
    },
    /// An earlier release wrote the file.
    #[error(
        "format version {found}, but this program reads version {supported}; convert the trace again with contech-middle, or use the release that wrote the graph"
    )]
    OlderVersion {
        /// Version in the file.
        found: u32,
        /// The version this library reads.
        supported: u32,
    },
    /// The file ends before it should.
    #[error(
        "cut off: {what} needs {expected} bytes, {got} are left; contech-middle did not finish or the copy is incomplete, run contech-middle again"
    )]
    Truncated {
        /// The part that is short.
        what: &'static str,
        /// Bytes needed.
        expected: u64,
        /// Bytes left.
        got: u64,
    },
    /// A part does not have the bytes that were written.
    #[error(
        "damaged: {what} at byte {offset} has checksum {got:#018x}, {expected:#018x} was written; copy the file again or run contech-middle again"
    )]
    Checksum {
        /// The damaged part.
        what: &'static str,
        /// Where it starts.
        offset: u64,
        /// Checksum in the file.
        expected: u64,
        /// Checksum of the bytes found.
        got: u64,
    },
    /// The bytes are whole but malformed.
    #[error(
        "malformed {what}: {detail}; run contech-middle again, and report it if it happens again"
    )]
    Malformed {
        /// The malformed part.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// A context has no such task.
    #[error("the graph has no task {id}")]
    NoSuchTask {
        /// The requested task.
        id: TaskId,
    },
    /// A text is not a task id.
    #[error("{text:?} is not a task id; write CONTEXT:SEQUENCE, for example 0:12")]
    TaskIdText {
        /// The text.
        text: String,
    },
    /// The graph is well-formed as a file but breaks a rule of task graphs
    /// ([`TaskGraph::verify`](crate::TaskGraph::verify)).
    #[error("inconsistent graph, {place}: {fault}")]
    Inconsistent {
        /// The task, frame or table.
        place: String,
        /// The rule it breaks.
        fault: String,
    },
    /// A writer was called out of order or with impossible values.
    #[error("graph writer: {detail}")]
    Misuse {
        /// The value and the rule.
        detail: String,
    },
}

/// An [`ErrorKind::Malformed`].
pub(crate) fn malformed(what: &'static str, detail: impl Into<String>) -> Error {
    ErrorKind::Malformed { what, detail: detail.into() }.into()
}

/// An [`ErrorKind::Misuse`].
pub(crate) fn misuse(detail: impl Into<String>) -> Error {
    ErrorKind::Misuse { detail: detail.into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_first_file_it_was_seen_in() {
        let error = Error::from(ErrorKind::Empty).in_file(Path::new("a.tg"));
        let error = error.in_file(Path::new("b.tg"));
        assert_eq!(error.file(), Some(Path::new("a.tg")));
        assert!(error.to_string().starts_with("a.tg: the file is empty"), "{error}");
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
