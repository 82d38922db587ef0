//! One program: compiled natively and with `--contech-check`, run, compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Source;
use crate::process::{run, run_for};
use crate::recording::middle;
use crate::toolchain::Toolchain;

/// How long one program may run.
const LIMIT: Duration = Duration::from_secs(60);

/// What every program is compiled with: one result on every level and machine, no time lost.
const FLAGS: [&str; 5] = [
    "-w",
    "-ffp-contract=off",
    "-pthread",
    "-fuse-ld=lld",
    "-fno-strict-aliasing",
];

/// What was compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Compared {
    /// Programs.
    pub programs: u64,
    /// Block executions.
    pub blocks: u64,
}

/// Compiles `source` in `dir` at `level`, records both forms in one run, and compares output and recordings.
///
/// # Errors
/// When anything differs or fails, with what is known of it.
pub fn check(source: &Source, level: &str, dir: &Path) -> Result<Compared> {
    let files = write(source, dir)?;
    check_files(&files, source.cxx, level, dir)
}

/// The same for files that are there.
///
/// # Errors
/// See [`check`].
pub fn check_files(files: &[PathBuf], cxx: bool, level: &str, dir: &Path) -> Result<Compared> {
    let native = compile(
        &Toolchain::native(),
        files,
        cxx,
        &["-O0"],
        &dir.join("native"),
    )?;
    let mut flags: Vec<&str> = vec!["--contech-check"];
    flags.extend(level.split_whitespace());
    let recorded = compile(
        &Toolchain::contech(),
        files,
        cxx,
        &flags,
        &dir.join("recorded"),
    )?;
    let wanted = run_for(&mut Command::new(&native), LIMIT)?.ok()?;
    let trace = dir.join("trace.bin");
    let mut command = Command::new(&recorded);
    command.env("CONTECH_TRACE", &trace);
    let got = run_for(&mut command, LIMIT)?.ok()?;
    if wanted.stdout != got.stdout || !got.stderr.is_empty() {
        bail!("the recorded program says something else than the native one: {wanted}{got}");
    }
    let blocks = compare(&trace, &dir.join("graph.tg"))?;
    Ok(Compared {
        programs: 1,
        blocks,
    })
}

/// Writes the units of a program; their paths.
///
/// # Errors
/// When the file system does not let us.
pub fn write(source: &Source, dir: &Path) -> Result<Vec<PathBuf>> {
    let extension = if source.cxx { "cpp" } else { "c" };
    let mut files = Vec::new();
    for (i, text) in source.units.iter().enumerate() {
        let file = dir.join(format!("unit{i}.{extension}"));
        fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}

fn compile(
    tools: &Toolchain,
    files: &[PathBuf],
    cxx: bool,
    flags: &[&str],
    output: &Path,
) -> Result<PathBuf> {
    let mut command = Command::new(tools.compiler(cxx));
    command
        .args(FLAGS)
        .args(flags)
        .args(files)
        .arg("-o")
        .arg(output);
    run(&mut command)?.ok()?;
    Ok(output.to_owned())
}

/// Makes a graph of a checked trace; the number of block executions that were compared.
///
/// # Errors
/// When the forms differ, nothing was compared or the trace is not whole.
pub fn compare(trace: &Path, graph: &Path) -> Result<u64> {
    let done = middle(trace, graph)?;
    let said: Value = serde_json::from_slice(&done.stdout).with_context(|| done.to_string())?;
    let number = |key: &str| said["check"][key].as_u64().unwrap_or(0);
    if number("mismatches") > 0 || !said["check"]["mismatches"].is_u64() {
        bail!(
            "{} mismatches in {} blocks: {:#}",
            number("mismatches"),
            number("compared"),
            said["check"]["differences"]
        );
    }
    done.ok()?;
    match number("compared") {
        0 => bail!("nothing was compared"),
        n => Ok(n),
    }
}
