//! Where a trace comes from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A trace to convert: a file, FIFO or other path, standard input, or any reader.
pub enum Input {
    /// A path; `-` is standard input.
    Path(PathBuf),
    /// Any source, with a name for messages.
    Reader(Box<dyn Read + Send>, String),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.name()).finish()
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        Input::Path(path.to_owned())
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Input::Path(path)
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Input::Reader(Box::new(io::Cursor::new(bytes)), "trace in memory".into())
    }
}

impl Input {
    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Input::Path(p) if p.as_os_str() == "-" => "standard input".into(),
            Input::Path(p) => p.display().to_string(),
            Input::Reader(_, name) => name.clone(),
        }
    }

    /// Opens it. The size is known for regular files only.
    pub(crate) fn open(self) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
        let file = self.name();
        let path = match self {
            Input::Reader(r, _) => return Ok((r, None)),
            Input::Path(p) if p.as_os_str() == "-" => return Ok((Box::new(io::stdin()), None)),
            Input::Path(p) => p,
        };
        let failed = |action, remedy| {
            move |source| Error::Input {
                action,
                file,
                source,
                remedy,
            }
        };
        let remedy =
            "run the instrumented program first (it writes trace.bin, or what CONTECH_TRACE names)";
        let opened = File::open(&path).map_err(failed("open", remedy))?;
        let size = opened
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|m| m.len());
        Ok((Box::new(opened), size))
    }
}
