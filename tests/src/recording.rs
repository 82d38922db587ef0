//! One recorded run: its traces and graphs, and what the tools say of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::happens_before;
use crate::outputs::{Outputs, workspace};
use crate::process::{Finished, run};
use crate::scratch::Scratch;

#[derive(Debug)]
pub struct Recording {
    pub run: Finished,
    /// The traces that the program left, sorted by name.
    pub traces: Vec<PathBuf>,
}

impl Recording {
    /// Runs `command`; its traces go to `dir`, one file per process.
    pub fn of(command: &mut Command, dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir)?;
        command.env("CONTECH_TRACE", dir.join("trace.%p.bin"));
        let run = run(command)?;
        Ok(Self { run, traces: files(dir, "bin")? })
    }

    /// Makes a graph of each trace, verifies it, and compares all blocks, accesses, allocations and
    /// synchronisations with the trace's, and the order with that of the fine graph ([`fine`]).
    ///
    /// If `complete`, the traces must be whole (the middle exits 0), otherwise each must be cut
    /// (exit 3).
    pub fn graphs(&self, complete: bool) -> Result<Vec<PathBuf>> {
        Ok(self.checked(complete)?.0)
    }

    /// [`Recording::graphs`], and in how many blocks both forms of the traces were compared, which
    /// must agree.
    pub fn checked(&self, complete: bool) -> Result<(Vec<PathBuf>, u64)> {
        let outcome = if complete { "exit 0" } else { "exit 3" };
        let (mut graphs, mut compared) = (Vec::new(), 0);
        for trace in &self.traces {
            let (graph, check) = made(trace, outcome)?;
            let number = |key: &str| check[key].as_u64().unwrap_or(0);
            ensure!(number("mismatches") == 0, "{check:#}");
            compared += number("compared");
            graphs.push(graph);
        }
        Ok((graphs, compared))
    }
}

/// Makes and checks the graph of a trace; the graph, and what the middle says of both forms.
fn made(trace: &Path, outcome: &str) -> Result<(PathBuf, Value)> {
    let graph = trace.with_extension("tg");
    let said = middle(trace, &graph)?.expect(outcome)?;
    verify(&graph)?;
    compare(trace, &graph)?;
    same_order(trace, &graph)?;
    let mut said: Value = serde_json::from_slice(&said.stdout).with_context(|| said.to_string())?;
    Ok((graph, said["check"].take()))
}

/// Files of a directory with an extension, sorted by name.
pub fn files(dir: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// `contech-middle trace graph --json`; the caller judges the exit code.
pub fn middle(trace: &Path, graph: &Path) -> Result<Finished> {
    let mut command = Command::new(Outputs::get().command("contech-middle"));
    command.arg(trace).arg(graph).arg("--json");
    run(&mut command)
}

/// The place of the fine graph of a trace, in which each synchronisation is a task.
#[must_use]
pub fn fine(graph: &Path) -> PathBuf {
    graph.with_extension("fine.tg")
}

/// Makes the fine graph of a trace, and compares its order with that of the usual graph.
///
/// # Errors
/// When the graphs do not order the same.
pub fn same_order(trace: &Path, graph: &Path) -> Result<()> {
    let fine = fine(graph);
    let mut command = Command::new(Outputs::get().command("contech-middle"));
    command.arg("--fine").arg(trace).arg(&fine);
    run(&mut command)?;
    happens_before::same(&fine, graph).with_context(|| trace.display().to_string())
}

/// `contech-middle --compare trace graph`.
///
/// # Errors
/// When the graph does not hold what the trace recorded.
pub fn compare(trace: &Path, graph: &Path) -> Result<()> {
    let mut command = Command::new(Outputs::get().command("contech-middle"));
    command.arg("--compare").arg(trace).arg(graph);
    run(&mut command)?.ok().map(drop)
}

/// What `contech-backend verify graph` does.
///
/// # Errors
/// When the graph is not well formed.
pub fn verify(graph: &Path) -> Result<()> {
    let verified = taskgraph::map(graph).and_then(|graph| graph.verify());
    verified.map(drop).with_context(|| graph.display().to_string())
}

/// `contech-backend ANALYSIS... graph`: the analysis' name comes first, options after the graph.
pub fn backend(analysis: &[&str], graph: &Path) -> Result<Finished> {
    let (name, options) = analysis.split_first().context("an analysis has a name")?;
    let mut command = Command::new(Outputs::get().command("contech-backend"));
    command.arg(name).arg(graph).args(options);
    run(&mut command)
}

/// The JSON that an analysis prints.
pub fn backend_json(analysis: &[&str], graph: &Path) -> Result<Value> {
    let mut words = analysis.to_vec();
    words.extend(["--format", "json"]);
    let done = backend(&words, graph)?.ok()?;
    let value: Value = serde_json::from_slice(&done.stdout).with_context(|| done.to_string())?;
    if value.is_null() {
        bail!("empty JSON: {done}");
    }
    Ok(value)
}

/// The graph of a program with tasks that sorts.
///
/// # Errors
/// When it cannot be made.
pub fn sorted(scratch: &Scratch) -> Result<PathBuf> {
    let program = scratch.join("sort");
    let mut build = Command::new(Outputs::get().cc());
    build.args(["-g", "-O1", "-fopenmp"]);
    build.arg(workspace().join("tests/programs/omp_sort.c"));
    run(build.arg("-o").arg(&program))?.ok()?;
    let mut record = Command::new(program);
    record.args(["1000"]).env("OMP_NUM_THREADS", "2");
    let graphs = Recording::of(&mut record, &scratch.join("traces"))?.graphs(true)?;
    graphs.into_iter().next().context("a graph")
}
