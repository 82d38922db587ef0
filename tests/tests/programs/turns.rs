//! `CHECK: turns`: what a wait did in each turn is in the graph, and in the trace only its number.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::tasks::Graph;

/// The most bytes of trace for a hundred turns.
const BYTES: u64 = 25;

/// Reads one line `turns ADDRESS COUNT`: the address that was written once in each turn.
pub(crate) fn check(said: &str, trace: &Path, graph: &Graph) -> Result<()> {
    let words: Vec<_> = said.split_whitespace().collect();
    let ["turns", address, count] = words[..] else {
        bail!("not `turns ADDRESS COUNT`: {said}");
    };
    let address = u64::from_str_radix(address.strip_prefix("0x").context("an address")?, 16)?;
    let count: u64 = count.parse()?;
    let mut writes = 0;
    for task in graph.tasks() {
        task?.for_each_access(|a| writes += u64::from(a.write && a.addr == address))?;
    }
    if writes != count {
        bail!("{writes} writes in the graph, {count} turns");
    }
    let bytes = fs::metadata(trace)?.len();
    if bytes * 100 > count * BYTES {
        bail!("{bytes} bytes of trace for {count} turns");
    }
    Ok(())
}
