//! Runs a command to its end, with a time limit, and keeps its output.

use std::fmt;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// A single command that takes longer counts as hanging.
pub const LIMIT: Duration = Duration::from_secs(300);

/// Bytes of each output that are kept, so that a command that never stops printing does not take
/// the machine's memory.
const MOST_OUTPUT: u64 = 512 << 20;

#[derive(Debug, Clone)]
pub struct Finished {
    /// The command line, for messages.
    pub line: String,
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Standard output as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What standard output says in JSON.
    ///
    /// # Errors
    /// When that is something else.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.stdout).with_context(|| self.to_string())
    }

    /// Standard error without digits: times, and numbers of threads, differ from run to run.
    #[must_use]
    pub fn err_but_for_digits(&self) -> String {
        self.err().chars().filter(|c| !c.is_ascii_digit()).collect()
    }

    /// Both outputs.
    #[must_use]
    pub fn said(&self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.clone(), self.stderr.clone())
    }

    /// `exit 3` or `signal 11`.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no status".to_owned(),
        }
    }

    /// Returns the result if the command ended with exit code 0.
    ///
    /// # Errors
    /// Otherwise, with the command line and its output.
    pub fn ok(self) -> Result<Self> {
        self.expect("exit 0")
    }

    /// Returns the result if the command ended as stated (see [`Finished::outcome`]).
    ///
    /// # Errors
    /// Otherwise, with the command line and its output.
    pub fn expect(self, outcome: &str) -> Result<Self> {
        if self.outcome() != outcome {
            bail!("expected {outcome}: {self}");
        }
        Ok(self)
    }
}

/// Checks that a recorded run ended as the native one did, and said the same of what is compared.
///
/// # Errors
/// Otherwise, with both.
pub fn same<T: PartialEq>(
    native: &Finished,
    recorded: &Finished,
    said: impl Fn(&Finished) -> T,
) -> Result<()> {
    let same = native.status == recorded.status && said(native) == said(recorded);
    ensure!(same, "the recorded run differs\n== native: {native}\n== recorded: {recorded}");
    Ok(())
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ended with {}", self.line, self.outcome())?;
        writeln!(f, "-- stdout\n{}", tail(&self.out()))?;
        write!(f, "-- stderr\n{}", tail(&self.err()))
    }
}

/// The exit code of a command of ours, whose result is whether all is well. An error is printed.
#[must_use]
pub fn exit(done: Result<bool>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

/// Runs a command with an empty standard input.
///
/// # Errors
/// When the command cannot be started, or still runs after [`LIMIT`]; then its whole process group
/// is killed.
pub fn run(command: &mut Command) -> Result<Finished> {
    run_for(command, LIMIT)
}

/// [`run`] with another limit.
pub fn run_for(command: &mut Command, limit: Duration) -> Result<Finished> {
    let line = line_of(command);
    // Tests look for sentences, which are in one line then.
    if !command.get_envs().any(|(name, _)| name == "COLUMNS") {
        command.env("COLUMNS", "10000");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().with_context(|| format!("cannot start {line}"))?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let begun = Instant::now();
    let mut pause = Duration::from_micros(500);
    let status = loop {
        if let Some(status) = child.try_wait().context("wait")? {
            break Some(status);
        }
        if begun.elapsed() > limit {
            // The whole group is killed, because children may hold the pipes open.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(4));
    };
    let (stdout, stderr) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    match status {
        Some(status) => Ok(Finished { line, status, stdout, stderr }),
        None => bail!(
            "{line} still ran after {limit:?} and was killed; it had said:\n{}\n{}",
            tail(&String::from_utf8_lossy(&stdout)),
            tail(&String::from_utf8_lossy(&stderr))
        ),
    }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            // The rest is read and discarded, so that the command does not block.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        bytes
    })
}

/// The command as one would type it.
#[must_use]
pub fn line_of(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    match command.get_current_dir().map(Path::display) {
        Some(dir) => format!("(cd {dir}; {})", words.join(" ")),
        None => words.join(" "),
    }
}
