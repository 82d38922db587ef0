//! Counts what the test command ran.

use std::fmt;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use anyhow::{Context, Result};

/// A command that runs tests, and what it is called.
pub type Tests = (String, Command);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    /// Tests that did not run, for a reason that the run itself prints.
    pub skipped: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Runs a command that is one check, which passes by exit code 0. Prints its name and how long it took.
    pub fn check(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let begun = Instant::now();
        let status = command
            .status()
            .with_context(|| format!("cannot start {name}"))?;
        let passed = status.success();
        self.add(Self {
            passed: passed.into(),
            failed: (!passed).into(),
            skipped: 0,
        });
        let verdict = if passed { "ok" } else { "FAILED" };
        println!(
            "check {name} ... {verdict} ({:.0} s)",
            begun.elapsed().as_secs_f64()
        );
        Ok(())
    }

    /// Runs commands that run tests, as many at a time as there are processors, in their order. Shows the output of
    /// each when it ends, and counts its `test result:` lines, which Rust's test harness writes. A command that fails
    /// without a failed test (a test binary crashes) counts as one failure.
    pub fn tests(&mut self, all: Vec<Tests>) -> Result<()> {
        let queue = Mutex::new(all.into_iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let sum = Mutex::new(&mut *self);
        let work = || {
            while let Some((name, mut command)) = next() {
                let begun = Instant::now();
                let done = command.stderr(Stdio::inherit()).output();
                let done = done.with_context(|| format!("cannot start {name}"))?;
                let said = String::from_utf8_lossy(&done.stdout);
                let mut ran = Self::of_text(&said);
                if !done.status.success() && ran.failed == 0 {
                    ran.failed = 1;
                }
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                let seconds = begun.elapsed().as_secs_f64();
                println!("{said}tests {name}: {ran} ({seconds:.0} s)");
                sum.add(ran);
            }
            Ok(())
        };
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<Result<()>>| match worker.join() {
                Ok(done) => done,
                Err(panic) => resume_unwind(panic),
            };
            workers.into_iter().try_for_each(join)
        })
    }

    fn of_text(text: &str) -> Self {
        let mut sum = Self::default();
        for counts in text.lines().filter_map(Self::of_line) {
            sum.add(counts);
        }
        sum
    }

    /// Parses `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; ...`
    fn of_line(line: &str) -> Option<Self> {
        let (_, counts) = line
            .trim()
            .strip_prefix("test result: ")?
            .split_once(". ")?;
        let count = |what: &str| {
            counts
                .split("; ")
                .find_map(|c| c.strip_suffix(what)?.trim().parse::<u64>().ok())
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            skipped: count("ignored")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_summed() {
        let text = "running 2 tests\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n\
            test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let sum = Tally::of_text(text);
        assert_eq!(
            sum,
            Tally {
                passed: 17,
                failed: 2,
                skipped: 1
            }
        );
        assert_eq!(sum.to_string(), "17 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn a_command_that_fails_without_a_test_is_a_failure() -> Result<()> {
        let mut tally = Tally::default();
        let [good, bad] = ["true", "false"].map(|name| (name.to_owned(), Command::new(name)));
        tally.tests(vec![good, bad])?;
        tally.check("true", &mut Command::new("true"))?;
        assert_eq!(
            tally,
            Tally {
                passed: 1,
                failed: 1,
                skipped: 0
            }
        );
        Ok(())
    }
}
