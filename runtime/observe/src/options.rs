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

static OPTIONS: OnceLock<Options> = OnceLock::new();
/// The options; `None` if nothing is observed.
pub(crate) fn options() -> Option<&'static Options> {
    OPTIONS.get()
}

/// Sets the options; whether this was the first call.
pub(crate) fn set(options: Options) -> bool {
    OPTIONS.set(options).is_ok()
}
