//! Where a graph is written: to a temporary file that gets its name at the end, or to memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// The output of a writer.
#[derive(Debug)]
pub(crate) enum Sink {
    /// A file, which is removed if it is dropped before [`Sink::finish`].
    File(TempFile),
    /// The whole file in memory.
    Memory(Vec<u8>),
}

/// A file under a temporary name.
#[derive(Debug)]
pub(crate) struct TempFile {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once finished.
    out: Option<BufWriter<File>>,
}

impl Sink {
    /// Creates `<path>.tmp-<pid>`.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        // Renaming over a device or a directory would replace it or fail late, so this fails before the work.
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            let detail =
                "it exists and is not a regular file; give another name for the graph".to_owned();
            return Err(Error::from(ErrorKind::Misuse { detail }).in_file(path));
        }
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".tmp-{}", std::process::id()));
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary);
        let file = file.map_err(|source| io("create", source, &temporary))?;
        let out = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(Self::File(TempFile {
            path: path.to_owned(),
            temporary,
            out,
        }))
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(out) => out.extend_from_slice(bytes),
            Self::File(file) => {
                if let Some(out) = &mut file.out {
                    out.write_all(bytes)
                        .map_err(|source| io("write", source, &file.temporary))?;
                }
            }
        }
        Ok(())
    }

    /// Gives the file its name; returns the bytes if they are in memory.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        match &mut self {
            Self::Memory(bytes) => Ok(std::mem::take(bytes)),
            Self::File(file) => {
                if let Some(out) = &mut file.out {
                    out.flush()
                        .map_err(|source| io("write", source, &file.temporary))?;
                }
                let renamed = fs::rename(&file.temporary, &file.path);
                renamed.map_err(|source| io("rename the finished graph to", source, &file.path))?;
                file.out = None;
                Ok(Vec::new())
            }
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            // The buffered bytes are dropped, because the file is removed.
            drop(out.into_parts());
            // If even this fails, there is nobody left to tell; the name of the file says what it is.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn io(action: &'static str, source: std::io::Error, path: &Path) -> Error {
    Error::from(ErrorKind::Io { action, source }).in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_that_names_the_temporary_file() {
        // Writes to /dev/full fail as on a full disk. The names are made up, so there is nothing to remove.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let path = std::env::temp_dir().join("contech-sink-never-there");
        let temporary = path.with_extension("tmp");
        let out = Some(BufWriter::with_capacity(16, full));
        let mut sink = Sink::File(TempFile {
            path,
            temporary: temporary.clone(),
            out,
        });
        sink.write(&[0; 8]).unwrap();
        let error = sink.write(&[0; 64]).unwrap_err().to_string();
        assert!(
            error.starts_with(&temporary.display().to_string()),
            "{error}"
        );
        assert!(error.contains("cannot write"), "{error}");
        let late = sink.finish().unwrap_err().to_string();
        assert!(late.contains("cannot write"), "{late}");
    }
}
