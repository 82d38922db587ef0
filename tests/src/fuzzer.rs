//! The fuzzer of the readers (`tests/fuzz`): built with coverage, in a target directory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::outputs::{cargo, target_dir};

/// What makes rustc count which code runs, for libFuzzer to read, and what tells the code that it
/// is fuzzed. Both are what cargo-fuzz uses, and stable.
const COVERAGE: [&str; 5] = [
    "passes=sancov-module",
    "llvm-args=-sanitizer-coverage-level=4",
    "llvm-args=-sanitizer-coverage-inline-8bit-counters",
    "llvm-args=-sanitizer-coverage-pc-table",
    "llvm-args=-sanitizer-coverage-trace-compares",
];

/// Builds it; where it is.
///
/// # Errors
/// When cargo fails; its own messages have been shown.
pub fn build() -> Result<PathBuf> {
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

/// Options of libFuzzer for every run: what it finds goes to `folder`.
#[must_use]
pub fn options(folder: &Path) -> [String; 3] {
    [
        format!("-artifact_prefix={}/", folder.display()),
        // Longer than any seed; no input takes this many seconds but one that hangs.
        "-max_len=65536".to_owned(),
        "-timeout=60".to_owned(),
    ]
}

/// The machine's own target.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("-vV").output().context("rustc")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}
