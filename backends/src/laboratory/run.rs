//! One run of a command under the observer.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use contech_observation::Observation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::observer;

/// The end of standard error kept for messages.
const KEPT: usize = 2000;
/// Beginning of the output kept to show a difference.
const SHOWN: usize = 64 << 10;
/// Most bytes the kernel keeps in a pipe: more than that is not from before the program's end.
const PIPE: usize = 1 << 20;

/// Ctrl-C was pressed.
pub(super) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What is run how.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The words of the command.
    pub(super) words: Vec<OsString>,
    /// For OMP_NUM_THREADS, where the caller's environment does not set it.
    pub(super) threads: u32,
    /// Thread to run alone.
    pub(super) alone: Option<u32>,
    /// Bytes for the Pirate to keep.
    pub(super) pirate: u64,
}

/// A run that ended well.
#[derive(Debug)]
pub(super) struct Outcome {
    /// What was observed.
    pub(super) observation: Observation,
    /// What it printed.
    pub(super) output: Output,
}

/// Standard output of a run, as much as comparing takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Bytes in all.
    pub(super) bytes: u64,
    /// Hash of all of it.
    pub(super) hash: u64,
    /// The beginning.
    pub(super) start: Vec<u8>,
}

/// A command for people.
pub(super) fn words(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Why a program did not start.
pub(super) fn cannot_start(command: &[OsString], error: io::Error) -> anyhow::Error {
    let name = command
        .first()
        .map(|word| word.to_string_lossy())
        .unwrap_or_default();
    crate::pipeline::cannot_start(&name, error)
}

/// Runs commands.
#[derive(Debug)]
pub(super) struct Runner {
    library: PathBuf,
    folder: tempfile::TempDir,
    timeout: Duration,
}

impl Runner {
    /// With results in a folder of its own.
    pub(super) fn new(timeout: Duration) -> Result<Self> {
        Ok(Self {
            library: observer::find()?,
            folder: tempfile::tempdir().context("cannot make a temporary folder")?,
            timeout,
        })
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When it cannot be started, fails, takes too long, or was not observed.
    pub(super) fn run(&self, order: &Order) -> Result<Outcome> {
        let name = words(&order.words);
        let file = self.folder.path().join("observation");
        let _ = std::fs::remove_file(&file);
        let mut command = self.command(order, &file)?;
        let mut child = command
            .spawn()
            .map_err(|error| cannot_start(&order.words, error))?;
        let ended = Arc::new(AtomicBool::new(false));
        let out = child.stdout.take().map(|pipe| {
            let ended = Arc::clone(&ended);
            thread::spawn(move || digest(pipe, &ended))
        });
        let err = child.stderr.take().map(|pipe| {
            let ended = Arc::clone(&ended);
            thread::spawn(move || tail(pipe, &ended))
        });
        let status = self.wait(&mut child, &name);
        ended.store(true, Ordering::Release);
        let status = status?;
        let output = out.and_then(|out| out.join().ok()).unwrap_or_default();
        let said = err.and_then(|err| err.join().ok()).unwrap_or_default();
        if !status.success() {
            bail!("{}", failure(&name, status, &said));
        }
        let observation = observer::read(&file, &name)?;
        Ok(Outcome {
            observation,
            output,
        })
    }

    fn command(&self, order: &Order, file: &Path) -> Result<Command> {
        let (program, arguments) = order.words.split_first().context("name a program to run")?;
        let mut command = Command::new(program);
        let mut preload = OsString::from(&self.library);
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        command
            .args(arguments)
            .env("LD_PRELOAD", preload)
            .env("CONTECH_OBSERVE", file)
            .env("OMP_NUM_THREADS", order.threads.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // With the processes it starts, so that none of them is left when it has to be ended.
            .process_group(0);
        if let Some(thread) = order.alone {
            command.env("CONTECH_ALONE", thread.to_string());
        }
        if order.pirate > 0 {
            command.env("CONTECH_PIRATE", order.pirate.to_string());
        }
        Ok(command)
    }

    fn wait(&self, child: &mut Child, name: &str) -> Result<ExitStatus> {
        let begin = Instant::now();
        // Short at first: how long a run takes is taken from the observer, not from here.
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) = child
                .try_wait()
                .with_context(|| format!("cannot wait for {name}"))?
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

/// Ends the program and the processes it started.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

fn failure(name: &str, status: ExitStatus, said: &str) -> String {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "failed".to_owned(),
    };
    let said = said.trim();
    if said.is_empty() {
        format!("{name} {how}; a program that fails is not measured")
    } else {
        format!("{name} {how}; a program that fails is not measured. It said:\n{said}")
    }
}

/// Gives out what comes through a pipe, to its end. Once the program has `ended` nobody waits for more: a process it
/// left behind may keep the pipe open.
fn read(mut pipe: impl Read + AsFd, ended: &AtomicBool, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 << 10];
    let mut left = PIPE;
    while left > 0 {
        // Asked first: what the program wrote before its end is there then.
        let last = ended.load(Ordering::Acquire);
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: if last { 0 } else { 100_000_000 },
        };
        let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&pause));
        match ready {
            Ok(0) if last => return,
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        match pipe.read(&mut buffer) {
            Ok(count @ 1..) => {
                take(&buffer[..count]);
                left -= if last { count.min(left) } else { 0 };
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// All of a pipe as a hash, its length and its beginning: outputs may be large.
fn digest(pipe: impl Read + AsFd, ended: &AtomicBool) -> Output {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    let mut output = Output::default();
    read(pipe, ended, |bytes| {
        // Byte by byte: what a read returns depends on timing.
        bytes.iter().for_each(|byte| hasher.write_u8(*byte));
        output.bytes += bytes.len() as u64;
        let room = SHOWN.saturating_sub(output.start.len()).min(bytes.len());
        output.start.extend(&bytes[..room]);
    });
    output.hash = hasher.finish();
    output
}

/// The end of a pipe.
fn tail(pipe: impl Read + AsFd, ended: &AtomicBool) -> String {
    let mut kept = Vec::new();
    read(pipe, ended, |bytes| {
        kept.extend(bytes);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    });
    String::from_utf8_lossy(&kept).into_owned()
}
