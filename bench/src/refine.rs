//! Partition refinement on the particle grid: fixed sizes against the size it finds.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use contech_refine::Refinement;
use contech_tests::process::run;

use crate::spread::minimum;

/// Sides of the fixed partitions, in cells.
pub const SIDES: [u32; 11] = [2, 3, 4, 6, 8, 12, 16, 32, 64, 91, 128];
/// Numbers of threads; a machine with fewer cores is oversubscribed with the last.
pub const THREADS: [u32; 3] = [1, 2, 4];
/// Particles and how they are spread.
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
/// Steps with fixed partitions, and with refinement: their later halves count.
const STEPS: [&str; 2] = ["100", "240"];
/// How much slower than the best fixed size is near enough (the goal), and the share of runs that are to be.
const NEAR: f64 = 1.1;
const GOAL: f64 = 0.9;

/// What a variant took: microseconds of a step, in each round, and the side it had at the end.
#[derive(Debug, Clone, Default)]
struct Taken {
    micros: Vec<f64>,
    sides: Vec<u32>,
}

impl Taken {
    fn least(&self) -> f64 {
        minimum(&self.micros)
    }
}

/// An input with a number of threads.
#[derive(Debug)]
pub struct Row {
    input: (&'static str, &'static str),
    threads: u32,
    /// Side of the paper's second start: 2 P partitions.
    half: u32,
    fixed: Vec<Taken>,
    /// From side 2, from 2 P partitions.
    refined: [Taken; 2],
}

impl Row {
    /// The best fixed side and its time.
    fn best(&self) -> (u32, f64) {
        let times = SIDES.iter().zip(&self.fixed).map(|(s, t)| (*s, t.least()));
        times
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, f64::NAN))
    }

    fn fixed_at(&self, side: u32) -> f64 {
        let at = SIDES.iter().position(|s| *s >= side);
        at.map_or(f64::NAN, |i| self.fixed[i].least())
    }

    /// Times of refinement over the best fixed one, from both starts.
    fn slower(&self) -> [f64; 2] {
        [0, 1].map(|i| self.refined[i].least() / self.best().1)
    }
}

/// Measures one input, all variants in turn, `rounds` times.
///
/// # Errors
/// When a run fails or computes something else.
pub fn row(
    grid: &Path,
    input: (&'static str, &'static str),
    threads: u32,
    rounds: usize,
) -> Result<Row> {
    let half = half(threads);
    let mut row = Row {
        input,
        threads,
        half,
        fixed: vec![Taken::default(); SIDES.len()],
        refined: [Taken::default(), Taken::default()],
    };
    let mut results = Vec::new();
    for _ in 0..rounds {
        for (side, taken) in SIDES.iter().zip(&mut row.fixed) {
            results.push(step(grid, input, threads, "colours", *side, taken)?);
        }
        for (side, taken) in [2, half].iter().zip(&mut row.refined) {
            step(grid, input, threads, "refine", *side, taken)?;
        }
    }
    ensure!(
        results.windows(2).all(|w| w[0] == w[1]),
        "grid {input:?} with {threads} threads computes different things: {results:?}"
    );
    Ok(row)
}

/// The side of a square of as many cells as 2 P parts of a colour have.
fn half(threads: u32) -> u32 {
    (128 * 128 / (2 * threads.max(1))).isqrt()
}

fn step(
    grid: &Path,
    input: (&str, &str),
    threads: u32,
    variant: &str,
    side: u32,
    taken: &mut Taken,
) -> Result<String> {
    let steps = STEPS[usize::from(variant == "refine")];
    let mut command = Command::new(grid);
    command.args([&threads.to_string(), variant, &side.to_string()]);
    command.args([input.0, steps, input.1, "say"]);
    let done = run(&mut command)?.ok()?;
    let said = done.err();
    let mut words = said.split_whitespace();
    let mut next = || words.next().with_context(|| done.to_string());
    taken.micros.push(next()?.parse()?);
    taken.sides.push(next()?.parse()?);
    Ok(done.out())
}

/// Nanoseconds of a part's begin and end, in a round that is measured and in one that is not.
#[must_use]
pub fn part_cost() -> [f64; 2] {
    const PARTS: u32 = 20_000_000;
    let refinement = Refinement::new(1000, 1, 1);
    let ns = || {
        let round = refinement.round();
        let begun = Instant::now();
        for _ in 0..PARTS {
            drop(std::hint::black_box(round.part(0, 0)));
        }
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(PARTS)
    };
    // With one worker it holds from the beginning: the first round of eight is measured.
    [ns(), ns()]
}

/// The tables.
#[must_use]
pub fn table(rows: &[Row], cores: u32) -> String {
    let mut text = String::from(
        "| particles | spread | P | best side | us | from 2: side | us | over best | from 2 P parts: side | us | over best | fixed 2 | fixed 2 P parts |\n\
         |---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let (side, best) = row.best();
        let slower = row.slower();
        let label = if row.threads > cores {
            " (oversubscribed)"
        } else {
            ""
        };
        let _ = write!(
            text,
            "| {} | {} | {}{label} | {side} | {best:.0} |",
            row.input.0, row.input.1, row.threads
        );
        for (taken, slower) in row.refined.iter().zip(slower) {
            let sides: Vec<String> = taken.sides.iter().map(u32::to_string).collect();
            let mark = if slower <= NEAR { "" } else { " **!**" };
            let _ = write!(
                text,
                " {} | {:.0} | {slower:.2}{mark} |",
                sides.join(" "),
                taken.least()
            );
        }
        let of = |side| row.fixed_at(side) / best;
        let _ = writeln!(text, " {:.2} | {:.2} |", of(2), of(row.half));
    }
    let _ = writeln!(text, "\n{}", summary(rows, cores));
    text
}

/// Shares near the best size.
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
