//! Counts what the test command ran.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fmt, io};

use anyhow::{Context, Result};

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

    /// Runs a command that runs tests, shows its output, and counts the `test result:` lines of Rust's test harness.
    /// A command that fails without a failed test (it does not compile, a test binary crashes) counts as one failure.
    pub fn tests(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let begun = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let out = child.stdout.take().context("a pipe was asked for")?;
        let mut ran = Self::of_lines(BufReader::new(out).lines())?;
        let status = child.wait()?;
        if !status.success() && ran.failed == 0 {
            ran.failed = 1;
        }
        println!(
            "tests {name}: {ran} ({:.0} s)",
            begun.elapsed().as_secs_f64()
        );
        self.add(ran);
        Ok(())
    }

    fn of_lines(lines: impl Iterator<Item = io::Result<String>>) -> Result<Self> {
        let mut sum = Self::default();
        for line in lines {
            let line = line?;
            println!("{line}");
            sum.add(Self::of_line(&line).unwrap_or_default());
        }
        Ok(sum)
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
    fn result_lines_are_summed() -> Result<()> {
        let text = "running 2 tests\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n\
            test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let sum = Tally::of_lines(text.lines().map(|l| Ok(l.to_owned())))?;
        assert_eq!(
            sum,
            Tally {
                passed: 17,
                failed: 2,
                skipped: 1
            }
        );
        assert_eq!(sum.to_string(), "17 passed, 2 failed, 1 skipped");
        Ok(())
    }

    #[test]
    fn a_command_that_fails_without_a_test_is_a_failure() -> Result<()> {
        let mut tally = Tally::default();
        tally.tests("false", &mut Command::new("false"))?;
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
