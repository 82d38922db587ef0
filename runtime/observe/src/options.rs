//! What the user asked the observer for.

use std::path::PathBuf;
use std::sync::OnceLock;

#[derive(Debug)]
pub(crate) struct Options {
    /// The file to write the observation to.
    pub(crate) file: PathBuf,
    /// Number of processors that the process may use.
    pub(crate) cpus: u32,
}

/// The options, if anything is observed.
pub(crate) static OPTIONS: OnceLock<Options> = OnceLock::new();
