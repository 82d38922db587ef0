//! `cargo bench-refine`: partition refinement against fixed partition sizes, as tables and a dated file.

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::refine::{INPUTS, THREADS, row, table};
use contech_bench::{ahead, record};
use contech_tests::debian;
use contech_tests::outputs::target_dir;
use contech_tests::scaling::Case;

/// Sweeps fixed partition sizes on the particle grid and compares what refinement finds; writes a dated record under
/// bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_values_t = THREADS)]
    threads: Vec<u32>,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<()> {
    debian::ensure(&debian::TEST_PACKAGES)?;
    let grid = Case::named("grid")?.build(&target_dir().join("bench/refine"))?;
    let cores =
        std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1));
    let mut rows = Vec::new();
    for threads in arguments.threads.iter().copied() {
        for input in INPUTS {
            let row = row(&grid, input, threads)?;
            // Each row is printed at once, so that an interrupted run leaves what it had.
            eprintln!("{}", row.line(cores));
            rows.push(row);
        }
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let text = format!(
        "{}\nbench/scaling/grid: 256 x 256 cells of which a quarter has particles, two phases of four colours. Refinement ends at \
         a side, from a side of 2 and from 2 P parts of a colour; then a step with each fixed side and with those two, in \
         turn. Times: a twentieth of the later half of the steps is shorter (what else the machine does makes steps longer). Last \
         columns: the two starts as fixed sides, over the best. {} Load average at the end: {}.\n\n{}",
        record::heading("Partition refinement"),
        ahead::words(),
        load.split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" "),
        table(&rows, cores)
    );
    record::publish(&text, "refine", arguments.dry)
}
