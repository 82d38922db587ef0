//! `cargo bench-scale`: the case studies of `bench/scaling` under `contech scale`, as tables and a dated file.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use contech_bench::record;
use contech_bench::scale::{both, comparison, scaled, table};
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
    let (mut rows, mut pairs) = (Vec::new(), Vec::new());
    for case in &CASES {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|name| name == case.name()) {
            continue;
        }
        let program = case.build(&dir)?;
        let planted = case.planted.iter().map(|words| (words, true));
        for (words, planted) in planted.chain(case.fixed.iter().map(|words| (words, false))) {
            let row = scaled(
                case,
                &program,
                words,
                planted,
                arguments.threads,
                arguments.runs,
            )?;
            eprintln!(
                "{}: {:?}, observed/native {:.3}",
                row.name,
                row.findings.first(),
                row.cost[0]
            );
            rows.push(row);
        }
        // Small sizes: what is recorded is to be converted as well.
        if let (false, Some(words)) = (arguments.live, case.planted.first()) {
            pairs.push(both(case, &program, words, arguments.threads, &dir)?);
        }
    }
    let right = rows
        .iter()
        .filter(|row| row.right() || row.absent(arguments.threads))
        .count();
    let text = format!(
        "{}\n{} runs of each, the one in the middle; {} threads. *Right*: the first finding names the planted cause, or in a \
         fixed variant no finding of 10% or more does; *scales here*: this machine does not show what was planted. *Observed/native*: wall time, smallest over smallest.\n\n{} of {} are \
         right.\n\n{}\n## Measured and recorded\n\nShares of the processors' time of the planted variants, by the observer and \
         from a task graph of a recorded (slower) run.\n\n{}",
        record::heading("Why programs do not scale"),
        arguments.runs,
        arguments.threads,
        right,
        rows.len(),
        table(&rows, arguments.threads),
        comparison(&pairs)
    );
    record::publish(&text, "scale", arguments.dry)
}
