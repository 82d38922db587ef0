//! The goals of making, reading and analysing graphs, on programs of our own and Debian's, beside other binaries and
//! beside cachegrind in the same run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::Outputs;
use serde::{Deserialize, Serialize};
use taskgraph::{Mmap, Piece, TaskGraph};

use crate::analyses::{SIZES, analyse, program, theirs};
use crate::form::Form;
use crate::graph::convert;
use crate::measure::{measure, thread_seconds};
use crate::real::PACKAGES;
use crate::subject::compile;

/// The programs, with the repetitions of our own, and the part of a kept run's input that Debian's work on.
pub const PROGRAMS: [(&str, usize); 8] = [
    ("tree", 6),
    ("hash", 16),
    ("bfs", 30),
    ("quicksort", 2),
    ("bzip2", 10),
    ("lz4", 8),
    ("lua5.4", 8),
    ("zopfli", 10),
];

/// What one program costs, with the tools of one folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pace {
    accesses: u64,
    graph_bytes: u64,
    /// CPU seconds of the middle layer on one core, of the report, and of the curve of 19 sizes with 4 ways.
    middle: f64,
    report: f64,
    curve: f64,
    /// CPU seconds of reading in batches and one by one; `None` if this library does not know the graph.
    reading: Option<[f64; 2]>,
}

/// Builds a program in a form below `dir`. Returns a command that runs it.
fn command((name, part): (&str, usize), form: Form, dir: &Path) -> Result<Command> {
    if let Some(package) = PACKAGES.iter().find(|package| package.name == name) {
        return package.command(form, part, dir);
    }
    let to = dir.join(form.name());
    fs::create_dir_all(&to)?;
    let mut command = Command::new(compile(program(name)?, "-O2", form, &to)?.executable);
    command.arg(part.to_string());
    Ok(command)
}

/// Measures one of [`PROGRAMS`] with the tools in use.
pub fn measured(name: &str, dir: &Path) -> Result<Pace> {
    let which = PROGRAMS.into_iter().find(|known| known.0 == name);
    let (trace, graph) = (dir.join("pace.bin"), dir.join("pace.tg"));
    let mut run = command(which.context("no such program")?, Form::Fast, dir)?;
    measure(run.env("CONTECH_TRACE", &trace))?;
    let middle = convert(&trace, &graph, 1, 2)?.cpu;
    fs::remove_file(&trace)?;
    let page = dir.join("pace.html");
    let report = analyse(&["report", "-o", &page.to_string_lossy()], &graph, 1)?.cpu;
    let curve = analyse(&["cache", "--sizes", SIZES, "--ways", "4"], &graph, 2)?.cpu;
    let stats = Command::new(Outputs::get().command("contech-backend"))
        .args(["stats", "--format", "json"])
        .arg(&graph)
        .output()?;
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout)?;
    let reading = match taskgraph::map(&graph) {
        Ok(graph) => Some([least(&graph, batches)?, least(&graph, one_by_one)?]),
        Err(_) => None,
    };
    let graph_bytes = fs::metadata(&graph)?.len();
    fs::remove_file(&graph)?;
    Ok(Pace {
        accesses: stats["accesses"].as_u64().context("a number")?,
        graph_bytes,
        middle,
        report,
        curve,
        reading,
    })
}

type Read = fn(&taskgraph::Task<'_, Mmap>) -> taskgraph::Result<u64>;

fn batches(task: &taskgraph::Task<'_, Mmap>) -> taskgraph::Result<u64> {
    let mut sum = 0;
    task.for_each_batch(|batch| {
        for piece in batch.pieces() {
            sum ^= match piece {
                Piece::Blocks(blocks) => blocks.accesses().addresses().iter().fold(0, |s, a| s ^ a),
                _ => piece.actions(),
            };
        }
    })?;
    Ok(sum)
}

fn one_by_one(task: &taskgraph::Task<'_, Mmap>) -> taskgraph::Result<u64> {
    let mut sum = 0;
    task.for_each_access(|access| sum ^= access.addr ^ access.size)?;
    Ok(sum)
}

/// CPU seconds of reading all tasks: the least of three times.
fn least(graph: &TaskGraph<Mmap>, read: Read) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let start = thread_seconds();
        for task in graph.tasks() {
            std::hint::black_box(read(&task?)?);
        }
        least = least.min(thread_seconds() - start);
    }
    Ok(least)
}

/// Measures a program with other tools: this program again, which finds them in `home`.
fn with_tools(home: &Path, name: &str, dir: &Path) -> Result<Pace> {
    let mut again = Command::new(std::env::current_exe()?);
    again.env("CONTECH_HOME", home).arg("--dir").arg(dir);
    let (out, _) = measure(again.args(["--pace", name]))?;
    Ok(serde_json::from_slice(&out)?)
}

/// The table of all programs; `old` is a folder with other tools.
#[expect(clippy::cast_precision_loss, reason = "rates for people")]
pub fn table(old: Option<&Path>, dir: &Path) -> Result<String> {
    let mut text = String::from(
        "\nCPU seconds of one run each; the middle layer on one core, the least of two runs; reading in this process, the least of three. \
         Two numbers are of these tools and of the old ones. Curve: 19 sizes of 1K to 256M, 4 ways. Cachegrind models one cache of the same run.\n\n\
         | program | M accesses | middle M/s | batches M/s | one by one M/s | report CPU s | report M/s | curve M/s | B/access | cachegrind CPU s | report / cachegrind |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, part) in PROGRAMS {
        let place = dir.join(name);
        fs::create_dir_all(&place)?;
        let new = measured(name, &place)?;
        let old = old.map(|home| with_tools(home, name, &place)).transpose()?;
        let native = command((name, part), Form::Native, &place)?;
        let valgrind = theirs(&native, &place)?.1.cpu().as_secs_f64();
        fs::remove_dir_all(&place)?;
        let mega = |of: &Pace| of.accesses as f64 / 1e6;
        let both = |digits: usize, f: &dyn Fn(&Pace) -> f64| match &old {
            Some(old) => format!("{:.digits$}, {:.digits$}", f(&new), f(old)),
            None => format!("{:.digits$}", f(&new)),
        };
        let [batches, single] = new
            .reading
            .map_or([f64::NAN; 2], |r| r.map(|s| mega(&new) / s));
        let _ = writeln!(
            text,
            "| {name} | {:.1} | {} | {batches:.0} | {single:.0} | {} | {} | {} | {} | {valgrind:.2} | {:.2} |",
            mega(&new),
            both(0, &|p| mega(p) / p.middle),
            both(2, &|p| p.report),
            both(1, &|p| mega(p) / p.report),
            both(0, &|p| mega(p) / p.curve),
            both(3, &|p| p.graph_bytes as f64 / p.accesses.max(1) as f64),
            new.report / valgrind,
        );
        eprintln!("{}", text.lines().last().unwrap_or_default());
    }
    Ok(text)
}
