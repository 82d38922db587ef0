//! Where a trace comes from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use contech_trace::file::FileHeader;
use contech_trace::reader::ChunkReader;

use crate::error::{Error, Result};

/// A trace to convert: a file, FIFO or other path, standard input, or any reader.
pub enum Input {
    /// A path; `-` is standard input.
    Path(PathBuf),
    /// Any source, with a name that messages use.
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
    /// The name of the input in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Input::Path(p) if p.as_os_str() == "-" => "standard input".into(),
            Input::Path(p) => p.display().to_string(),
            Input::Reader(_, name) => name.clone(),
        }
    }

    pub(crate) fn open(self) -> Result<Source> {
        let file = self.name();
        let path = match self {
            Input::Reader(r, _) => return Ok(Source::stream(r)),
            Input::Path(p) if p.as_os_str() == "-" => {
                return Ok(Source::stream(Box::new(io::stdin())));
            }
            Input::Path(p) => p,
        };
        let failed = |action, remedy| move |source| Error::Input { action, file, source, remedy };
        let remedy =
            "run the instrumented program first (it writes trace.bin, or what CONTECH_TRACE names)";
        let opened = File::open(&path).map_err(failed("open", remedy))?;
        let metadata = opened.metadata().ok().filter(std::fs::Metadata::is_file);
        let modified = metadata.as_ref().and_then(|m| m.modified().ok());
        Ok(Source {
            reader: Box::new(opened),
            size: metadata.map(|m| m.len()),
            modified_unix_ns: modified
                .and_then(|t| t.duration_since(UNIX_EPOCH).ok())
                .and_then(|d| u64::try_from(d.as_nanos()).ok()),
        })
    }
}

/// The chunks of a trace.
pub(crate) type Chunks = ChunkReader<Box<dyn Read + Send>>;

/// What to do if a trace cannot be read any further.
pub(crate) const UNREADABLE: &str = "check the disk or the program that writes the pipe";

pub(crate) struct Source {
    pub(crate) reader: Box<dyn Read + Send>,
    /// The size of a regular file; `None` for other sources.
    pub(crate) size: Option<u64>,
    /// When a regular file was last written.
    pub(crate) modified_unix_ns: Option<u64>,
}

impl Source {
    fn stream(reader: Box<dyn Read + Send>) -> Self {
        Source { reader, size: None, modified_unix_ns: None }
    }

    /// Reads the header of the trace `file`. `remedy` is what to do if it cannot be read.
    pub(crate) fn chunks(self, file: &str, remedy: &'static str) -> Result<(FileHeader, Chunks)> {
        let opened = ChunkReader::new(self.reader).map_err(Error::unreadable(file, remedy))?;
        opened.map_err(|source| Error::Trace { file: file.to_owned(), source })
    }
}
