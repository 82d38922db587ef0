//! The options of a conversion.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

#[derive(Clone)]
pub struct Options {
    /// Working memory in bytes; what does not fit goes to a temporary file beside the graph. The
    /// static tables and a few hundred bytes for each context are not counted.
    pub memory: usize,
    /// Number of threads that encode.
    pub threads: usize,
    /// Every synchronisation is a task of its own, even if it orders nothing with another context.
    /// This is what the tests compare the usual graph with.
    pub fine: bool,
    /// The graph has one of so many parts of the code, drawn at random, and what comes right after
    /// events and positions, instead of all; 1 for all. Tasks, edges and times are as in the whole
    /// graph.
    pub sample: u32,
    /// Set to true to stop; the conversion then returns [`crate::Error::Cancelled`] and leaves
    /// nothing behind.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Called now and then with the progress.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// How far a conversion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The trace is being read.
    Reading {
        /// Bytes read.
        done: u64,
        /// Size of the trace; `None` unless it is a regular file.
        of: Option<u64>,
    },
    /// The two recordings of `--contech-check` are being compared.
    Comparing,
    /// The trace was read, and events are being ordered.
    Ordering,
    /// Tasks and edges are being written.
    Writing,
}

impl Default for Options {
    /// The default is 512 MiB and one thread per core.
    fn default() -> Self {
        Options {
            memory: 512 << 20,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            fine: false,
            sample: 1,
            cancel: None,
            progress: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("memory", &self.memory)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Options {
    pub(crate) fn report(&self, progress: Progress) {
        if let Some(report) = &self.progress {
            report(progress);
        }
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match &self.cancel {
            Some(c) if c.load(Ordering::Relaxed) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}
