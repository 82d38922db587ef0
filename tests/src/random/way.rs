//! Ways to compile and to record a program.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{Finished, run, run_for};

/// Flags of the levels that seeds take in turn.
pub const LEVELS: [&str; 8] = [
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-O3 -march=native",
    "-O2 -flto",
    "-O3 -march=native -flto",
    "-O2 -fno-inline",
];

/// Asks for a way: flags, and this word if the writer is to lag.
const VARIABLE: &str = "CONTECH_WAY";
const LAGGING: &str = " lagging";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub level: String,
    /// The writer lags: it must share one processor with the program, and it writes to something
    /// slow.
    pub lagging: bool,
}

impl fmt::Display for Way {
    /// Writes the way as the variable that asks for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lagging = if self.lagging { LAGGING } else { "" };
        write!(f, "{VARIABLE}='{}{lagging}'", self.level)
    }
}

impl Way {
    /// The way of a seed: each level in turn, and for a quarter of the seeds of each level a writer
    /// that lags.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let count = LEVELS.len() as u64;
        let at = usize::try_from(seed % count).unwrap_or(0);
        Self { level: LEVELS[at].to_owned(), lagging: (seed / count).is_multiple_of(4) }
    }

    /// The way that is asked for, if one is, and otherwise that of the seed.
    #[must_use]
    pub fn asked(seed: u64) -> Self {
        let Ok(asked) = std::env::var(VARIABLE) else { return Self::of_seed(seed) };
        let level = asked.strip_suffix(LAGGING);
        Self { level: level.unwrap_or(&asked).to_owned(), lagging: level.is_some() }
    }

    /// Runs a program that leaves its trace in `trace`.
    pub(crate) fn record(&self, program: &Path, trace: &Path, limit: Duration) -> Result<Finished> {
        if self.lagging {
            return lag(program, trace, Duration::ZERO, limit);
        }
        run_for(Command::new(program).env("CONTECH_TRACE", trace), limit)
    }
}

/// Runs a program that shares one processor with its writer. The writer's pipe is read a little at
/// a time, first after a rest; what comes out of it goes to `trace`.
///
/// # Errors
/// When the program does not end in time, or its trace cannot be read.
pub fn lag(program: &Path, trace: &Path, rest: Duration, limit: Duration) -> Result<Finished> {
    let pipe = trace.with_extension("pipe");
    let _ = std::fs::remove_file(&pipe);
    run(Command::new("mkfifo").arg(&pipe))?.ok()?;
    let mut command = Command::new("taskset");
    command.args(["-c", &processor()?]).arg(program);
    // The buffers have the smallest size there is, so that many are handed over and have to
    // wait.
    command.env("CONTECH_TRACE", &pipe).env("CONTECH_BUFFER", "32K");
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| drain(&pipe, trace, rest, &ended));
        let done = run_for(&mut command, limit);
        ended.store(true, Ordering::Release);
        match reader.join() {
            Ok(read) => read.and(done),
            Err(_) => anyhow::bail!("the reader of {} panicked", pipe.display()),
        }
    })
}

/// Copies what comes out of a pipe, a little at a time, until the program has ended and the pipe is
/// empty.
fn drain(pipe: &Path, to: &Path, rest: Duration, ended: &AtomicBool) -> Result<()> {
    /// The flag of open(2), on every architecture that this project runs on.
    const O_NONBLOCK: i32 = 0o4000;
    let mut from = OpenOptions::new()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(pipe)
        .with_context(|| pipe.display().to_string())?;
    let (mut to, mut part) = (File::create(to)?, vec![0; 8 << 10]);
    thread::sleep(rest);
    loop {
        // The flag is read before the pipe, so that everything written before the program ended is
        // found.
        let last = ended.load(Ordering::Acquire);
        match from.read(&mut part) {
            Ok(0) if last => return Ok(()),
            Ok(n) => to.write_all(&part[..n])?,
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return Err(e.into()),
        }
        thread::sleep(Duration::from_micros(500));
    }
}

fn processor() -> Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let list = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .context("Cpus_allowed_list")?;
    let first = list.trim().split([',', '-']).next();
    Ok(first.unwrap_or("0").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_seeds_with_and_without_a_lagging_writer() {
        for level in LEVELS {
            for lagging in [false, true] {
                let wanted = Way { level: level.to_owned(), lagging };
                assert!((0..64).any(|seed| Way::of_seed(seed) == wanted), "{wanted:?}");
            }
        }
    }
}
