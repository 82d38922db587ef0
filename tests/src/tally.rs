//! Counts what the test command ran.

use std::cmp::Reverse;
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How many of the slowest tests are shown.
const SLOWEST: usize = 30;

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

    /// Runs a command that is one check, which passes by exit code 0. Prints its name and how long
    /// it took.
    pub fn check(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let begun = Instant::now();
        let status = command.status().with_context(|| format!("cannot start {name}"))?;
        let passed = status.success();
        self.add(Self { passed: passed.into(), failed: (!passed).into(), skipped: 0 });
        let verdict = if passed { "ok" } else { "FAILED" };
        println!("check {name} ... {verdict} ({:.0} s)", begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// Runs commands that run tests, as many at a time as there are processors, in their order.
    /// Shows the output of each when it ends, and counts its `test result:` lines, which Rust's
    /// test harness writes. A command that fails without a failed test (a test binary crashes)
    /// counts as one failure. At the end the slowest tests are shown.
    pub fn tests(&mut self, all: Vec<Tests>) -> Result<()> {
        let queue = Mutex::new(all.into_iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let sum = Mutex::new((&mut *self, Vec::new()));
        let work = || {
            while let Some((name, mut command)) = next() {
                let begun = Instant::now();
                let said = said(&mut command).with_context(|| format!("cannot run {name}"))?;
                let mut ran = Self::of_text(&said.text);
                if !said.succeeded && ran.failed == 0 {
                    ran.failed = 1;
                }
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                let seconds = begun.elapsed().as_secs_f64();
                println!("{}tests {name}: {ran} ({seconds:.0} s)", said.text);
                sum.0.add(ran);
                let took = said.took.into_iter();
                sum.1.extend(took.map(|(test, took)| (took, format!("{name} {test}"))));
            }
            Ok(())
        };
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<Result<()>>| {
                worker.join().unwrap_or_else(|panic| resume_unwind(panic))
            };
            workers.into_iter().try_for_each(join)
        })?;
        let (_, mut took) = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
        let kept = took.iter().filter(|(_, name)| name.contains(" [kept] "));
        println!("{} tests have passed before with the same tools and did not run", kept.count());
        took.sort_unstable_by_key(|(took, _)| Reverse(*took));
        println!("the slowest tests, in seconds:");
        for (took, test) in took.iter().take(SLOWEST) {
            println!("{:7.1} {test}", took.as_secs_f64());
        }
        Ok(())
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
        let (_, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let count = |what: &str| {
            counts.split("; ").find_map(|c| c.strip_suffix(what)?.trim().parse::<u64>().ok())
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            skipped: count("ignored")?,
        })
    }
}

/// What a command that runs tests said.
struct Said {
    /// Its output, without the lines of tests that passed.
    text: String,
    /// How long each test took.
    took: Vec<(String, Duration)>,
    succeeded: bool,
}

/// Runs a command that runs one test after the other, and writes a line `test NAME ... ok` when one
/// has ended.
fn said(command: &mut Command) -> Result<Said> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let (mut text, mut took) = (String::new(), Vec::new());
    let mut begun = Instant::now();
    let stdout = child.stdout.take().context("a pipe")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let test = line.strip_prefix("test ").and_then(|l| l.split_once(" ... "));
        if let Some((name, verdict)) = test {
            took.push((name.trim_end().to_owned(), begun.elapsed()));
            begun = Instant::now();
            if verdict == "ok" {
                continue;
            }
        } else if line.starts_with("running ") {
            begun = Instant::now();
        }
        text.push_str(&line);
        text.push('\n');
    }
    let succeeded = child.wait()?.success();
    Ok(Said { text, took, succeeded })
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
        assert_eq!(sum, Tally { passed: 17, failed: 2, skipped: 1 });
        assert_eq!(sum.to_string(), "17 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn each_test_has_its_time_and_only_those_that_did_not_pass_are_shown() -> Result<()> {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo; echo running 2 tests; sleep 0.2; echo 'test a::slow    ... ok'; echo 'test b ... FAILED'; exit 1",
        ]);
        let said = said(&mut command)?;
        assert_eq!(said.text, "\nrunning 2 tests\ntest b ... FAILED\n");
        assert!(!said.succeeded);
        let names: Vec<&str> = said.took.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a::slow", "b"]);
        assert!(said.took[0].1 > said.took[1].1);
        Ok(())
    }

    #[test]
    fn a_command_that_fails_without_a_test_is_a_failure() -> Result<()> {
        let mut tally = Tally::default();
        let [good, bad] = ["true", "false"].map(|name| (name.to_owned(), Command::new(name)));
        tally.tests(vec![good, bad])?;
        tally.check("true", &mut Command::new("true"))?;
        assert_eq!(tally, Tally { passed: 1, failed: 1, skipped: 0 });
        Ok(())
    }
}
