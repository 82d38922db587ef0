//! `CHECK: turns`: what a wait did in each turn is in the graph, and in the trace only its number.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};
use contech_tests::program::said;

use crate::tasks::Graph;

/// The most bytes of the trace without the turns.
const BASE: u64 = 16 << 10;

/// Reads lines `R|W ADDRESS COUNT`: what is read or written in the turns, and how often that was.
/// The trace, if there is one of the fast form alone, is short.
pub(crate) fn check(output: &str, trace: Option<&PathBuf>, graph: &Graph) -> Result<()> {
    let mut counts = HashMap::new();
    let mut turns = 0;
    for line in output.lines() {
        let (write, address, count) = said(line)?;
        counts.insert((write, address), (count, 0));
        turns += count;
    }
    for task in graph.tasks() {
        task?.for_each_access(|a| {
            if let Some((_, seen)) = counts.get_mut(&(a.write, a.addr)) {
                *seen += 1;
            }
        })?;
    }
    if let Some((place, counts)) = counts.iter().find(|(_, (said, seen))| said != seen) {
        bail!("(said, in the graph) {counts:?} of (write?, address) {place:x?}");
    }
    let bytes = match trace {
        Some(trace) => fs::metadata(trace)?.len(),
        None => 0,
    };
    if turns == 0 || bytes > BASE + turns / 4 {
        bail!("{bytes} bytes of trace for {turns} accesses");
    }
    Ok(())
}
