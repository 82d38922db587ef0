//! Where results go: to standard output, or to a file that appears whole or not at all.

mod broken_pipe;
mod destination;
pub mod progress;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use contech_plain::Plain;

pub use broken_pipe::is_broken_pipe;
pub use destination::{Destination, json};

/// Calls `write` with a buffered writer of text to `path`, or to standard output when there is none
/// (or it is `-`). The text may have names of the program in it: see [`Plain`].
///
/// # Errors
/// As for [`bytes_to`].
pub fn to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    bytes_to(path, |out| write(&mut Plain::new(out)))
}

/// Calls `write` with a buffered writer, as [`to`] does, of bytes that are no text.
///
/// A regular file is written under a temporary name beside it and renamed at the end, so a failure
/// leaves the old one.
///
/// # Errors
/// When the file cannot be written, naming it; and whatever `write` returns.
pub fn bytes_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        None => to_stream(io::stdout().lock(), write),
        // Renaming over a device or a pipe would replace it.
        Some(path) if fs::metadata(path).is_ok_and(|found| !found.is_file()) => {
            let file = fs::OpenOptions::new()
                .write(true)
                .open(path)
                .with_context(|| format!("cannot write {}", path.display()))?;
            to_stream(file, write).map_err(|error| of(path, error))
        }
        Some(path) => {
            ensure!(
                !is_recorded(path),
                "{} is a graph or a trace: give another name for what is written",
                path.display()
            );
            to_file(path, write).map_err(|error| of(path, error))
        }
    }
}

/// Whether a file is a graph or a trace, which no result replaces.
fn is_recorded(path: &Path) -> bool {
    let mut first = [0; 7];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"CONTECH"
}

/// Says that writing `path` failed, unless the error is about reading the graph.
fn of(path: &Path, error: anyhow::Error) -> anyhow::Error {
    if error.is::<taskgraph::Error>() {
        return error;
    }
    error.context(format!("cannot write {}", path.display()))
}

fn to_stream(stream: impl Write, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(stream);
    write(&mut out)?;
    Ok(out.flush()?)
}

fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mode = PermissionsExt::from_mode(0o666); // as `open` would, umask applies
    let file = temporary().permissions(mode).tempfile_in(parent(path))?;
    to_stream(&file, write)?;
    file.persist(path)?;
    Ok(())
}

/// Calls `write` with a folder that gets the name `folder`, which must be new or empty, once all is
/// in it.
///
/// # Errors
/// When there are files in it or it cannot be made, naming it; and whatever `write` returns.
pub fn folder(folder: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let used = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    ensure!(
        !used && (folder.is_dir() || !folder.exists()),
        "{} exists and is not an empty folder; remove it or name another",
        folder.display()
    );
    let whole = || -> Result<()> {
        let mode = PermissionsExt::from_mode(0o777); // as `mkdir` would, umask applies
        let temporary = temporary().permissions(mode).tempdir_in(parent(folder))?;
        write(temporary.path())?;
        fs::rename(temporary.path(), folder)?;
        // The folder has another name now: there is nothing left to remove.
        let _ = temporary.keep();
        Ok(())
    };
    whole().map_err(|error| of(folder, error))
}

/// Names of what is not whole.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".contech-").suffix(".tmp");
    builder
}

/// The files of a folder whose names are `wanted`, in the order of their names.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        found.extend(name.is_some_and(&wanted).then_some(path));
    }
    found.sort();
    Ok(found)
}

/// The folder that a path is in.
fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("result");
        to(Some(&path), |out| Ok(out.write_all(b"old")?)).expect("first");
        to(Some(&path), |out| {
            out.write_all(b"half")?;
            anyhow::bail!("stopped")
        })
        .expect_err("second");
        assert_eq!(fs::read(&path).expect("still there"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 1);
    }

    #[test]
    fn a_device_is_written_and_not_replaced() {
        to(Some(Path::new("/dev/null")), |out| Ok(out.write_all(b"x")?)).expect("device");
        assert!(!fs::metadata("/dev/null").expect("device").is_file());
    }
}
