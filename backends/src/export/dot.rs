//! A drawing in the DOT language of Graphviz, one node per task.

use std::io::{self, Write};

use anyhow::{Result, bail};
use taskgraph::{TaskId, TaskKind};

use crate::analysis::{Graph, Task};
use crate::view::units::{count, time};

/// How a node looks (contech.txt, Figure 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An oval, for work.
    Oval,
    /// A black square with a letter, for anything else.
    Square(char),
}

impl Shape {
    /// The shape of a kind of task.
    #[must_use]
    pub fn of(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Work => Self::Oval,
            TaskKind::Create => Self::Square('C'),
            TaskKind::Join => Self::Square('J'),
            TaskKind::Sync => Self::Square('S'),
            TaskKind::Barrier => Self::Square('B'),
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node's (first) task, which names the node.
    pub id: TaskId,
    pub shape: Shape,
    /// Text in an oval.
    pub label: String,
    /// Text that is shown under the pointer.
    pub tip: String,
}

/// An arrow between nodes, named by their tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: TaskId,
    pub to: TaskId,
    /// Number of edges that the arrow stands for.
    pub edges: u64,
}

/// Nodes and arrows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The nodes, by context and sequence.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub arrows: Vec<Arrow>,
}

/// Draws every task as a node and every edge as an arrow, program order included.
pub(super) fn draw(graph: &Graph, most: usize) -> Result<Drawing> {
    let tasks = graph.summary().tasks.total();
    if tasks > most as u64 {
        bail!(
            "the graph has {} tasks, more than --max {most}: a picture of it says nothing; try --phases",
            count(tasks)
        );
    }
    let mut drawing = Drawing::default();
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let id = task.id();
            drawing.nodes.push(Node {
                id,
                shape: Shape::of(task.kind()),
                label: id.to_string(),
                tip: tip(&task),
            });
            let arrow = |from| Arrow {
                from,
                to: id,
                edges: 1,
            };
            drawing
                .arrows
                .extend(task.predecessors()?.into_iter().map(arrow));
        }
    }
    Ok(drawing)
}

/// A task in a few words.
pub(super) fn tip(task: &Task<'_>) -> String {
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

impl Drawing {
    /// Writes the drawing in the DOT language.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "digraph tasks {{")?;
        writeln!(out, "  node [fontname=\"Helvetica\"];")?;
        for node in &self.nodes {
            let (id, tip) = (node.id, escape(&node.tip));
            match node.shape {
                Shape::Oval => writeln!(
                    out,
                    "  \"{id}\" [label=\"{}\", tooltip=\"{tip}\"];",
                    escape(&node.label)
                )?,
                Shape::Square(letter) => writeln!(
                    out,
                    "  \"{id}\" [label=\"{letter}\", shape=square, style=filled, fillcolor=black, fontcolor=white, width=0.3, height=0.3, fixedsize=true, tooltip=\"{tip}\"];"
                )?,
            }
        }
        for Arrow { from, to, edges } in &self.arrows {
            let label = if *edges > 1 {
                format!(" [label=\"{edges}\"]")
            } else {
                String::new()
            };
            writeln!(out, "  \"{from}\" -> \"{to}\"{label};")?;
        }
        writeln!(out, "}}")
    }
}

/// A text for a DOT string; `\n` stays a line break.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
