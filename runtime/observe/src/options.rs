//! What was asked for.

use std::path::PathBuf;
use std::sync::OnceLock;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// The file.
    pub(crate) file: PathBuf,
    /// Processors the process may use.
    pub(crate) cpus: u32,
}

static OPTIONS: OnceLock<Options> = OnceLock::new();
/// What was asked for; none where nothing is observed.
pub(crate) fn options() -> Option<&'static Options> {
    OPTIONS.get()
}

/// Says so, once.
pub(crate) fn set(options: Options) -> bool {
    OPTIONS.set(options).is_ok()
}
