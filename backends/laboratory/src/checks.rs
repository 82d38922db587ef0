//! Checks that reject runs that are no measurement, with the reason in words.

use std::io::BufRead;
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
    let (mut a, mut b) = (first.1.read()?, other.1.read()?);
    let mut at = 1;
    let (a, b) = loop {
        let (a, b) = (line(&mut a)?, line(&mut b)?);
        if a != b {
            break (a, b);
        }
        if a.is_empty() {
            return Ok(());
        }
        at += 1;
    };
    bail!(
        "`{}` and `{}` print different things: is it the same computation? Line {} is\n  {}\nand\n  {}\nIf that is as \
         it should be (times, addresses, threads in the output), give --ignore-output",
        first.0,
        other.0,
        at,
        text(&a),
        text(&b)
    )
}

/// The next line, with its end; empty if there is none.
fn line(output: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    output.read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The beginning of a line for people.
fn text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.lines().next().unwrap_or("(nothing)").chars().take(120).collect()
}
