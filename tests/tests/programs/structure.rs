//! What a program's explicit OpenMP tasks do and generate, without the numbers of contexts, which
//! depend on the order of arrival. It must be the same whatever the number of threads.

use std::collections::BTreeMap;

use anyhow::Result;
use taskgraph::{ContextId, SyncOp, TaskKind};

use crate::tasks::{Graph, is_explicit};

/// One line for each explicit task that another kind of task generated: its operations in order,
/// with those of the tasks it generated in brackets. The lines are sorted, because chance decides
/// which context runs a single construct.
pub(crate) fn of(graph: &Graph) -> Result<Vec<String>> {
    let mut shapes: BTreeMap<ContextId, String> = BTreeMap::new();
    let mut tops = Vec::new();
    // A context has a larger number than the context that generated it.
    let mut contexts: Vec<_> = graph.contexts().collect();
    contexts.reverse();
    for context in contexts {
        let explicit = is_explicit(&context, graph)?;
        let mut shape = String::new();
        for task in graph.tasks_of(context.id) {
            let task = task?;
            let op = task.op();
            match task.kind() {
                TaskKind::Work => {}
                // Whether a thread of libomp, or a lock, sleeps depends on the other threads.
                _ if op == SyncOp::Sleep => {}
                TaskKind::Create if op == SyncOp::TaskCreate => {
                    let child = u32::try_from(task.object()).unwrap_or(u32::MAX);
                    let child = shapes.remove(&ContextId::new(child)).unwrap_or_default();
                    if explicit {
                        shape.push_str(&format!("[{child}]"));
                    } else {
                        tops.push(child);
                    }
                }
                TaskKind::Sync => shape.push_str(&format!("{op} ")),
                kind => shape.push_str(&format!("{kind} {op} {} ", task.dependencies()?.len())),
            }
            if matches!(op, SyncOp::DependIn | SyncOp::DependInout | SyncOp::DependInoutset) {
                shape.push_str(&format!("after {} ", task.dependencies()?.len()));
            }
        }
        if explicit {
            shapes.insert(context.id, shape);
        }
    }
    tops.sort();
    Ok(tops)
}
