//! How fast the middle writes a graph, and the library reads it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use contech_tests::outputs::Outputs;
use taskgraph::{Mmap, Piece, TaskGraph, TaskId};

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

/// What reading costs with one thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Time to open the graph, milliseconds.
    pub open_ms: f64,
    /// Time to find a task by its id in a graph just opened, milliseconds: mean of 20 graphs.
    pub cold_ms: f64,
    /// Time to find a task by its id, with its first action, in an open graph, milliseconds: mean of 2,000.
    pub warm_ms: f64,
    /// Accesses per second, one by one, millions.
    pub scan: f64,
    /// Accesses per second in batches, with loops as runs, millions.
    pub batches: f64,
}

#[expect(clippy::cast_precision_loss, reason = "rates for people")]
pub fn read(path: &Path) -> Result<Reading> {
    let mut r = Reading {
        open_ms: f64::MAX,
        ..Reading::default()
    };
    let mut random = fastrand::Rng::with_seed(7);
    let mut any = |graph: &TaskGraph<Mmap>| {
        let contexts: Vec<_> = graph.contexts().collect();
        let context = &contexts[random.usize(..contexts.len())];
        let seq = random.u32(..context.task_count.max(1));
        TaskId::new(context.id, seq)
    };
    let touch = |graph: &TaskGraph<Mmap>, id: TaskId| -> Result<f64> {
        let begun = Instant::now();
        let task = graph.task(id)?;
        let mut actions = task.actions()?;
        std::hint::black_box(actions.next()?.is_some());
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    for _ in 0..20 {
        let begun = Instant::now();
        let graph = taskgraph::map(path)?;
        r.open_ms = r.open_ms.min(begun.elapsed().as_secs_f64() * 1e3);
        r.cold_ms += touch(&graph, any(&graph))? / 20.0;
    }
    let graph = taskgraph::map(path)?;
    for _ in 0..2000 {
        r.warm_ms += touch(&graph, any(&graph))? / 2000.0;
    }
    let accesses = graph.summary().accesses as f64 / 1e6;
    let (mut sum, begun) = (0u64, Instant::now());
    for task in graph.tasks() {
        task?.for_each_access(|a| sum = sum.wrapping_add(a.addr))?;
    }
    r.scan = accesses / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    for task in graph.tasks() {
        task?.for_each_batch(|batch| {
            let last = |piece: Piece<'_>| match piece {
                Piece::Blocks(blocks) => blocks.accesses().addresses().iter().fold(0, |s, a| s ^ a),
                _ => piece.actions(),
            };
            sum = batch.pieces().map(last).fold(sum, u64::wrapping_add);
        })?;
    }
    r.batches = accesses / begun.elapsed().as_secs_f64();
    std::hint::black_box(sum);
    Ok(r)
}
