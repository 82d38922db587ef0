//! The folder of a run and the traces that appear in it: one for each process, named by process id.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::PAGE;
use super::middle::Converter;
use super::program::Program;
use crate::output::files;

/// What is said of a program that was not recorded.
pub(super) const NOTHING: &str = "wrote no trace: build it with contech-cc or contech-c++ in place of the compiler; nothing else is needed";

/// The folder traces are written to, as given on the command line.
#[derive(Debug)]
pub(super) struct TraceFolder(PathBuf);

/// The traces of a run.
#[derive(Debug)]
pub(super) struct Traces {
    /// The trace of the program itself, now `trace.bin`, and of the other ranks if it is an MPI
    /// program.
    pub(super) own: Vec<PathBuf>,
    /// The traces of other processes (fork, exec), sorted by name.
    pub(super) others: Vec<PathBuf>,
}

impl TraceFolder {
    /// Makes the folder if necessary, and removes what an earlier run left there and this one may
    /// not replace: traces, graphs of more runs, and the page, which is not taken for that of a run
    /// that is interrupted.
    pub(super) fn prepare(path: &Path) -> Result<Self> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        let left = |name: &str| name == PAGE || is_trace(name) || is_repeat(name);
        for old in list(path, left)? {
            fs::remove_file(&old)
                .with_context(|| format!("cannot remove the old {}", old.display()))?;
        }
        Ok(Self(path.to_owned()))
    }

    /// The value of `CONTECH_TRACE`. The path is absolute, for a program that changes its working
    /// directory. The name contains the process id, so that a script's programs and forked children
    /// do not overwrite each other's traces.
    pub(super) fn pattern(&self) -> Result<OsString> {
        let path = &self.0;
        let absolute = path
            .canonicalize()
            .with_context(|| format!("cannot use the folder {}", path.display()))?;
        let folder = absolute.as_os_str().as_bytes().iter();
        let escaped =
            folder.flat_map(|&byte| std::iter::repeat_n(byte, 1 + usize::from(byte == b'%')));
        Ok(OsString::from_vec(escaped.chain(b"/trace.%p.bin".iter().copied()).collect()))
    }

    /// The traces that are there after the run.
    pub(super) fn traces(&self, program: &Program, converter: &Converter) -> Result<Traces> {
        let mut others = list(&self.0, is_trace)?;
        let own = self.0.join(format!("trace.{}.bin", program.pid));
        let at = others.iter().position(|trace| *trace == own);
        // A script or launcher has the program of interest as a child, which is the one that
        // recorded most.
        let largest = || {
            (0..others.len())
                .max_by_key(|&at| fs::metadata(&others[at]).map_or(0, |found| found.len()))
        };
        let Some(at) = at.or_else(largest) else {
            if std::env::var_os("CONTECH_OFF").is_some() {
                bail!("CONTECH_OFF is set, so {} ran without being recorded", program.name);
            }
            bail!("{} {NOTHING}", program.name);
        };
        let found = others.remove(at);
        let main = self.0.join("trace.bin");
        fs::rename(&found, &main).with_context(|| format!("cannot rename {}", found.display()))?;
        let mut own = vec![main];
        if !others.is_empty() {
            own.append(&mut others);
            let ranks = converter.ranks(&own)?;
            let mut place = 0;
            let of_others = |_: &mut PathBuf| {
                place += 1;
                !ranks.contains(&place)
            };
            others = own.extract_if(1.., of_others).collect();
        }
        Ok(Traces { own, others })
    }
}

/// Files of the folder, by name.
fn list(folder: &Path, wanted: fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    files(folder, wanted).with_context(|| format!("cannot read {}", folder.display()))
}

/// Whether a file has the name of a graph of more runs.
fn is_repeat(name: &str) -> bool {
    let number = name.strip_prefix("graph.").and_then(|name| name.strip_suffix(".tg"));
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number > 1))
}

/// Whether the name is `trace.bin` or `trace.PID.bin`, with what a fork may add.
fn is_trace(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("trace.") else {
        return false;
    };
    let mut parts = rest.split('.');
    parts.all(|part| {
        part == "bin" || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    }) && rest.contains("bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_traces_are_taken_for_traces() {
        for name in ["trace.bin", "trace.17.bin", "trace.bin.17"] {
            assert!(is_trace(name), "{name}");
        }
        for name in
            ["trace.txt", "trace.", "mytrace.bin", "trace.17", "trace.17.bin.bak", "graph.tg"]
        {
            assert!(!is_trace(name), "{name}");
        }
    }

    #[test]
    fn a_percent_sign_in_the_folder_is_no_pattern() {
        let base = tempfile::tempdir().expect("temporary folder");
        let folder = TraceFolder::prepare(&base.path().join("100%p")).expect("a new folder");
        let pattern = folder.pattern().expect("a folder").into_string().expect("ascii");
        assert!(pattern.ends_with("/100%%p/trace.%p.bin"), "{pattern}");
    }
}
