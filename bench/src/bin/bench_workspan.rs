//! `cargo bench-workspan`: what the on-line work/span profiler costs, as a table and a dated file.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use contech_bench::record;
use contech_bench::workspan::{PROGRAMS, goals, row, table};
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir};

/// Compares programs under the on-line work/span profiler with native ones; writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Programs to measure (all)
    names: Vec<String>,
    /// Rounds of each: native, profiled
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<()> {
    let known: Vec<&str> = PROGRAMS.iter().map(|p| p.name).collect();
    if let Some(name) = arguments
        .names
        .iter()
        .find(|n| !known.contains(&n.as_str()))
    {
        bail!("unknown program {name}; known are {}", known.join(" "));
    }
    debian::ensure(&debian::TEST_PACKAGES)?;
    Outputs::locate()?;
    let dir = target_dir().join("bench").join("workspan");
    let wanted =
        |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|n| n == name);
    let mut rows = Vec::new();
    for program in PROGRAMS.iter().filter(|p| wanted(p.name)) {
        let measured = row(program, arguments.runs, &dir)?;
        eprintln!("{}: {:.2}", measured.name, measured.ratio());
        rows.push(measured);
    }
    let text = format!(
        "{}\nUser CPU at -O2, smallest of {} rounds in turn after one to warm up.\n\n{}\n{}",
        record::heading("On-line work and span"),
        arguments.runs,
        table(&rows),
        goals(&rows),
    );
    record::publish(&text, "workspan", arguments.dry)
}
