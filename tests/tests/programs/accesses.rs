//! `CHECK: accesses`: the accesses that the program prints are a subsequence of those in the graph.

use anyhow::{Context, Result, bail};
use contech_tests::program::{Said, said};
use taskgraph::ContextId;

use crate::tasks::Graph;

/// Reads lines `CTX:* R|W address size`.
pub(crate) fn check(output: &str, graph: &Graph) -> Result<()> {
    let mut wants = output.lines().map(parse).collect::<Result<Vec<_>>>()?.into_iter().peekable();
    let context = wants.peek().context("the program said nothing")?.0;
    let mut seen = Vec::new();
    for task in graph.tasks_of(ContextId::new(context)) {
        task?.for_each_access(|a| {
            if wants.next_if_eq(&(context, (a.write, a.addr, a.size))).is_none() {
                seen.push((a.write, a.addr, a.size));
            } else {
                seen.clear();
            }
        })?;
    }
    if let Some((_, (write, addr, size))) = wants.next() {
        let near: Vec<_> = seen.iter().rev().take(60).rev().collect();
        bail!(
            "missing {} {addr:#x} {size} ({} more after it); the last accesses since the one found before: {near:x?}",
            if write { 'W' } else { 'R' },
            wants.count()
        );
    }
    Ok(())
}

fn parse(line: &str) -> Result<(u32, Said)> {
    let bad = || format!("not `CTX:* R|W address size`: {line}");
    let (context, access) = line.split_once(":* ").with_context(bad)?;
    Ok((context.parse().with_context(bad)?, said(access)?))
}
