//! Partition refinement on the particle grid: fixed partition sizes against the size that refinement finds.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use contech_tests::process::run;

use crate::ahead::ahead;

/// Sides of the fixed partitions, in cells.
pub const SIDES: [u32; 13] = [2, 3, 4, 6, 8, 12, 16, 24, 32, 45, 64, 91, 128];
/// Numbers of threads (one thread needs no refinement); with the last, a machine with fewer cores is oversubscribed.
pub const THREADS: [u32; 2] = [2, 4];
/// Numbers of particles, and how they are spread.
pub const INPUTS: [(&str, &str); 9] = [
    ("3000", "even"),
    ("3000", "clumps"),
    ("3000", "corner"),
    ("10000", "even"),
    ("10000", "clumps"),
    ("10000", "corner"),
    ("30000", "even"),
    ("30000", "clumps"),
    ("30000", "corner"),
];
/// Steps of refinement, and steps with each side, of which the later half counts.
const REFINED_STEPS: usize = 240;
const FIXED_STEPS: usize = 60;
/// The goal: a size is near enough if it is at most this much slower than the best fixed size; and the share of runs
/// that must be near enough.
const NEAR: f64 = 1.1;
const GOAL: f64 = 0.9;

#[derive(Debug)]
pub struct Row {
    input: (&'static str, &'static str),
    threads: u32,
    /// Microseconds of a step with each of [`SIDES`].
    fixed: Vec<f64>,
    /// The side where refinement ended and microseconds of a step with it, for refinement from a side of 2 and from 2
    /// P parts.
    refined: [(u32, f64); 2],
    /// Microseconds of a step with 2 P parts.
    half: f64,
}

impl Row {
    /// The best fixed side and its time.
    fn best(&self) -> (u32, f64) {
        let times = SIDES.iter().copied().zip(self.fixed.iter().copied());
        let best = times.min_by(|a, b| a.1.total_cmp(&b.1));
        best.unwrap_or((0, f64::NAN))
    }

    /// The times with the sides that refinement found over the best fixed one, from both starts.
    fn slower(&self) -> [f64; 2] {
        self.refined.map(|(_, micros)| micros / self.best().1)
    }

    /// The row's line of the table.
    #[must_use]
    pub fn line(&self, cores: u32) -> String {
        let (side, best) = self.best();
        let label = if self.threads > cores {
            " (oversubscribed)"
        } else {
            ""
        };
        let mut text = format!(
            "| {} | {} | {}{label} | {side} | {best:.0} |",
            self.input.0, self.input.1, self.threads
        );
        for ((end, micros), slower) in self.refined.iter().zip(self.slower()) {
            let mark = if slower <= NEAR { "" } else { " **!**" };
            let _ = write!(text, " {end} | {micros:.0} | {slower:.2}{mark} |");
        }
        let _ = write!(
            text,
            " {:.2} | {:.2} |",
            self.fixed[0] / best,
            self.half / best
        );
        text
    }
}

/// Refines from both starts, then measures the sides that it found together with all fixed sides, a step of each in
/// turn.
///
/// # Errors
/// When a run fails or computes something else.
pub fn row(grid: &Path, input: (&'static str, &'static str), threads: u32) -> Result<Row> {
    let half = half(threads);
    let start = |side: u32| -> Result<u32> {
        let taken = grid_run(grid, input, threads, "refine", &[side], REFINED_STEPS)?;
        Ok(taken.first().context("grid says no side")?.0)
    };
    let ends = [start(2)?, start(half)?];
    let mut sides = SIDES.to_vec();
    sides.extend(ends);
    sides.push(half);
    let steps = FIXED_STEPS * sides.len();
    let taken = grid_run(grid, input, threads, "colours", &sides, steps)?;
    ensure!(taken.len() == sides.len(), "grid says {taken:?}");
    let micros = |i: usize| taken[SIDES.len() + i].1;
    Ok(Row {
        input,
        threads,
        fixed: taken[..SIDES.len()].iter().map(|t| t.1).collect(),
        refined: [(ends[0], micros(0)), (ends[1], micros(1))],
        half: micros(2),
    })
}

/// The side of a square whose area is that of one part when a colour has 2 P parts.
fn half(threads: u32) -> u32 {
    (128 * 128 / (2 * threads.max(1))).isqrt()
}

/// The sides, and the time of a step with each, in us.
fn grid_run(
    grid: &Path,
    input: (&str, &str),
    threads: u32,
    variant: &str,
    sides: &[u32],
    steps: usize,
) -> Result<Vec<(u32, f64)>> {
    let sides: Vec<String> = sides.iter().map(u32::to_string).collect();
    let mut command = ahead(grid);
    command.args([&threads.to_string(), variant, &sides.join(",")]);
    command.args([input.0, &steps.to_string(), input.1, "say"]);
    let done = run(&mut command)?.ok()?;
    let pair = |line: &str| -> Option<(u32, f64)> {
        let (side, micros) = line.split_once(' ')?;
        Some((side.parse().ok()?, micros.parse().ok()?))
    };
    let said = done.err();
    let pairs: Option<Vec<_>> = said.lines().map(pair).collect();
    pairs.with_context(|| done.to_string())
}

#[must_use]
pub fn table(rows: &[Row], cores: u32) -> String {
    let mut text = String::from(
        "| particles | spread | P | best side | us | from 2: side | us | over best | from 2 P parts: side | us | over best | fixed 2 | fixed 2 P parts |\n\
         |---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", row.line(cores));
    }
    let _ = writeln!(text, "\n{}", summary(rows, cores));
    text
}

/// The shares of runs near the best size.
#[expect(clippy::cast_precision_loss, reason = "shares")]
fn summary(rows: &[Row], cores: u32) -> String {
    let share = |f: &dyn Fn(&Row) -> bool| {
        let ratios: Vec<f64> = rows.iter().filter(|r| f(r)).flat_map(Row::slower).collect();
        let near = ratios.iter().filter(|r| **r <= NEAR).count();
        (near, ratios.len())
    };
    let mut text = String::from(
        "| runs of refinement | within 10% of the best fixed side | goal | |\n|---|---:|---:|---|\n",
    );
    let mut line = |what: &str, (near, all): (usize, usize)| {
        if all > 0 {
            let value = near as f64 / all as f64;
            let verdict = if value >= GOAL { "met" } else { "**missed**" };
            let _ = writeln!(
                text,
                "| {what} | {near} of {all} ({:.0}%) | {:.0}% | {verdict} |",
                100.0 * value,
                100.0 * GOAL
            );
        }
    };
    line("all", share(&|_| true));
    let mut threads: Vec<u32> = rows.iter().map(|r| r.threads).collect();
    threads.dedup();
    for threads in threads {
        line(&format!("P = {threads}"), share(&|r| r.threads == threads));
    }
    line(
        "without oversubscribed ones",
        share(&|r| r.threads <= cores),
    );
    text
}
