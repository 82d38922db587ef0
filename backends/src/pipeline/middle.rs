//! The step from trace to graph, which the command `contech-middle` does.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::interrupt::{Interrupt, Work};

const NAME: &str = "contech-middle";
/// Exit status for a graph recovered from an incomplete trace.
const RECOVERED: i32 = 3;

/// The path of the command: next to this executable, or under `CONTECH_HOME`.
pub(super) fn find() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where contech itself is")?;
    let beside = own.with_file_name(NAME);
    let home = std::env::var_os("CONTECH_HOME").map(PathBuf::from);
    let homes = home.iter().flat_map(|home| [home.join(NAME), home.join("bin").join(NAME)]);
    match std::iter::once(beside.clone()).chain(homes).find(|path| path.is_file()) {
        Some(found) => Ok(found),
        None => bail!(
            "{} is missing: it is installed next to contech, or under CONTECH_HOME",
            beside.display()
        ),
    }
}

/// Becomes `contech-middle`, which knows what `contech graph` can do.
pub(super) fn become_it(arguments: &[OsString]) -> Result<u8> {
    let path = find()?;
    let mut command = Command::new(&path);
    let error = command.arg0("contech graph").args(arguments).exec();
    Err(error).with_context(|| format!("cannot start {}", path.display()))
}

/// The traces as on a command line.
pub(super) fn listed(traces: &[PathBuf]) -> String {
    let each: Vec<_> = traces.iter().map(|trace| trace.display().to_string()).collect();
    each.join(" ")
}

/// Makes graphs, until a signal comes.
#[derive(Debug)]
pub(super) struct Converter {
    pub(super) path: PathBuf,
    pub(super) interrupt: Interrupt,
}

impl Converter {
    /// The places of those traces that are of ranks of the same MPI run as the first one.
    pub(super) fn ranks(&self, traces: &[PathBuf]) -> Result<Vec<usize>> {
        let mut command = Command::new(&self.path);
        command.arg("--which-ranks").args(traces).stdin(Stdio::null());
        let cannot = || format!("cannot ask {} for ranks", self.path.display());
        let output = command.output().with_context(cannot)?;
        let places = String::from_utf8_lossy(&output.stdout);
        Ok(places.lines().filter_map(|place| place.parse().ok()).collect())
    }

    /// Makes `graph` from the traces of a program, with one part of the code in `sample`. The
    /// report has the summary, so it is not shown; progress and errors are.
    pub(super) fn convert(&self, (traces, graph): (&[PathBuf], &Path), sample: u64) -> Result<()> {
        let mut command = Command::new(&self.path);
        command.args((sample > 1).then(|| format!("--sample={sample}")));
        command.args(traces).arg(graph);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let ran = self.interrupt.run(&mut command, Work::Step);
        let (_, status) = ran.with_context(|| format!("cannot start {}", self.path.display()))?;
        self.interrupt.check();
        match status.code() {
            Some(0 | RECOVERED) => Ok(()),
            _ => bail!("{NAME} made no graph of {} ({status}); the trace is kept", listed(traces)),
        }
    }
}
