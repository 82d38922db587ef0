//! Opens a graph file by mapping it into memory. This is the only module of the crate with unsafe
//! code.
#![allow(
    unsafe_code,
    reason = "memmap2: mapping a file is unsafe because the file can be changed by others"
)]

use std::fs::File;
use std::path::Path;

pub use memmap2::Mmap;

use crate::error::{Error, ErrorKind, Result};
use crate::graph::TaskGraph;

/// Maps a graph file and opens it.
///
/// The file must not be truncated while it is mapped: touching a page that is gone ends the process
/// (SIGBUS). contech-middle never changes a graph in place: it writes a new file and renames it,
/// which leaves mappings intact.
///
/// # Errors
/// The file cannot be opened or mapped, or is not a graph; the error names it.
pub fn map(path: impl AsRef<Path>) -> Result<TaskGraph<Mmap>> {
    let path = path.as_ref();
    let io = |action| move |source| Error::from(ErrorKind::Io { action, source }).in_file(path);
    let file = File::open(path).map_err(io("open"))?;
    let length = file.metadata().map_err(io("examine"))?.len();
    if length == 0 {
        return Err(Error::from(ErrorKind::Empty).in_file(path));
    }
    // SAFETY: the mapping is read-only and private to this value. Every reader in this crate treats
    // its bytes as untrusted (bounds and checksums are checked, values are copied out), so a
    // concurrent writer can cause errors but no invalid Rust value. Graph files are replaced by
    // rename and never written in place.
    let bytes = unsafe { Mmap::map(&file) }.map_err(io("map"))?;
    TaskGraph::from_bytes(bytes).map(|g| g.named(path)).map_err(|e| e.in_file(path))
}
