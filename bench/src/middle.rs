//! How fast `contech-middle` is and how much memory it takes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use contech_tests::outputs::Outputs;

use crate::measure::measure;

#[derive(Debug, Clone, Copy)]
pub struct Conversion {
    /// Bytes of trace.
    pub trace_bytes: u64,
    /// Bytes of graph.
    pub graph_bytes: u64,
    /// Bytes of trace per second of CPU time, user and system, in MB.
    pub mb_per_cpu_second: f64,
    /// Bytes of trace per second of wall time, in MB.
    pub mb_per_second: f64,
    /// Peak resident memory in bytes.
    pub peak_bytes: u64,
}

/// Converts a trace with `threads` threads, `runs` times; the fastest run counts.
#[expect(clippy::cast_precision_loss, reason = "rates for people")]
pub fn convert(trace: &Path, threads: usize, runs: usize) -> Result<Conversion> {
    let graph = trace.with_extension("tg");
    let trace_bytes = fs::metadata(trace)?.len();
    let mut best: Option<Conversion> = None;
    for _ in 0..runs.max(1) {
        let mut command = Command::new(Outputs::get().command("contech-middle"));
        command
            .arg(trace)
            .arg(&graph)
            .args(["--threads", &threads.to_string()]);
        let (_, used) = measure(&mut command)?;
        let mb = trace_bytes as f64 / 1e6;
        let this = Conversion {
            trace_bytes,
            graph_bytes: fs::metadata(&graph)?.len(),
            mb_per_cpu_second: mb / used.cpu().as_secs_f64(),
            mb_per_second: mb / used.wall.as_secs_f64(),
            peak_bytes: used.peak_bytes,
        };
        if best.is_none_or(|b| this.mb_per_cpu_second > b.mb_per_cpu_second) {
            best = Some(this);
        }
    }
    let _ = fs::remove_file(&graph);
    best.ok_or_else(|| anyhow::anyhow!("no run"))
}
