//! `contech record`: runs a program and keeps its trace.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::interrupt;
use super::program::{Program, Run};
use super::recorder::TRACE;
use crate::view::say;

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Where the trace goes: a path in which %p is the process id and %r the MPI rank; null throws
    /// it away, - is standard output
    #[arg(short, long, value_name = "TRACE", default_value = "trace.bin", env = TRACE, hide_env_values = true)]
    output: OsString,
    #[command(flatten)]
    run: Run,
}

/// Runs the program, and returns its exit status.
pub(super) fn run(options: &Options) -> Result<u8> {
    let name = options.output.to_string_lossy();
    // Other forms are no file of that name.
    let file = !name.contains('%') && !["null", "-"].contains(&&*name) && !name.starts_with("fd:");
    let path = Path::new(&options.output);
    let before = file.then(|| state(path)).flatten();
    let interrupt = interrupt::install().context("cannot take signals")?;
    let program = Program::run(&options.run, &options.output, &interrupt)?;
    if file && std::env::var_os("CONTECH_OFF").is_none() {
        let after = state(path);
        if after.is_none() || after == before {
            bail!("{} {}", program.name, super::traces::NOTHING);
        }
        say!("contech: {} {}", program.name, program.outcome());
        say!("contech: trace   {name}  (contech graph {name} makes its graph)");
    }
    Ok(program.status())
}

/// What tells a file from one that was written later.
fn state(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}
