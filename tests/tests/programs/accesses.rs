//! `CHECK: accesses`: the accesses that the program prints are a subsequence of those in the graph.

use anyhow::{Context, Result, bail};
use taskgraph::ContextId;

use crate::tasks::Graph;

/// Reads lines `CTX:* R|W address size`.
pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let mut wants = said.lines().map(parse).collect::<Result<Vec<_>>>()?.into_iter().peekable();
    let context = wants.peek().context("the program said nothing")?.0;
    let mut seen = Vec::new();
    for task in graph.tasks_of(ContextId::new(context)) {
        task?.for_each_access(|a| {
            if wants.next_if_eq(&(context, a.write, a.addr, a.size)).is_none() {
                seen.push((a.write, a.addr, a.size));
            } else {
                seen.clear();
            }
        })?;
    }
    if let Some((_, write, addr, size)) = wants.next() {
        let near: Vec<_> = seen.iter().rev().take(60).rev().collect();
        bail!(
            "missing {} {addr:#x} {size} ({} more after it); the last accesses since the one found before: {near:x?}",
            if write { 'W' } else { 'R' },
            wants.count()
        );
    }
    Ok(())
}

fn parse(line: &str) -> Result<(u32, bool, u64, u64)> {
    let bad = || format!("not `CTX:* R|W address size`: {line}");
    let words: Vec<_> = line.split(' ').collect();
    let [context, rw, addr, size] = words.as_slice() else { bail!(bad()) };
    let context = context.strip_suffix(":*").with_context(bad)?.parse().with_context(bad)?;
    let addr = addr.strip_prefix("0x").with_context(bad)?;
    Ok((
        context,
        *rw == "W",
        u64::from_str_radix(addr, 16).with_context(bad)?,
        size.parse().with_context(bad)?,
    ))
}
