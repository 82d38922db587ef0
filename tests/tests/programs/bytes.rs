//! `CHECK: bytes`: which bytes were read and written, whatever the width and order of the accesses.

use std::collections::HashSet;

use anyhow::{Result, bail};
use contech_tests::program::said;

use crate::tasks::Graph;

/// Reads lines `R|W address size` (these bytes) and `ONLY R|W address size` (no others within
/// these).
pub(crate) fn check(output: &str, graph: &Graph) -> Result<()> {
    let mut wanted = HashSet::new();
    let mut only = Vec::new();
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("ONLY ") {
            only.push(said(rest)?);
        } else {
            let (write, addr, size) = said(line)?;
            wanted.extend((addr..addr + size).map(|byte| (write, byte)));
        }
    }
    let mut missing = wanted.clone();
    let mut excess = Vec::new();
    for task in graph.tasks() {
        task?.for_each_access(|a| {
            for byte in a.addr..a.addr + a.size {
                missing.remove(&(a.write, byte));
                let forbidden = only
                    .iter()
                    .any(|&(write, at, size)| write == a.write && (at..at + size).contains(&byte))
                    && !wanted.contains(&(a.write, byte));
                if forbidden && excess.len() < 20 {
                    excess.push((a.write, byte, a));
                }
            }
        })?;
    }
    if !missing.is_empty() || !excess.is_empty() {
        let mut few: Vec<_> = missing.iter().collect();
        few.sort();
        few.truncate(20);
        bail!(
            "bytes not seen (write?, address): {few:x?}; bytes that must not be touched: {excess:x?}"
        );
    }
    Ok(())
}
