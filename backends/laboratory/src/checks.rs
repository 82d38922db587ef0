//! Checks that reject runs that are no measurement, with the reason in words.

use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::run::Output;
use crate::view::units::time;

/// Checks that a run took long enough.
pub(super) fn long_enough(took_ns: u64, name: &str, least: Duration) -> Result<()> {
    ensure!(
        Duration::from_nanos(took_ns) >= least,
        "{name} took {}: too short to be measured (starting threads and noise would be most of it). Give it a larger \
         input or more repetitions, so that it takes a second; --min-time (now {least:?}) is the limit",
        time(took_ns)
    );
    Ok(())
}

/// Checks that two runs printed the same output.
pub(super) fn same_output(first: (&str, &Output), other: (&str, &Output)) -> Result<()> {
    if first.1 == other.1 {
        return Ok(());
    }
    let lines = |output: &Output| String::from_utf8_lossy(&output.start).into_owned();
    let (a, b) = (lines(first.1), lines(other.1));
    let at = a
        .lines()
        .zip(b.lines())
        .position(|(a, b)| a != b)
        .unwrap_or_else(|| a.lines().count().min(b.lines().count()));
    let line = |text: &str| {
        text.lines().nth(at).unwrap_or("(nothing)").chars().take(120).collect::<String>()
    };
    bail!(
        "`{}` and `{}` print different things: is it the same computation? Line {} is\n  {}\nand\n  {}\nIf that is as \
         it should be (times, addresses, threads in the output), give --ignore-output",
        first.0,
        other.0,
        at + 1,
        line(&a),
        line(&b)
    )
}
