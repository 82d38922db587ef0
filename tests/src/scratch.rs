//! Directories for what tests make, and what is in directories.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::Result;

use crate::outputs::target_dir;

/// Files of a directory with an extension, sorted by name.
pub fn files(dir: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = entries(dir)?;
    found.retain(|path| path.extension().is_some_and(|e| e == extension));
    Ok(found)
}

/// Everything in a directory, sorted by name.
pub fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    found.sort();
    Ok(found)
}

/// A fresh empty directory under the target directory. [`Scratch::done`] removes it; a failing test
/// leaves it behind for the person who looks into it.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Makes an empty directory of this name, which must be unique among tests.
    pub fn new(name: &str) -> io::Result<Self> {
        let dir = target_dir().join("tmp").join("contech").join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(&dir)?;
        Ok(Self { dir: dir.canonicalize()? })
    }

    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    /// Creates a directory inside it and returns its path.
    pub fn subdir(&self, name: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = self.dir.join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// Writes a file inside it and returns its path.
    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        let path = self.dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Removes the directory after the test has succeeded, which is what a test ends with. What
    /// cannot be removed stays: a process of the test may still write there.
    pub fn done(self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.dir);
        Ok(())
    }
}
