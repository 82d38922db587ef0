//! Converts synthetic traces and shows the graphs as text.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use contech_middle::{Options, Result, Summary, convert};
use taskgraph::{Action, Mmap, TaskGraph, TaskKind};

/// A converted trace.
pub(crate) struct Converted {
    pub(crate) summary: Summary,
    pub(crate) graph: TaskGraph<Mmap>,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn options(memory: usize, threads: usize) -> Options {
    Options { memory, threads, ..Options::default() }
}

/// Every synchronisation is a task.
pub(crate) fn fine() -> Options {
    Options { fine: true, ..options(1 << 20, 2) }
}

/// Converts and verifies.
pub(crate) fn convert_with(trace: Vec<u8>, options: &Options) -> Result<Converted> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.tg");
    let summary = convert(trace, &path, options);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), usize::from(summary.is_ok()), "files left behind: {left:?}");
    let summary = summary?;
    Ok(opened(&path, summary))
}

fn opened(path: &Path, summary: Summary) -> Converted {
    let bytes = std::fs::read(path).unwrap();
    let graph = taskgraph::map(path).unwrap();
    let verified = graph.verify().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verified.tasks, summary.tasks.total());
    assert_eq!(verified.edges, summary.edges);
    assert_eq!(summary.graph_bytes, bytes.len() as u64);
    Converted { summary, graph, bytes }
}

pub(crate) fn converted(trace: Vec<u8>) -> Converted {
    convert_with(trace, &options(64 << 20, 2)).unwrap()
}

/// One line per task by (context, seq): kind, operation, object by first appearance, number of
/// actions, and stored dependencies.
pub(crate) fn tasks(graph: &TaskGraph<Mmap>) -> String {
    let mut out = String::new();
    let mut objects = HashMap::new();
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task.unwrap();
            write!(out, "{} {}", task.id(), task.kind()).unwrap();
            match task.kind() {
                TaskKind::Work => {
                    let mut actions = 0;
                    task.for_each_action(|_| actions += 1).unwrap();
                    write!(out, " {actions}").unwrap();
                }
                TaskKind::Create | TaskKind::Join => write!(out, " {}", task.object()).unwrap(),
                _ => {
                    let n = objects.len() + 1;
                    let n = *objects.entry(task.object()).or_insert(n);
                    write!(out, " {} obj#{n}", task.op()).unwrap();
                }
            }
            for (i, d) in task.dependencies().unwrap().iter().enumerate() {
                write!(out, "{} {d}", if i == 0 { " <-" } else { "" }).unwrap();
            }
            out.push('\n');
        }
    }
    out
}

/// Everything that must not depend on how the graph was made: tasks with times, actions, order.
pub(crate) fn everything(graph: &TaskGraph<Mmap>) -> String {
    let mut out = tasks(graph);
    for task in graph.tasks() {
        let task = task.unwrap();
        writeln!(
            out,
            "{} {}..{} object {:#x} {} blocks {} accesses {} bytes, before {:?}",
            task.id(),
            task.start_ns(),
            task.end_ns(),
            task.object(),
            task.block_count(),
            task.access_count(),
            task.bytes_accessed(),
            task.dependents().unwrap()
        )
        .unwrap();
        task.for_each_action(|a| {
            match a {
                Action::Block(b) => write!(out, " {}{:x?}", b.id(), b.operands()),
                other => write!(out, " {other:?}"),
            }
            .unwrap();
        })
        .unwrap();
        out.push('\n');
    }
    writeln!(out, "{:?}", graph.contexts().collect::<Vec<_>>()).unwrap();
    out
}
