//! How many tasks and edges of a kind a graph must have.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail, ensure};
use contech_tests::program::Program;
use taskgraph::{Context, Mmap, SyncOp, TaskGraph, TaskKind};

/// A graph file, mapped.
pub(crate) type Graph = TaskGraph<Mmap>;

/// Whether a context is that of an explicit OpenMP task.
pub(crate) fn is_explicit(context: &Context, graph: &Graph) -> Result<bool> {
    let Some(creator) = context.creator else { return Ok(false) };
    Ok(graph.task(creator)?.op() == SyncOp::TaskCreate)
}

/// Checks the number of explicit OpenMP tasks, that a context waits once for each of them, and how
/// many edges lead from one to another that depends on it.
pub(crate) fn check_explicit(count: u64, depends: u64, graph: &Graph) -> Result<()> {
    let mut explicit = BTreeSet::new();
    for context in graph.contexts() {
        if is_explicit(&context, graph)? {
            explicit.insert(context.id);
        }
    }
    let (mut created, mut joined, mut depending) = (0, 0, 0);
    for task in graph.tasks() {
        let task = task?;
        created += u64::from(task.op() == SyncOp::TaskCreate);
        let waits = task.kind() == TaskKind::Join;
        let follows = matches!(task.op(), SyncOp::DependIn | SyncOp::DependInout);
        for before in task.dependencies()? {
            let ended = explicit.contains(&before.context);
            joined += u64::from(ended && waits);
            depending += u64::from(ended && follows);
        }
    }
    let found = [explicit.len() as u64, created, joined, depending];
    ensure!(
        found == [count, count, count, depends],
        "contexts of explicit tasks, creates, edges to waits, edges by dependence: {found:?}"
    );
    Ok(())
}

/// Compares the `COUNT` directives with the number of tasks of each operation.
pub(crate) fn check_counts(program: &Program, graphs: &[Graph]) -> Result<()> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for graph in graphs {
        for task in graph.tasks() {
            *found.entry(task?.op().name()).or_default() += 1;
        }
    }
    for (name, want) in &program.counts {
        known(name)?;
        let got = found.get(name.as_str()).copied().unwrap_or(0);
        if got != *want {
            bail!("expected {want} tasks of {name}, found {got}; all: {found:?}");
        }
    }
    Ok(())
}

/// Compares the `EDGE` directives with the number of stored edges between operations.
pub(crate) fn check_edges(program: &Program, graphs: &[Graph]) -> Result<()> {
    for (from, to, want) in &program.edges {
        known(from)?;
        known(to)?;
        let mut got = 0;
        for graph in graphs {
            for task in graph.tasks() {
                let task = task?;
                if task.op().name() != to {
                    continue;
                }
                for before in task.dependencies()? {
                    got += u64::from(graph.task(before)?.op().name() == from);
                }
            }
        }
        if got != *want {
            bail!("expected {want} edges {from} -> {to}, found {got}");
        }
    }
    Ok(())
}

/// Checks that each `NOTE` directive is in a note of some graph.
pub(crate) fn check_notes(program: &Program, graphs: &[Graph]) -> Result<()> {
    for want in &program.notes {
        let mut notes = graphs.iter().flat_map(|g| &g.meta().notes);
        if !notes.any(|n| n.contains(want)) {
            let all: Vec<_> = graphs.iter().map(|g| &g.meta().notes).collect();
            bail!("no note says {want:?}: {all:?}");
        }
    }
    Ok(())
}

fn known(name: &str) -> Result<()> {
    if SyncOp::ALL.iter().any(|op| op.name() == name) {
        return Ok(());
    }
    bail!("{name} is no operation")
}
