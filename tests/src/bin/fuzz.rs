//! Builds the fuzzer of the readers and runs it for as long as it is told: `fuzz TARGET [OPTION OF
//! libFuzzer]...`, for instance `fuzz graph -max_total_time=3600`. Inputs that reach new code, and
//! what is found, stay in a folder.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use contech_tests::fuzzer;
use contech_tests::outputs::target_dir;
use contech_tests::process::exit;

fn main() -> ExitCode {
    exit(run().map(|()| true))
}

fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let target =
        words.next().context("usage: fuzz trace|middle|graph|profile [OPTION OF libFuzzer]...")?;
    let folder = target_dir().join("fuzz").join(target);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut command = Command::new(fuzzer::build()?);
    command.arg(&folder).args(fuzzer::options(&folder)).args(words);
    eprintln!("inputs and findings: {}", folder.display());
    Err(command.exec()).context("contech-fuzz")
}
