//! `cargo bench-graph`: the middle layer and the library on synthetic traces, as a table and a dated file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::graph_goals::{self, Row};
use contech_bench::record::{self, heading};
use contech_bench::synthetic::{Kind, write};
use contech_bench::{graph, stored};
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
    /// Whether programs are built, recorded and converted, too
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    programs: bool,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

const METHOD: &str = "Synthetic traces (`bench/src/synthetic.rs`). M/s: millions of accesses (locks, barriers: synchronisation events) per second of \
user and system time of `contech-middle --threads 1` on one core, the fastest of the runs. Two cores: wall time of that over that of \
two threads on two cores. Peak: resident memory, `wait4`. Bytes: of graph per access or event. Reading: library, one thread; open, then \
a task with its first action, in a graph just opened and in one in use; all accesses one by one, and with loops as runs.\n\n\
| trace | M | trace MB | M/s | two cores | peak MB | bytes | open ms | task cold ms | warm ms | scan M/s | runs M/s |\n\
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";

fn run(arguments: &Arguments) -> Result<()> {
    Outputs::locate()?;
    let scratch = arguments
        .dir
        .join(format!("contech-bench-graph-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let done = tables(arguments, &scratch);
    fs::remove_dir_all(&scratch)?;
    let text = done?;
    record::publish(&text, "graph", arguments.dry)
}

/// The whole record.
fn tables(arguments: &Arguments, scratch: &Path) -> Result<String> {
    let rows = synthetic(arguments, scratch)?;
    let stored = match arguments.programs {
        true => stored::all(scratch)?,
        false => Vec::new(),
    };
    let mut text = heading("Middle layer and graphs");
    let goals = graph_goals::table(&rows, &stored);
    let _ = write!(text, "\n## Goals\n\n{goals}\n## Traces\n\n{METHOD}");
    for row in &rows {
        let _ = writeln!(text, "{}", row.line());
    }
    let _ = write!(text, "\n## Programs\n\n{}", stored::table(&stored));
    Ok(text)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn synthetic(arguments: &Arguments, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
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
            let row = Row {
                kind,
                millions: amount as f64 / 1e6,
                trace_mb: fs::metadata(&trace)?.len() as f64 / 1e6,
                one: graph::convert(&trace, &graph, 1, arguments.runs)?,
                two: graph::convert(&trace, &graph, 2, arguments.runs)?,
                graph_bytes: fs::metadata(&graph)?.len() as f64,
                reading: graph::read(&graph)?,
            };
            eprintln!("{}", row.line());
            rows.push(row);
            fs::remove_file(&trace)?;
        }
    }
    Ok(rows)
}
