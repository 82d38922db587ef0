//! One run of a command under the observer.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use contech_observation::Observation;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::{NamedTempFile, TempDir};

use super::observer;

/// Bytes at the end of what a program that failed said that are shown.
const SHOWN: usize = 2000;

/// Whether a signal asked to end.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on, signals that ask to end set a flag, which runs look at.
pub(super) fn take_signals() -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&INTERRUPTED))?;
    }
    Ok(())
}

/// What a program printed until it ended: in a file, because it may be large. A process that the
/// program left behind may go on printing.
#[derive(Debug)]
pub(super) struct Output {
    file: NamedTempFile,
    bytes: u64,
}

impl Output {
    pub(super) fn read(&self) -> io::Result<impl BufRead> {
        Ok(BufReader::new(self.file.reopen()?.take(self.bytes)))
    }
}

/// A command as text.
pub(super) fn words(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// The error for a program that did not start, with what to do.
pub fn cannot_start(name: &str, error: io::Error) -> anyhow::Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound if !name.contains('/') => {
            format!(": no program of that name in PATH; write ./{name} for one in this folder")
        }
        io::ErrorKind::NotFound => ": no such file".to_owned(),
        io::ErrorKind::PermissionDenied => ": it is not executable".to_owned(),
        _ => String::new(),
    };
    anyhow!(error).context(format!("cannot start {name}{advice}"))
}

#[derive(Debug)]
pub(super) struct Runner {
    library: PathBuf,
    folder: TempDir,
    timeout: Duration,
    /// The exit status of a run that succeeded.
    status: u8,
}

impl Runner {
    /// A runner that keeps observations in a folder of its own.
    pub(super) fn new(timeout: Duration, status: u8) -> Result<Self> {
        Ok(Self {
            library: observer::find()?,
            folder: tempfile::tempdir().context("cannot make a temporary folder")?,
            timeout,
            status,
        })
    }

    /// Runs a command to its end, with so many threads for OpenMP. Returns what was observed and
    /// what the program printed.
    ///
    /// # Errors
    /// When the command cannot be started, fails, takes too long, or was not observed.
    pub(super) fn run(&self, command: &[OsString], threads: u32) -> Result<(Observation, Output)> {
        let name = words(command);
        let file = self.folder.path().join("observation");
        let _ = std::fs::remove_file(&file);
        let (program, arguments) = command.split_first().context("name a program to run")?;
        let printed =
            || NamedTempFile::new_in(&self.folder).context("cannot make a temporary file");
        let (printed, said) = (printed()?, printed()?);
        let mut child = self
            .command(program, &file)
            .args(arguments)
            .env("OMP_NUM_THREADS", threads.to_string())
            .stdout(printed.reopen()?)
            .stderr(said.reopen()?)
            .spawn()
            .map_err(|error| cannot_start(&program.to_string_lossy(), error))?;
        let status = self.wait(&mut child, &name)?;
        let output = Output { bytes: printed.as_file().metadata()?.len(), file: printed };
        if status.code() != Some(self.status.into()) {
            let said = std::fs::read(said.path()).unwrap_or_default();
            let end = &said[said.len().saturating_sub(SHOWN)..];
            bail!("{}", failure(&name, status, &String::from_utf8_lossy(end)));
        }
        Ok((observer::read(&file, &name)?, output))
    }

    fn command(&self, program: &OsStr, file: &Path) -> Command {
        let mut command = Command::new(program);
        let mut preload = OsString::from(&self.library);
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        command
            .env("LD_PRELOAD", preload)
            .env("CONTECH_OBSERVE", file)
            .stdin(Stdio::null())
            // The program gets its own process group, so that the processes it starts can be ended
            // with it.
            .process_group(0);
        command
    }

    fn wait(&self, child: &mut Child, name: &str) -> Result<ExitStatus> {
        let begin = Instant::now();
        // The pause is short at first, which does not affect the measurement: the observer measures
        // how long a run takes.
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) =
                child.try_wait().with_context(|| format!("cannot wait for {name}"))?
            {
                return Ok(status);
            }
            let interrupted = INTERRUPTED.load(Relaxed);
            if interrupted || begin.elapsed() > self.timeout {
                end(child);
                if interrupted {
                    bail!("interrupted; nothing was written");
                }
                bail!(
                    "{name} took longer than {:?} and was ended; give it less to do or a longer --timeout",
                    self.timeout
                );
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

/// Ends the program and the processes that it started.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// How a program ended, in words.
#[must_use]
pub fn how_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn failure(name: &str, status: ExitStatus, said: &str) -> String {
    let unless = |code| format!(" (unless --status {code} says that all is well)");
    let unless = status.code().map(unless).unwrap_or_default();
    let how = how_ended(status);
    let said = said.trim();
    let begin = format!("{name} {how}; a program that fails is not measured{unless}");
    if said.is_empty() { begin } else { format!("{begin}. It said:\n{said}") }
}
