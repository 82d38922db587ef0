//! `cargo bench-scale`: the case studies of `bench/scaling` under `contech scale`, as tables and a dated file.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use contech_bench::kept::Kept;
use contech_bench::scale::{Line, both, comparison, name, scaled, table};
use contech_bench::{ahead, record};
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir};
use contech_tests::scaling::CASES;

/// Diagnoses of programs that do not scale, the observer's cost, and the same from recordings
#[derive(Debug, Parser)]
struct Arguments {
    /// Programs to measure (all)
    names: Vec<String>,
    /// Runs of each
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: u32,
    /// Keep the lines that a run with the same --runs and --threads had before it was cut, of the programs of that time
    #[arg(long)]
    resume: bool,
    /// Leave out the recordings
    #[arg(long)]
    live: bool,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some(name) = arguments
        .names
        .iter()
        .find(|name| !CASES.iter().any(|case| case.name() == name.as_str()))
    {
        bail!(
            "unknown program {name}; known are {}",
            CASES.map(|case| case.name()).join(" ")
        );
    }
    debian::ensure(&debian::TEST_PACKAGES)?;
    Outputs::locate()?;
    let dir = target_dir().join("bench").join("scale");
    let same = format!("{} runs, {} threads", arguments.runs, arguments.threads);
    let mut kept = Kept::open(&dir.join("lines"), &same, arguments.resume)?;
    let (mut rows, mut pairs) = (Vec::new(), Vec::new());
    for case in &CASES {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|name| name == case.name()) {
            continue;
        }
        let program = case.build(&dir)?;
        let planted = case.planted.iter().map(|words| (words, true));
        for (words, planted) in planted.chain(case.fixed.iter().map(|words| (words, false))) {
            let before = kept.rows().iter().find_map(|line| match line {
                Line::Scaled(row) if row.name == name(case, words) => Some(row.clone()),
                _ => None,
            });
            let row = match before {
                Some(row) => row,
                None => {
                    let (threads, runs) = (arguments.threads, arguments.runs);
                    let row = scaled(case, &program, words, planted, threads, runs)?;
                    kept.add(&Line::Scaled(row.clone()))?;
                    row
                }
            };
            eprintln!("{}", row.line(arguments.threads));
            rows.push(row);
        }
        // The sizes are small, because the recordings must be converted as well.
        if let (false, Some(words)) = (arguments.live, case.planted.first()) {
            let before = kept.rows().iter().find_map(|line| match line {
                Line::Both(row) if row.name == name(case, words) => Some(row.clone()),
                _ => None,
            });
            let pair = match before {
                Some(pair) => pair,
                None => {
                    let pair = both(case, &program, words, arguments.threads, &dir)?;
                    kept.add(&Line::Both(pair.clone()))?;
                    pair
                }
            };
            eprintln!("{}", pair.line());
            pairs.push(pair);
        }
    }
    let right = rows
        .iter()
        .filter(|row| row.right() || row.absent(arguments.threads))
        .count();
    let text = format!(
        "{}\n{} runs of each, the one in the middle; {} threads. *Right*: the first finding names the planted cause, or in a \
         fixed variant no finding of 10% or more does; *scales here*: this machine does not show what was planted. {} *Observed/native*: wall time, smallest over smallest.\n\n{} of {} are \
         right.\n\n{}\n## Measured and recorded\n\nShares of the processors' time of the planted variants, by the observer and \
         from a task graph of a recorded (slower) run.\n\n{}",
        record::heading("Why programs do not scale"),
        arguments.runs,
        arguments.threads,
        ahead::words(),
        right,
        rows.len(),
        table(&rows, arguments.threads),
        comparison(&pairs)
    );
    record::publish(&text, "scale", arguments.dry)
}
