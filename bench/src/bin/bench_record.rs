//! `cargo bench-record`: what recording costs on this machine, as a table and a dated file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use contech_bench::middle;
use contech_bench::pairs::{Pair, Sink};
use contech_bench::programs::{PROGRAMS, Program};
use contech_bench::record::{self, Row};
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir};

/// Compares native and recorded runs pairwise and writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Programs to measure (all)
    names: Vec<String>,
    /// Runs of each, native and recorded alternating
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Where kept traces go: a directory in memory
    #[arg(long, default_value = "/dev/shm")]
    traces: PathBuf,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    debian::ensure(&debian::DEMO_PACKAGES)?;
    Outputs::locate()?;
    let dir = target_dir().join("bench");
    let scratch = arguments
        .traces
        .join(format!("contech-bench-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let rows: Result<Vec<Row>> = chosen(arguments)?
        .into_iter()
        .map(|program| {
            let pair = Pair::new(program, &dir)?;
            let trace = scratch.join(program.name()).with_extension("bin");
            let null = pair.compare(Sink::Null, arguments.runs, &trace)?;
            let kept = pair.compare(Sink::Kept, arguments.runs, &trace)?;
            let middle = middle::convert(&trace, 1, 2)?;
            fs::remove_file(&trace)?;
            eprintln!(
                "{}: null {:.2}, kept {:.2}, middle {:.0} MB/s",
                program.name(),
                null.user,
                kept.cpu,
                middle.mb_per_cpu_second
            );
            Ok(Row {
                name: program.name(),
                null,
                kept,
                middle,
            })
        })
        .collect();
    fs::remove_dir_all(&scratch)?;
    let table = record::render(&rows?, arguments.runs);
    println!("{table}");
    if !arguments.dry {
        println!("written: {}", record::save(&table, "recording")?.display());
    }
    Ok(())
}

fn chosen(arguments: &Arguments) -> Result<Vec<Program>> {
    if arguments.names.is_empty() {
        return Ok(PROGRAMS.to_vec());
    }
    let find = |name: &String| PROGRAMS.into_iter().find(|p| p.name() == name);
    let programs: Vec<Program> = arguments.names.iter().filter_map(find).collect();
    if programs.len() != arguments.names.len() {
        let known: Vec<_> = PROGRAMS.iter().map(Program::name).collect();
        bail!("unknown program; known are {}", known.join(" "));
    }
    Ok(programs)
}
