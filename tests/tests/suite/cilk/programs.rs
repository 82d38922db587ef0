//! The programs: how they are compiled, run, recorded and profiled.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::once::Once;
use contech_tests::process::run;
use contech_tests::recording::{backend_json, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

pub(crate) const PROGRAMS: [&str; 13] = [
    "fib",
    "quicksort",
    "matmul",
    "bfs",
    "bfs_fixed",
    "nqueens",
    "strassen",
    "cilksort",
    "fft",
    "heat",
    "lu",
    "cholesky",
    "tree",
];

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/cilk").join(name)
}

/// Compiles a program and runs it in `dir`; the program checks its own result.
pub(crate) fn build_and_run(name: &str, dir: &Path, options: &[&str]) -> Result<()> {
    execute(&build(name, dir, options)?, dir, &[], "time")
        .with_context(|| format!("{name} {options:?}"))
}

pub(crate) fn build(name: &str, dir: &Path, options: &[&str]) -> Result<PathBuf> {
    let program = dir.join("program");
    let flags = [&["-O2", "-Wno-unknown-pragmas"], options].concat();
    Toolchain::contech().compile(&source(name), &flags, &program)?;
    Ok(program)
}

/// Runs a program in `dir`, which then has its trace, or its on-line profile by this metric.
pub(crate) fn execute(program: &Path, dir: &Path, arguments: &[&str], metric: &str) -> Result<()> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(dir)
        .env("CONTECH_METRIC", metric)
        .env("CONTECH_TRACE", dir.join("trace.bin"))
        .env("CONTECH_PROFILE", dir.join("online.json"));
    run(&mut command)?.ok()?;
    Ok(())
}

/// The profile of a recording of the serial form.
pub(crate) fn from_graph(name: &str) -> Result<Value> {
    static PROFILES: Once<Value> = Once::new();
    PROFILES.get(name, || {
        let scratch = Scratch::new(&format!("cilk-graph-{name}"))?;
        build_and_run(&format!("{name}.c"), scratch.dir(), &[])?;
        let profile = analyse(scratch.dir(), "ops")?;
        scratch.done()?;
        Ok(profile)
    })
}

/// Work and span of the trace in `dir`.
pub(crate) fn analyse(dir: &Path, metric: &str) -> Result<Value> {
    let graph = dir.join("graph.tg");
    middle(&dir.join("trace.bin"), &graph)?.ok()?;
    backend_json(&["workspan", "--metric", metric], &graph)
}

/// The profile that the program writes itself, in `time` or `ops`. One test asks for each.
pub(crate) fn on_line(name: &str, metric: &str) -> Result<Value> {
    static PROGRAMS: Once<PathBuf> = Once::new();
    let program = PROGRAMS.get(name, || {
        let dir = Scratch::new(&format!("cilk-line-program-{name}"))?;
        let source = format!("{name}.c");
        build(&source, dir.dir(), &["--contech-mode=workspan"])
    })?;
    let scratch = Scratch::new(&format!("cilk-line-{metric}-{name}"))?;
    execute(&program, scratch.dir(), &[], metric)?;
    let profile = profile(scratch.dir())?;
    scratch.done()?;
    Ok(profile)
}

/// The profile that a program wrote itself.
pub(crate) fn profile(dir: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(dir.join("online.json"))?)?)
}
