//! One run of a command under the observer.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use contech_observation::Observation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::observer;

/// Bytes at the end that are kept for messages.
const KEPT: usize = 2000;
/// Bytes at the beginning that are kept to show a difference.
const SHOWN: usize = 64 << 10;
/// The most bytes that the kernel keeps in a pipe. Of the bytes read after the program's end, only
/// so many can be from before it.
const PIPE: usize = 1 << 20;

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

/// What came through a pipe, as far as comparisons and messages need it: outputs may be large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Number of all bytes.
    bytes: u64,
    /// Hash of all bytes.
    hash: u64,
    /// The first bytes, and the last ones.
    pub(super) start: Vec<u8>,
    end: Vec<u8>,
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
    folder: tempfile::TempDir,
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
        let mut command = self.command(program, &file);
        command.args(arguments).env("OMP_NUM_THREADS", threads.to_string());
        let mut child =
            command.spawn().map_err(|error| cannot_start(&program.to_string_lossy(), error))?;
        let ended = AtomicBool::new(false);
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let pipes = [out.map(OwnedFd::from), err.map(OwnedFd::from)];
        let (status, [output, said]) = thread::scope(|scope| {
            let ended = &ended;
            let pipes = pipes.map(|pipe| scope.spawn(move || Some(read(pipe?.into(), ended))));
            let status = self.wait(&mut child, &name);
            ended.store(true, Ordering::Release);
            (status, pipes.map(|pipe| pipe.join().ok().flatten().unwrap_or_default()))
        });
        let status = status?;
        if status.code() != Some(self.status.into()) {
            bail!("{}", failure(&name, status, &String::from_utf8_lossy(&said.end)));
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
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
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
            let interrupted = INTERRUPTED.load(Ordering::Relaxed);
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

/// Reads a pipe to its end. Once the program has `ended`, no more data is awaited, because a
/// process that the program left behind may keep the pipe open.
fn read(mut pipe: File, ended: &AtomicBool) -> Output {
    let mut hasher = rustc_hash::FxHasher::default();
    let mut output = Output::default();
    let mut buffer = vec![0; 64 << 10];
    let mut left = PIPE;
    while left > 0 {
        // The flag is read before the pipe: if it is set, everything that the program wrote before
        // its end is in the pipe.
        let last = ended.load(Ordering::Acquire);
        let pause = Timespec { tv_sec: 0, tv_nsec: if last { 0 } else { 100_000_000 } };
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&pause)) {
            Ok(0) if last => break,
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => break,
        }
        let count = match pipe.read(&mut buffer) {
            Ok(count @ 1..) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            _ => break,
        };
        left -= if last { count.min(left) } else { 0 };
        let bytes = &buffer[..count];
        // Bytes are hashed one by one, because the number of bytes of a read depends on timing.
        bytes.iter().for_each(|byte| hasher.write_u8(*byte));
        output.bytes += bytes.len() as u64;
        let room = SHOWN.saturating_sub(output.start.len()).min(bytes.len());
        output.start.extend(&bytes[..room]);
        output.end.extend(bytes);
        output.end.drain(..output.end.len().saturating_sub(KEPT));
    }
    output.hash = hasher.finish();
    output
}
