//! Builds the fuzzer of the readers (`tests/fuzz`) with coverage, in a target directory of its own,
//! and runs it for as long as it is told: `fuzz TARGET [OPTION OF libFuzzer]...`, for instance `fuzz
//! graph -max_total_time=3600`. Inputs that reach new code, and what is found, stay in a folder, or
//! in the one that is named instead, as `FOLDER/TARGET`.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use contech_tests::outputs::{cargo, target_dir};
use contech_tests::process::exit;

/// What makes rustc count which code runs, for libFuzzer to read, and what tells the code that it
/// is fuzzed. Both are what cargo-fuzz uses, and stable.
const COVERAGE: [&str; 5] = [
    "passes=sancov-module",
    "llvm-args=-sanitizer-coverage-level=4",
    "llvm-args=-sanitizer-coverage-inline-8bit-counters",
    "llvm-args=-sanitizer-coverage-pc-table",
    "llvm-args=-sanitizer-coverage-trace-compares",
];

fn main() -> ExitCode {
    exit(run().map(|()| true))
}

fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let target =
        words.next().context("usage: fuzz trace|middle|graph|profile [OPTION OF libFuzzer]...")?;
    let folder = target_dir().join("fuzz").join(target);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let mut command = Command::new(build()?);
    command.arg(&folder).arg(format!("-artifact_prefix={}/", folder.display()));
    // Longer than any seed; no input takes this many seconds but one that hangs.
    command.args(["-max_len=65536", "-timeout=60"]).args(words);
    eprintln!("inputs and findings: {}", folder.display());
    Err(command.exec()).context("contech-fuzz")
}

/// Builds the fuzzer; where it is.
fn build() -> Result<PathBuf> {
    let host = host()?;
    let dir = target_dir().join("coverage");
    let coverage = COVERAGE.iter().map(|flag| format!("-C{flag}"));
    let flags: Vec<String> = coverage.chain(["--cfg=fuzzing".to_owned()]).collect();
    let status = cargo()
        .args(["build", "-q", "-p", "contech-fuzz", "--features", "libfuzzer"])
        // With a target named, build scripts and macros are built without the flags.
        .args(["--profile", "fuzz", "--target", &host])
        .env("RUSTFLAGS", flags.join(" "))
        .env("CARGO_TARGET_DIR", &dir)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo build of contech-fuzz failed: {status}");
    }
    Ok(dir.join(host).join("fuzz/contech-fuzz"))
}

/// The machine's own target.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-vV").output().context("rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
