//! Bytes of graph per access, on our own programs in fast form.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use contech_tests::outputs::Outputs;

use crate::form::Form;
use crate::measure::measure;
use crate::programs::{Class, PROGRAMS};
use crate::subject::compile;

/// Repetitions are divided by this, so that each run makes some ten million accesses.
const SHARE: u64 = 60;

/// The sizes of one program's trace and graph.
#[derive(Debug, Clone)]
pub struct Stored {
    pub name: &'static str,
    /// Reads and writes.
    pub accesses: u64,
    pub trace_bytes: u64,
    pub graph_bytes: u64,
    /// CPU seconds of the middle, one thread.
    pub cpu: f64,
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
impl Stored {
    /// Bytes of graph per access.
    #[must_use]
    pub fn bytes_per_access(&self) -> f64 {
        self.graph_bytes as f64 / self.accesses.max(1) as f64
    }

    fn line(&self) -> String {
        format!(
            "| {} | {:.1} | {:.2} | {:.4} | {:.0} |",
            self.name,
            self.accesses as f64 / 1e6,
            self.trace_bytes as f64 / 1e6,
            self.bytes_per_access(),
            self.accesses as f64 / 1e6 / self.cpu
        )
    }
}

/// Runs each program except those that only synchronise, converts its trace, and prints its row at once.
pub fn all(scratch: &Path) -> Result<Vec<Stored>> {
    let mut rows = Vec::new();
    for program in PROGRAMS.iter().filter(|p| p.class != Class::Sync) {
        let built = compile(program, "-O2", Form::Fast, scratch)?;
        let (trace, graph) = (scratch.join("program.bin"), scratch.join("program.tg"));
        let mut run = Command::new(&built.executable);
        run.arg((program.reps / SHARE).max(1).to_string());
        measure(run.env("CONTECH_TRACE", &trace))?;
        let mut middle = Command::new(Outputs::get().command("contech-middle"));
        let (_, used) = measure(middle.arg(&trace).arg(&graph).args(["--threads", "1"]))?;
        let summary = *taskgraph::map(&graph)?.summary();
        if summary.accesses == 0 {
            bail!("{} left no accesses", program.name());
        }
        let size = |p: &Path| fs::metadata(p).map(|m| m.len()).context("size");
        let row = Stored {
            name: program.name(),
            accesses: summary.accesses,
            trace_bytes: size(&trace)?,
            graph_bytes: size(&graph)?,
            cpu: used.cpu().as_secs_f64().max(0.001),
        };
        eprintln!("{}", row.line());
        rows.push(row);
        fs::remove_file(&trace)?;
    }
    Ok(rows)
}

#[must_use]
pub fn table(rows: &[Stored]) -> String {
    let mut text = String::from(
        "| program | M accesses | trace MB | bytes of graph per access | middle M/s |\n|---|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    text
}
