//! `cargo bench-graph`: the middle layer and the library on synthetic traces, as a table and a dated file.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::graph;
use contech_bench::record::save;
use contech_bench::synthetic::{Kind, write};
use contech_tests::outputs::Outputs;

/// Measures contech-middle and the graphs it writes, and writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Largest traces: accesses of the affine ones
    #[arg(long, default_value_t = 1_000_000_000)]
    affine: u64,
    /// Largest traces: accesses of the others, with a record for every few of them
    #[arg(long, default_value_t = 100_000_000)]
    accesses: u64,
    /// Largest traces: synchronisation events
    #[arg(long, default_value_t = 4_000_000)]
    events: u64,
    /// Conversions of each; the fastest counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Where traces and graphs go
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
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

const HEAD: &str = "# Middle layer and graphs\n\n\
Synthetic traces (`bench/src/synthetic.rs`). M/s: millions of accesses (locks, barriers: synchronisation events) per second of \
user and system time of `contech-middle --threads 1`, the fastest of the runs. Two cores: wall time with one thread over that with two. \
Peak: resident memory. Bytes: of graph per access or event. Reading: library, one thread; open, then a task with its first action, in \
a graph just opened and in one in use; all accesses one by one, and with loops as runs.\n\n\
| trace | M | trace MB | M/s | two cores | peak MB | bytes | open ms | task cold ms | warm ms | scan M/s | runs M/s |\n\
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";

fn run(arguments: &Arguments) -> Result<()> {
    Outputs::locate()?;
    let scratch = arguments
        .dir
        .join(format!("contech-bench-graph-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let mut table = HEAD.to_owned();
    let done = fill(arguments, &scratch, &mut table);
    fs::remove_dir_all(&scratch)?;
    done?;
    println!("{table}");
    if !arguments.dry {
        println!("written: {}", save(&table, "graph")?.display());
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn fill(arguments: &Arguments, scratch: &std::path::Path, table: &mut String) -> Result<()> {
    for kind in Kind::ALL {
        let most = match kind {
            Kind::Affine => arguments.affine,
            k if k.is_sync() => arguments.events,
            _ => arguments.accesses,
        };
        let smaller = [most / 1000, most / 10, most];
        for amount in smaller.into_iter().filter(|a| *a >= 100_000) {
            let trace = scratch.join("trace.bin");
            let amount = write(kind, amount, &trace)?;
            let graph = trace.with_extension("tg");
            let one = graph::convert(&trace, &graph, 1, arguments.runs)?;
            let two = graph::convert(&trace, &graph, 2, arguments.runs)?;
            let reading = graph::read(&graph)?;
            let mega = amount as f64 / 1e6;
            let _ = writeln!(
                table,
                "| {} | {mega:.1} | {:.1} | {:.1} | {:.2} | {:.0} | {:.4} | {:.2} | {:.2} | {:.3} | {:.0} | {:.0} |",
                kind.name(),
                fs::metadata(&trace)?.len() as f64 / 1e6,
                mega / one.cpu,
                one.wall / two.wall,
                two.peak_bytes as f64 / 1e6,
                fs::metadata(&graph)?.len() as f64 / amount as f64,
                reading.open_ms,
                reading.cold_ms,
                reading.warm_ms,
                reading.scan,
                reading.compact,
            );
            eprintln!("{}", table.lines().last().unwrap_or_default());
            fs::remove_file(&trace)?;
        }
    }
    Ok(())
}
