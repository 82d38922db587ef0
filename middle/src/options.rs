//! How to convert.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Options of [`crate::convert`].
#[derive(Clone)]
pub struct Options {
    /// Working memory in bytes; what does not fit goes to a temporary file beside the graph. The static tables
    /// and a few hundred bytes per context come on top.
    pub memory: usize,
    /// Threads that encode.
    pub threads: usize,
    /// Set to true to stop; the conversion then returns [`crate::Error::Cancelled`] and leaves nothing behind.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told about progress, now and then.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// How far a conversion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// So many bytes of the trace were read, of so many if that is known.
    Reading {
        /// Bytes read.
        done: u64,
        /// Size of the trace, for regular files.
        of: Option<u64>,
    },
    /// The two recordings of `--contech-check` are being compared.
    Comparing,
    /// The trace was read; events are being ordered.
    Ordering,
    /// Tasks and edges are being written.
    Writing,
}

impl Default for Options {
    /// 512 MiB and one thread per core.
    fn default() -> Self {
        Options {
            memory: 512 << 20,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
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
