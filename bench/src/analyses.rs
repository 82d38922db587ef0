//! How fast the analyses read graphs, also in comparison with cachegrind.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::Outputs;

use crate::measure::{Usage, measure};
use crate::programs::{PROGRAMS, Program};

pub const SIZES: &str = "1K..256M";
/// What an analysis of a graph costs: the least of several runs.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// User and system time, seconds.
    pub cpu: f64,
    /// Wall time, seconds.
    pub wall: f64,
    /// Peak resident memory, bytes.
    pub peak_bytes: u64,
}

impl Cost {
    fn of(used: Usage) -> Self {
        Self {
            // The time is at least one clock tick, so that rates stay finite.
            cpu: used.cpu().as_secs_f64().max(0.001),
            wall: used.wall.as_secs_f64(),
            peak_bytes: used.peak_bytes,
        }
    }

    fn least(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
            peak_bytes: self.peak_bytes.max(other.peak_bytes),
        }
    }
}

/// Runs `contech-backend` with these words on a graph, `runs` times.
pub fn analyse(words: &[&str], graph: &Path, runs: usize) -> Result<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..runs.max(1) {
        let (name, options) = words.split_first().context("an analysis has a name")?;
        let mut command = Command::new(Outputs::get().command("contech-backend"));
        command.arg(name).arg(graph).args(options);
        let (_, used) = measure(&mut command)?;
        let cost = Cost::of(used);
        best = Some(best.map_or(cost, |best| best.least(cost)));
    }
    best.context("no run")
}

pub fn program(name: &str) -> Result<&'static Program> {
    let found = PROGRAMS.iter().find(|program| program.name() == name);
    found.with_context(|| format!("no program {name} in bench/programs"))
}

/// Runs a command under cachegrind, with one cache of 32K, 8 ways and 64-byte lines. Returns what cachegrind says.
pub fn theirs(native: &Command, dir: &Path) -> Result<(String, Usage)> {
    let log = dir.join("cachegrind.log");
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"]);
    command.args(["--LL=8388608,16,64", "--cachegrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", log.display()));
    let (_, used) = measure(command.arg(native.get_program()).args(native.get_args()))?;
    Ok((fs::read_to_string(&log)?, used))
}
