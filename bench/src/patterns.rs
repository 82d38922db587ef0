//! The goals of runs that repeat a pattern: loops, whose analysis should not take longer if they repeat more often, and
//! storms of locks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;

use crate::analyses::{analyse, program};
use crate::form::Form;
use crate::graph::convert;
use crate::measure::measure;
use crate::subject::compile;

/// Programs of `bench/patterns` (without accesses) and `bench/programs` (affine), and repetitions of the short run.
const LOOPS: [(&str, u32); 4] = [
    ("loops", 10),
    ("matmul", 4),
    ("stencil", 30),
    ("triad", 400),
];
/// The long run repeats so many times more.
const MORE: u32 = 10;

/// Thousands of lock and unlock pairs of each of two threads: for the analyses, and for the middle layer.
const STORM: u32 = 1000;
const LARGE_STORM: u32 = 4000;

/// What is asked of a storm.
const ANALYSES: [&str; 14] = [
    "account",
    "parallelism",
    "blocks",
    "cache",
    "critpath",
    "workspan",
    "factors",
    "stack",
    "misses",
    "hierarchy",
    "sharing",
    "races",
    "memuse",
    "report",
];

/// A recording of a program of this folder or of `bench/programs`.
fn recorded(name: &str, times: u32, dir: &Path) -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("patterns/{name}.c"));
    let executable = match own.exists() {
        true => {
            let to = dir.join(name);
            let mut clang = Command::new(Form::Fast.compiler(false));
            clang.args(["-O2", "-gdwarf-4", "-pthread"]).arg(&own);
            run(clang.arg("-o").arg(&to))?.ok()?;
            to
        }
        false => {
            let to = dir.join(Form::Fast.name());
            fs::create_dir_all(&to)?;
            compile(program(name)?, "-O2", Form::Fast, &to)?.executable
        }
    };
    let trace = dir.join(format!("{name}.bin"));
    let mut command = Command::new(executable);
    measure(command.arg(times.to_string()).env("CONTECH_TRACE", &trace))?;
    Ok(trace)
}

/// The tables of loops and storms; `old` is a folder with other tools, which read the same graphs.
pub fn tables(old: Option<&Path>, dir: &Path) -> Result<String> {
    Ok(loops(dir)? + &storms(old, dir)?)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn loops(dir: &Path) -> Result<String> {
    let mut text = String::from(
        "\nLoops: CPU seconds of the report (goal: at most 2, whatever the trip counts), of a run and of one that repeats 10 times more.\n\n\
         | program | M blocks | M accesses | graph, bytes | report CPU s |\n|---|---:|---:|---:|---:|\n",
    );
    for (name, times) in LOOPS {
        for times in [times, MORE * times] {
            let trace = recorded(name, times, dir)?;
            let graph = trace.with_extension("tg");
            convert(&trace, &graph, 2, 1)?;
            fs::remove_file(&trace)?;
            let mapped = taskgraph::map(&graph)?;
            let summary = mapped.summary();
            let page = dir.join("loops.html");
            let cost = analyse(&["report", "-o", &page.to_string_lossy()], &graph, 2)?;
            let _ = writeln!(
                text,
                "| {name} x {times} | {:.1} | {:.1} | {} | {:.2} |",
                summary.blocks as f64 / 1e6,
                summary.accesses as f64 / 1e6,
                fs::metadata(&graph)?.len(),
                cost.cpu
            );
            eprintln!("{}", text.lines().last().unwrap_or_default());
            fs::remove_file(&graph)?;
        }
    }
    Ok(text)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn storms(old: Option<&Path>, dir: &Path) -> Result<String> {
    let mut text = String::from(
        "\nA storm of locks: two threads take and release one mutex.\n\n\
         | what | M events | M tasks | CPU s | M tasks/s | goal |\n|---|---:|---:|---:|---:|---:|\n",
    );
    let trace = recorded("storm", LARGE_STORM, dir)?;
    let graph = trace.with_extension("tg");
    let events = f64::from(4 * LARGE_STORM) / 1e3;
    let made = convert(&trace, &graph, 2, 2)?.cpu;
    fs::remove_file(&trace)?;
    let tasks = taskgraph::map(&graph)?.summary().tasks.total() as f64 / 1e6;
    fs::remove_file(&graph)?;
    let _ = writeln!(
        text,
        "| middle layer | {events:.0} | {tasks:.1} | {made:.2} | {:.1} | 4 s |",
        tasks / made
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
    let trace = recorded("storm", STORM, dir)?;
    convert(&trace, &graph, 2, 1)?;
    fs::remove_file(&trace)?;
    let tasks = taskgraph::map(&graph)?.summary().tasks.total() as f64 / 1e6;
    let events = f64::from(4 * STORM) / 1e3;
    let new = Outputs::get().dir().to_owned();
    for name in ANALYSES {
        let mut seconds = Vec::new();
        for home in [Some(new.as_path()), old].into_iter().flatten() {
            let own = || answered(home, name, &graph, dir);
            seconds.push(own()?.min(own()?));
        }
        let both = |f: &dyn Fn(f64) -> String| {
            let each: Vec<String> = seconds.iter().map(|&s| f(s)).collect();
            each.join(", ")
        };
        let _ = writeln!(
            text,
            "| {name} | {events:.0} | {tasks:.1} | {} | {} | {} |",
            both(&|s| format!("{s:.2}")),
            both(&|s| format!("{:.1}", tasks / s)),
            if name == "report" { "" } else { "30" }
        );
        eprintln!("{}", text.lines().last().unwrap_or_default());
    }
    fs::remove_file(&graph)?;
    Ok(text)
}

/// CPU seconds of an analysis of a graph by the tools of a folder, on one thread.
fn answered(home: &Path, name: &str, graph: &Path, dir: &Path) -> Result<f64> {
    let mut command = Command::new(home.join("contech-backend"));
    command.env("RAYON_NUM_THREADS", "1").arg(name).arg(graph);
    if name == "report" {
        command.arg("-o").arg(dir.join("storm.html"));
    }
    let (_, used) = measure(&mut command).with_context(|| format!("{name} of a storm"))?;
    // The time is at least one clock tick, so that rates stay finite.
    Ok(used.cpu().as_secs_f64().max(0.001))
}
