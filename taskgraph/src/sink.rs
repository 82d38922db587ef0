//! Where a graph is written: to a temporary file that gets its name at the end, or to memory.

use std::fs::{File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

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
    /// It is removed when this is dropped.
    temporary: TempPath,
    out: BufWriter<File>,
}

impl Sink {
    /// Creates a file beside `path`. It is a new one, and nobody can guess its name: the folder may
    /// be everybody's (`/tmp`), and a link that somebody has put where the file was expected would
    /// be followed.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        // Renaming over a device or a directory would replace it or fail late, so this fails before
        // the work.
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            let detail =
                "it exists and is not a regular file; give another name for the graph".to_owned();
            return Err(Error::from(ErrorKind::Misuse { detail }).in_file(path));
        }
        let mut builder = tempfile::Builder::new();
        let mut prefix = path.file_name().unwrap_or_default().to_owned();
        prefix.push(".tmp-");
        builder.prefix(&prefix);
        builder.permissions(Permissions::from_mode(0o666)); // as `open` would, umask applies
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let made = builder.tempfile_in(folder);
        let (file, temporary) = made.map_err(|source| io("create", source, path))?.into_parts();
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(Self::File(TempFile { path: path.to_owned(), temporary, out }))
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Memory(out) => out.extend_from_slice(bytes),
            Self::File(TempFile { temporary, out, .. }) => {
                out.write_all(bytes).map_err(|source| io("write", source, temporary))?
            }
        }
        Ok(())
    }

    /// Gives the file its name; returns the bytes if they are in memory.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        let TempFile { path, temporary, mut out } = match self {
            Self::Memory(bytes) => return Ok(bytes),
            Self::File(file) => file,
        };
        out.flush().map_err(|source| io("write", source, &temporary))?;
        let renamed = temporary.persist(&path);
        renamed.map_err(|e| io("rename the finished graph to", e.error, &path))?;
        Ok(Vec::new())
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
        // Writes to /dev/full fail as on a full disk. The names are made up, so there is nothing to
        // remove.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let path = std::env::temp_dir().join("contech-sink-never-there");
        let temporary = path.with_extension("tmp");
        let mut sink = Sink::File(TempFile {
            path,
            temporary: TempPath::try_from_path(&temporary).unwrap(),
            out: BufWriter::with_capacity(16, full),
        });
        sink.write(&[0; 8]).unwrap();
        let error = sink.write(&[0; 64]).unwrap_err().to_string();
        assert!(error.starts_with(&temporary.display().to_string()), "{error}");
        assert!(error.contains("cannot write"), "{error}");
        let late = sink.finish().unwrap_err().to_string();
        assert!(late.contains("cannot write"), "{late}");
    }
}
