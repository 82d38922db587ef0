//! How fast the analyses read graphs, and the same question put to cachegrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use contech_tests::program::is_cxx;

use crate::form::Form;
use crate::graph::convert;
use crate::measure::{Usage, measure};
use crate::programs::{PROGRAMS, Program};
use crate::synthetic::{Kind, write};

/// The sizes of the curves.
pub const SIZES: &str = "1K..256M";
/// Of the cache that cachegrind models too.
const FIRST_LEVEL: (&str, &str) = ("32K", "8");

/// A graph to analyse.
#[derive(Debug, Clone)]
pub struct Input {
    /// What the table calls it.
    pub name: String,
    /// Its goals are those of affine programs.
    pub affine: bool,
    /// The file.
    pub graph: PathBuf,
    /// Accesses in it.
    pub accesses: u64,
}

/// What an analysis of a graph costs: the least of some runs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// User and system time, seconds.
    pub cpu: f64,
    /// Wall time, seconds.
    pub wall: f64,
    /// Peak resident memory, bytes.
    pub peak_bytes: u64,
}

impl Cost {
    fn of(used: Usage) -> Self {
        Self {
            // A clock tick at least, so that rates stay numbers.
            cpu: used.cpu().as_secs_f64().max(0.001),
            wall: used.wall.as_secs_f64(),
            peak_bytes: used.peak_bytes,
        }
    }

    fn least(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
            peak_bytes: self.peak_bytes.max(other.peak_bytes),
        }
    }
}

/// Runs `contech-backend` with these words on a graph, `runs` times.
///
/// # Errors
/// When it fails.
pub fn analyse(words: &[&str], graph: &Path, runs: usize) -> Result<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..runs.max(1) {
        let (name, options) = words.split_first().context("an analysis has a name")?;
        let mut command = Command::new(Outputs::get().command("contech-backend"));
        command.arg(name).arg(graph).args(options);
        let (_, used) = measure(&mut command)?;
        let cost = Cost::of(used);
        best = Some(best.map_or(cost, |best| best.least(cost)));
    }
    best.context("no run")
}

/// A graph of a synthetic trace.
///
/// # Errors
/// When it cannot be written.
pub fn synthetic(kind: Kind, accesses: u64, dir: &Path) -> Result<Input> {
    let trace = dir.join("synthetic.bin");
    write(kind, accesses, &trace)?;
    let graph = dir.join(format!("synthetic-{}.tg", kind.name()));
    convert(&trace, &graph, 2, 1)?;
    fs::remove_file(&trace)?;
    input(
        format!("synthetic {}", kind.name()),
        kind == Kind::Affine,
        graph,
    )
}

fn input(name: String, affine: bool, graph: PathBuf) -> Result<Input> {
    let accesses = taskgraph::map(&graph)?.summary().accesses;
    Ok(Input {
        name,
        affine,
        graph,
        accesses,
    })
}

/// One of the measured programs, by name.
///
/// # Errors
/// When there is none.
pub fn program(name: &str) -> Result<&'static Program> {
    let found = PROGRAMS.iter().find(|program| program.name() == name);
    found.with_context(|| format!("no program {name} in bench/programs"))
}

/// Compiles a program in one form.
///
/// # Errors
/// With the compiler's messages.
fn compile(program: &Program, form: Form, dir: &Path) -> Result<PathBuf> {
    let source = program.source();
    let to = dir.join(format!("{}.{}", program.name(), form.name()));
    let mut command = Command::new(form.compiler(is_cxx(&source)));
    command.env("CONTECH_OPTIONS", form.options());
    command.args(["-O2", "-gdwarf-4", "-pthread", "-w"]);
    command.arg(&source).arg("-lm").arg("-o").arg(&to);
    run(&mut command)?.ok()?;
    Ok(to)
}

/// Records a program and makes its graph; what both took.
///
/// # Errors
/// When a step fails.
pub fn recorded(name: &str, affine: bool, reps: u64, dir: &Path) -> Result<(Input, f64)> {
    let program = program(name)?;
    let trace = dir.join(format!("{name}.bin"));
    let mut command = Command::new(compile(program, Form::Fast, dir)?);
    command.arg(reps.to_string()).env("CONTECH_TRACE", &trace);
    let (_, used) = measure(&mut command)?;
    let graph = trace.with_extension("tg");
    let made = convert(&trace, &graph, 2, 1)?;
    fs::remove_file(&trace)?;
    let cpu = used.cpu().as_secs_f64() + made.cpu;
    Ok((input(name.to_owned(), affine, graph)?, cpu))
}

/// One program seen by cachegrind and by us.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The program.
    pub name: String,
    /// CPU seconds of the native run, of cachegrind, and of recording, graph and one cache.
    pub seconds: [f64; 3],
    /// The same with all 19 sizes and all ways instead of one cache.
    pub all_seconds: f64,
    /// Data accesses and first-level misses: cachegrind's.
    pub theirs: (u64, u64),
    /// Ours.
    pub ours: (u64, u64),
}

/// Compares one cache of 32K, 8 ways and 64-byte lines.
///
/// # Errors
/// When a step fails.
pub fn cachegrind(name: &str, reps: u64, dir: &Path) -> Result<Comparison> {
    let native = compile(program(name)?, Form::Native, dir)?;
    let (_, plain) = measure(Command::new(&native).arg(reps.to_string()))?;
    let log = dir.join("cachegrind.log");
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"]);
    command.args(["--LL=8388608,16,64", "--cachegrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", log.display()));
    let (_, theirs) = measure(command.arg(&native).arg(reps.to_string()))?;
    let text = fs::read_to_string(&log)?;
    let (input, made) = recorded(name, false, reps, dir)?;
    let (size, ways) = FIRST_LEVEL;
    let one = ["cache", "--sizes", size, "--ways", ways];
    let cost = analyse(&one, &input.graph, 1)?;
    let all = analyse(&["cache", "--sizes", SIZES], &input.graph, 1)?;
    let ours = point(&one, &input.graph)?;
    fs::remove_file(&input.graph)?;
    Ok(Comparison {
        name: name.to_owned(),
        seconds: [
            plain.cpu().as_secs_f64(),
            theirs.cpu().as_secs_f64(),
            made + cost.cpu,
        ],
        all_seconds: made + all.cpu,
        theirs: (said(&text, "D refs:")?, said(&text, "D1 misses:")?),
        ours,
    })
}

/// Accesses and misses of the only cache of an analysis.
fn point(words: &[&str], graph: &Path) -> Result<(u64, u64)> {
    let mut command = Command::new(Outputs::get().command("contech-backend"));
    command.arg(words[0]).arg(graph).args(&words[1..]);
    let (out, _) = measure(command.args(["--format", "json"]))?;
    let report: serde_json::Value = serde_json::from_slice(&out)?;
    let number = |key: &str| report["points"][0][key].as_u64();
    let found = number("accesses").zip(number("misses"));
    found.context("a point with accesses and misses")
}

/// The first number after a title in cachegrind's summary, which has any number of blanks in it.
fn said(log: &str, title: &str) -> Result<u64> {
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        if let Some(rest) = words.join(" ").strip_prefix(title) {
            let number = rest.split_whitespace().next().unwrap_or("");
            return Ok(number.replace(',', "").parse()?);
        }
    }
    bail!("cachegrind said no '{title}':\n{log}")
}
