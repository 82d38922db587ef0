//! How fast the analyses read graphs, also in comparison with cachegrind.

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

pub const SIZES: &str = "1K..256M";
/// Size and ways of the cache that cachegrind models too.
const FIRST_LEVEL: (&str, &str) = ("32K", "8");

#[derive(Debug, Clone)]
pub struct Input {
    /// The name in the table.
    pub name: String,
    /// Whether the goals of affine programs apply.
    pub affine: bool,
    pub graph: PathBuf,
    /// Accesses in the graph.
    pub accesses: u64,
}

/// What an analysis of a graph costs: the least of several runs.
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
            // The time is at least one clock tick, so that rates stay finite.
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

pub fn program(name: &str) -> Result<&'static Program> {
    let found = PROGRAMS.iter().find(|program| program.name() == name);
    found.with_context(|| format!("no program {name} in bench/programs"))
}

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

/// Records a program and makes its graph; returns the input, and the seconds that both steps took.
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

/// One program under cachegrind and under our analyses.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub name: String,
    /// CPU seconds of the native run, of cachegrind, and of recording, graph and one cache.
    pub seconds: [f64; 3],
    /// CPU seconds of recording, graph, and all 19 sizes with all ways instead of one cache.
    pub all_seconds: f64,
    /// cachegrind's data accesses and first-level misses.
    pub theirs: (u64, u64),
    /// Our data accesses and first-level misses.
    pub ours: (u64, u64),
}

/// Compares one cache of 32K, 8 ways and 64-byte lines.
pub fn cachegrind(name: &str, reps: u64, dir: &Path) -> Result<Comparison> {
    let native = compile(program(name)?, Form::Native, dir)?;
    let mut native = Command::new(&native);
    let (_, plain) = measure(native.arg(reps.to_string()))?;
    let (text, theirs) = theirs(&native, dir)?;
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

/// Runs a command under cachegrind, with one cache of 32K, 8 ways and 64-byte lines. Returns what cachegrind says.
pub fn theirs(native: &Command, dir: &Path) -> Result<(String, Usage)> {
    let log = dir.join("cachegrind.log");
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"]);
    command.args(["--LL=8388608,16,64", "--cachegrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", log.display()));
    let (_, used) = measure(command.arg(native.get_program()).args(native.get_args()))?;
    Ok((fs::read_to_string(&log)?, used))
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

/// The first number after a title in cachegrind's summary, which contains varying numbers of blanks.
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
