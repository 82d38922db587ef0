//! One recorded run: its traces and graphs, and what the tools say of them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::happens_before;
use crate::outputs::{tool, workspace};
use crate::process::{Finished, run};
use crate::scratch::{Scratch, files};
use crate::toolchain::Toolchain;

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

    /// Runs a command that ends with exit code 0 and leaves one trace, which is whole; how it ended,
    /// and the graph of the trace ([`Recording::graphs`]).
    pub fn whole(command: &mut Command, dir: &Path) -> Result<(Finished, PathBuf)> {
        let recording = Self::of(command, dir)?;
        let run = recording.run.clone().ok()?;
        let mut graphs = recording.graphs(true)?;
        ensure!(graphs.len() == 1, "{} traces of {run}", graphs.len());
        Ok((run, graphs.remove(0)))
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
        let (mut graphs, mut compared) = (Vec::new(), 0);
        for trace in &self.traces {
            let (graph, blocks) = made(trace, complete)?;
            compared += blocks;
            graphs.push(graph);
        }
        Ok((graphs, compared))
    }
}

/// Makes the graph of a trace and checks it, as [`Recording::checked`] does; the graph, and in how
/// many blocks both forms were compared.
pub fn made(trace: &Path, complete: bool) -> Result<(PathBuf, u64)> {
    let graph = trace.with_extension("tg");
    let outcome = if complete { "exit 0" } else { "exit 3" };
    let check = middle(trace, &graph)?.expect(outcome)?.json()?["check"].take();
    let number = |key: &str| check[key].as_u64().unwrap_or(0);
    let (mismatches, compared) = (number("mismatches"), number("compared"));
    ensure!(mismatches == 0, "{mismatches} mismatches in {compared} blocks: {check:#}");
    verify(&graph)?;
    compare(trace, &graph)?;
    same_order(trace, &graph)?;
    Ok((graph, compared))
}

/// `contech-middle trace graph --json`; the caller judges the exit code.
pub fn middle(trace: &Path, graph: &Path) -> Result<Finished> {
    merge(&[trace], graph)
}

/// `contech-middle traces graph --json`, of the ranks of a run.
pub fn merge(traces: &[impl AsRef<OsStr>], graph: &Path) -> Result<Finished> {
    run(tool("contech-middle").args(traces).arg(graph).arg("--json"))
}

/// What the middle layer says of a whole trace that has a graph.
///
/// # Errors
/// When something is missing.
pub fn told(graph: &Path) -> Result<String> {
    Ok(middle(&graph.with_extension("bin"), graph)?.ok()?.out())
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
    run(tool("contech-middle").arg("--fine").arg(trace).arg(&fine))?;
    happens_before::same(&fine, graph).with_context(|| trace.display().to_string())
}

/// `contech-middle --compare trace graph`.
///
/// # Errors
/// When the graph does not hold what the trace recorded.
pub fn compare(trace: &Path, graph: &Path) -> Result<()> {
    run(tool("contech-middle").arg("--compare").arg(trace).arg(graph))?.ok().map(drop)
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
    run(tool("contech-backend").arg(name).arg(graph).args(options))
}

/// The JSON that an analysis prints.
pub fn backend_json(analysis: &[&str], graph: &Path) -> Result<Value> {
    let mut words = analysis.to_vec();
    words.extend(["--format", "json"]);
    let done = backend(&words, graph)?.ok()?;
    let value = done.json()?;
    ensure!(!value.is_null(), "empty JSON: {done}");
    Ok(value)
}

/// Names of the functions on both sides of each race of a graph.
///
/// # Errors
/// When there is no list of races.
pub fn races(graph: &Path) -> Result<Vec<[String; 2]>> {
    let found = backend_json(&["races"], graph)?;
    let races = found["races"].as_array().context("a list of races")?;
    let name = |side: &Value| side["function"].as_str().unwrap_or("").to_owned();
    Ok(races.iter().map(|race| ["a", "b"].map(|side| name(&race[side]))).collect())
}

/// The graph of a program with tasks that sorts.
///
/// # Errors
/// When it cannot be made.
pub fn sorted(scratch: &Scratch) -> Result<PathBuf> {
    let source = workspace().join("tests/programs/omp_sort.c");
    let flags = ["-g", "-O1", "-fopenmp"];
    let mut sort = Toolchain::contech().compile(&source, &flags, &scratch.join("sort"))?;
    sort.arg("1000").env("OMP_NUM_THREADS", "2");
    Ok(Recording::whole(&mut sort, &scratch.join("traces"))?.1)
}
