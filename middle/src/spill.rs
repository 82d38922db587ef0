//! The one temporary file of a conversion. It holds what does not fit into the memory budget.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// An append-only temporary file beside the output. It is made when it is first needed, and has no
/// name, so nothing is left of it however the program ends.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
    file: OnceLock<File>,
    end: AtomicU64,
}

impl Spill {
    /// The file will be made in the folder of `output`.
    pub(crate) fn beside(output: &Path) -> Self {
        let folder = match output.parent() {
            Some(p) if !p.as_os_str().is_empty() => p.to_owned(),
            _ => PathBuf::from("."),
        };
        Spill { folder, file: OnceLock::new(), end: AtomicU64::new(0) }
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Spill { folder: self.folder.clone(), source }
    }

    fn file(&self) -> Result<&File> {
        if let Some(f) = self.file.get() {
            return Ok(f);
        }
        let made = tempfile::tempfile_in(&self.folder).map_err(|e| self.error(e))?;
        Ok(self.file.get_or_init(|| made))
    }

    /// Appends bytes. Returns where they are.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<u64> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file()?.write_all_at(bytes, at).map_err(|e| self.error(e))?;
        Ok(at)
    }

    /// Reads bytes that were appended before.
    pub(crate) fn read(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.file()?.read_exact_at(bytes, at).map_err(|e| self.error(e))
    }

    /// Number of bytes in the file.
    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }
}
