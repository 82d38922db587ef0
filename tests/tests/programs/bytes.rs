//! `CHECK: bytes`: which bytes were read and written, whatever the width and order of the accesses.

use std::collections::HashSet;

use anyhow::{Context, Result, bail};

use crate::tasks::Graph;

#[derive(Debug)]
struct Range {
    write: bool,
    addr: u64,
    size: u64,
}

/// Reads lines `R|W address size` (these bytes) and `ONLY R|W address size` (no others within
/// these).
pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let mut wanted = HashSet::new();
    let mut only = Vec::new();
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("ONLY ") {
            only.push(parse(rest)?);
        } else {
            let range = parse(line)?;
            wanted.extend((range.addr..range.addr + range.size).map(|b| (range.write, b)));
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
                    .any(|o| o.write == a.write && (o.addr..o.addr + o.size).contains(&byte))
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

fn parse(text: &str) -> Result<Range> {
    let bad = || format!("not `R|W address size`: {text}");
    let words: Vec<_> = text.split(' ').collect();
    let [rw, addr, size] = words.as_slice() else { bail!(bad()) };
    let addr = addr.strip_prefix("0x").with_context(bad)?;
    Ok(Range {
        write: *rw == "W",
        addr: u64::from_str_radix(addr, 16).with_context(bad)?,
        size: size.parse().with_context(bad)?,
    })
}
