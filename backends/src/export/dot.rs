//! A drawing in the DOT language of Graphviz: every task is a node and every edge an arrow, program order included.

use std::io::Write;

use anyhow::{Result, bail};
use taskgraph::TaskKind;

use crate::analysis::{Graph, Task};
use crate::view::units::{count, time};

/// Refuses a graph that has more than `most` tasks.
pub(super) fn check(graph: &Graph, most: u32) -> Result<()> {
    let tasks = graph.summary().tasks.total();
    if tasks > u64::from(most) {
        bail!(
            "the graph has {} tasks, more than --max {most}: a picture of it says nothing",
            count(tasks)
        );
    }
    Ok(())
}

/// Writes the drawing: ovals for work, and black squares with a letter for anything else (contech.txt, Figure 2).
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> Result<()> {
    writeln!(out, "digraph tasks {{")?;
    writeln!(out, "  node [fontname=\"Helvetica\"];")?;
    for task in graph.tasks() {
        let task = task?;
        let (id, tip) = (task.id(), tip(&task));
        let look = match task.kind() {
            TaskKind::Work => format!("label=\"{id}\""),
            TaskKind::Create => square('C'),
            TaskKind::Join => square('J'),
            TaskKind::Sync => square('S'),
            TaskKind::Barrier => square('B'),
        };
        writeln!(out, "  \"{id}\" [{look}, tooltip=\"{tip}\"];")?;
        for from in task.predecessors()? {
            writeln!(out, "  \"{from}\" -> \"{id}\";")?;
        }
    }
    writeln!(out, "}}")?;
    Ok(())
}

fn square(letter: char) -> String {
    format!(
        "label=\"{letter}\", shape=square, style=filled, fillcolor=black, fontcolor=white, width=0.3, height=0.3, fixedsize=true"
    )
}

/// A task in a few words, without quotes: the text that is shown under the pointer.
fn tip(task: &Task<'_>) -> String {
    let what = match task.kind() {
        TaskKind::Work => format!(
            "{} blocks, {} accesses",
            count(task.block_count()),
            count(task.access_count())
        ),
        _ => format!("{} {:#x}", task.op(), task.object()),
    };
    format!("{} {what}, {}", task.id(), time(task.duration_ns()))
}
