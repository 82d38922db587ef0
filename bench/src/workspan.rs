//! What the on-line work/span profiler costs: the Cilk-style programs, serial, compared with native runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::Outputs;
use contech_tests::process::run;
use serde_json::Value;

use crate::measure::measure;
use crate::spread::{geometric_mean, median, minimum, spread};

/// A program, the flags that make it larger, and its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Name of its source in `tests/programs/cilk`.
    pub name: &'static str,
    defines: &'static [&'static str],
    arguments: &'static [&'static str],
}

const fn program(
    name: &'static str,
    defines: &'static [&'static str],
    arguments: &'static [&'static str],
) -> Program {
    Program {
        name,
        defines,
        arguments,
    }
}

/// The eleven programs of the Cilkprof issue, which take a tenth to half of a second each.
pub const PROGRAMS: [Program; 11] = [
    program("quicksort", &["-DN=4000000"], &[]),
    program("fib", &[], &["37"]),
    program("matmul", &["-DN=512", "-DCOARSENING=32"], &[]),
    program("bfs", &["-DSIDE=2048"], &[]),
    program("nqueens", &["-DN=11"], &[]),
    program("strassen", &["-DN=1024", "-DBASE=32"], &[]),
    program("cilksort", &["-DN=4000000"], &[]),
    program("fft", &["-DN=1048576"], &[]),
    program("heat", &["-DN=4096"], &[]),
    program("lu", &["-DN=768"], &[]),
    program("cholesky", &["-DN=768"], &[]),
];

#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    /// Seconds of user CPU, natively and with the profiler, round by round.
    native: Vec<f64>,
    profiled: Vec<f64>,
    /// Of the profiler: invocations, deepest stack, call sites, list elements; and the peak memory in bytes of both
    /// runs.
    invocations: u64,
    depth: u64,
    sites: usize,
    elements: u64,
    peak: [u64; 2],
}

impl Row {
    /// Smallest profiled over smallest native time.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        minimum(&self.profiled) / minimum(&self.native)
    }
}

pub fn row(program: &Program, runs: usize, dir: &Path) -> Result<Row> {
    std::fs::create_dir_all(dir)?;
    let native = build(program, dir, "native")?;
    let profiled = build(program, dir, "profiled")?;
    let profile = dir.join(program.name).with_extension("json");
    let command = |executable: &Path| {
        let mut command = Command::new(executable);
        command
            .args(program.arguments)
            .env("CONTECH_PROFILE", &profile)
            .stderr(std::process::Stdio::null());
        command
    };
    let mut row = Row {
        name: program.name,
        native: Vec::new(),
        profiled: Vec::new(),
        invocations: 0,
        depth: 0,
        sites: 0,
        elements: 0,
        peak: [0; 2],
    };
    for round in 0..=runs {
        let (expected, of_native) = measure(&mut command(&native))?;
        let (got, of_profiled) = measure(&mut command(&profiled))?;
        ensure!(expected == got, "{}: outputs differ", program.name);
        // The first round warms up.
        if round > 0 {
            row.native.push(of_native.user.as_secs_f64());
            row.profiled.push(of_profiled.user.as_secs_f64());
        }
        row.peak = [of_native.peak_bytes, of_profiled.peak_bytes];
    }
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&profile)?)?;
    let sites = said["sites"].as_array().context("sites")?;
    row.invocations = sites.iter().filter_map(|s| s["count"].as_u64()).sum();
    row.sites = sites.len();
    row.depth = said["depth"].as_u64().unwrap_or(0);
    row.elements = said["elements"].as_u64().unwrap_or(0);
    Ok(row)
}

fn build(program: &Program, dir: &Path, form: &str) -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = dir.join(format!("{}.{form}", program.name));
    let mut compiler = if form == "native" {
        let mut clang = Command::new("clang-22");
        clang.arg("-I").arg(root.join("../instrument/cc/include"));
        clang
    } else {
        let mut driver = Command::new(Outputs::get().command("contech-cc"));
        driver.arg("--contech-mode=workspan");
        driver
    };
    compile(program, &mut compiler, &to)?;
    Ok(to)
}

fn compile(program: &Program, compiler: &mut Command, to: &Path) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    compiler
        .args(["-O2", "-w"])
        .args(program.defines)
        .arg(root.join(format!("../tests/programs/cilk/{}.c", program.name)))
        .args(["-lm", "-o"])
        .arg(to);
    run(compiler)?.ok()?;
    Ok(())
}

/// The table, with the goals below it.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | native s | profiled / native | median | spread | invocations | ns each | depth D | sites S | list elements | memory added KiB |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let rounds: Vec<f64> = row
            .profiled
            .iter()
            .zip(&row.native)
            .map(|(p, n)| p / n)
            .collect();
        let added = minimum(&row.profiled) - minimum(&row.native);
        let _ = writeln!(
            text,
            "| {} | {:.3} | {:.2} | {:.2} | {:.0}% | {} | {:.1} | {} | {} | {} | {} |",
            row.name,
            minimum(&row.native),
            row.ratio(),
            median(&rounds),
            100.0 * spread(&rounds),
            row.invocations,
            added.max(0.0) * 1e9 / row.invocations.max(1) as f64,
            row.depth,
            row.sites,
            row.elements,
            row.peak[1].saturating_sub(row.peak[0]) / 1024,
        );
    }
    text
}

/// The goals of the eleven programs.
#[must_use]
pub fn goals(rows: &[Row]) -> String {
    let all: Vec<f64> = rows.iter().map(Row::ratio).collect();
    let others: Vec<f64> = rows
        .iter()
        .filter(|r| r.name != "fib")
        .map(Row::ratio)
        .collect();
    let fib = rows.iter().find(|r| r.name == "fib").map(Row::ratio);
    format!(
        "Geometric mean {:.2} (goal 1.3; without fib {:.2}); fib {:.1} (goal 3; Cilkprof's paper: 1.9 and 7.4, over serial \
         runs that keep Cilk's frames, which ours do not have).\n",
        geometric_mean(&all),
        geometric_mean(&others),
        fib.unwrap_or(f64::NAN),
    )
}
