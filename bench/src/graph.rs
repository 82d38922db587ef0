//! How fast the middle writes a graph.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use contech_tests::outputs::Outputs;

use crate::measure::measure;

/// What a conversion costs.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    /// User and system time, seconds: the least of the runs.
    pub cpu: f64,
    /// Wall time, seconds: the least of the runs.
    pub wall: f64,
    /// Peak resident memory, bytes: the most of the runs.
    pub peak_bytes: u64,
}

/// Converts a trace `runs` times. With one thread the process is bound to one core, so that the threads that read and
/// write take that core's time.
pub fn convert(trace: &Path, graph: &Path, threads: usize, runs: usize) -> Result<Writing> {
    let mut best = Writing {
        cpu: f64::MAX,
        wall: f64::MAX,
        peak_bytes: 0,
    };
    for _ in 0..runs.max(1) {
        let middle = Outputs::get().command("contech-middle");
        let mut command = if threads == 1 {
            let mut bound = Command::new("taskset");
            bound.args(["-c", "0"]).arg(middle);
            bound
        } else {
            Command::new(middle)
        };
        command.arg(trace).arg(graph);
        command.args(["--threads", &threads.to_string()]);
        let (_, used) = measure(&mut command)?;
        // The time is at least one clock tick, so that rates stay finite.
        best.cpu = best.cpu.min(used.cpu().as_secs_f64().max(0.001));
        best.wall = best.wall.min(used.wall.as_secs_f64());
        best.peak_bytes = best.peak_bytes.max(used.peak_bytes);
    }
    Ok(best)
}
