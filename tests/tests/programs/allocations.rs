//! `CHECK: allocations`: the graph holds exactly the allocations that the program prints.

use anyhow::{Result, bail};
use taskgraph::Action;

use crate::tasks::Graph;

/// Reads lines `alloc KIND address size`, `free address ...`, `map address size`, `unmap address
/// size`.
pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let want: Vec<String> = said
        .lines()
        // A freed address has no size; the program prints 0 there.
        .map(|l| if l.starts_with("free") { l.rsplit_once(' ').map_or(l, |(a, _)| a) } else { l })
        .map(str::to_owned)
        .collect();
    let mut got = Vec::new();
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            task?.for_each_action(|action| got.extend(line(&action)))?;
        }
    }
    // Printing and the start of the program allocate too, so only the allocations between the
    // program's first and last must be its own.
    let start = got.iter().position(|l| Some(l) == want.first());
    let Some(start) = start else {
        bail!("{:?} is not in the graph, which has\n{}", want.first(), got.join("\n"));
    };
    let own = &got[start..got.len().min(start + want.len())];
    if own != want {
        bail!("the program saw\n{}\n\nthe graph has\n{}", want.join("\n"), own.join("\n"));
    }
    Ok(())
}

fn line(action: &Action<'_>) -> Option<String> {
    match action {
        Action::Alloc { addr, size, kind } => {
            Some(format!("alloc {} {addr:#x} {size}", kind.name()))
        }
        Action::Free { addr } => Some(format!("free {addr:#x}")),
        Action::Map { addr, size } => Some(format!("map {addr:#x} {size}")),
        Action::Unmap { addr, size } => Some(format!("unmap {addr:#x} {size}")),
        _ => None,
    }
}
