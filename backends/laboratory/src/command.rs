//! A command with placeholders, and its words for a number of threads.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use anyhow::{Result, bail};

const THREADS: &[u8] = b"{threads}";
const WORK_FOR: &[u8] = b"{p}";

/// The words of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(pub(super) Vec<OsString>);

impl Template {
    /// A command from one string, which is split as a shell does.
    ///
    /// # Errors
    /// When quotes do not close, or it is empty.
    pub(super) fn parse(option: &str, text: &str) -> Result<Self> {
        match shlex::split(text) {
            Some(words) if !words.is_empty() => {
                Ok(Self(words.into_iter().map(OsString::from).collect()))
            }
            Some(_) => bail!("{option} is empty; expected a command, as in {option} './seq input'"),
            None => bail!("{option} {text}: a quote does not close"),
        }
    }

    /// Whether the command's work depends on the number of processors, and not only the number of
    /// threads that do it.
    pub(super) fn work_depends(&self) -> bool {
        self.0.iter().any(|word| find(word, WORK_FOR).is_some())
    }

    /// The command with `threads` threads that does the work for `p` processors.
    pub(super) fn at(&self, threads: u32, p: u32) -> Vec<OsString> {
        let words = self.0.iter();
        words.map(|word| replace(&replace(word, THREADS, threads), WORK_FOR, p)).collect()
    }

    /// The words of the command as text.
    pub(super) fn words(&self) -> Vec<String> {
        let words = self.0.iter();
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

fn find(word: &OsStr, what: &[u8]) -> Option<usize> {
    word.as_bytes().windows(what.len()).position(|bytes| bytes == what)
}

fn replace(word: &OsStr, what: &[u8], number: u32) -> OsString {
    let (mut out, mut rest) = (Vec::new(), word);
    while let Some(at) = find(rest, what) {
        let bytes = rest.as_bytes();
        out.extend(&bytes[..at]);
        out.extend(number.to_string().bytes());
        rest = OsStr::from_bytes(&bytes[at + what.len()..]);
    }
    out.extend(rest.as_bytes());
    OsString::from_vec(out)
}
