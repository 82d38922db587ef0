//! The breadth-first order of a synthetic graph.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::builder::BuiltContext;
use crate::error::{Result, misuse};
use crate::id::TaskId;

/// The breadth-first order: of the tasks that are ready, the one that started first.
pub(super) fn breadth_first(
    contexts: &[BuiltContext],
    edges: &BTreeSet<(TaskId, TaskId)>,
) -> Result<Vec<TaskId>> {
    let mut waiting: HashMap<TaskId, usize> = HashMap::new();
    let mut successors: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    let tasks = || contexts.iter().flat_map(|c| &c.tasks).map(|t| t.record.id);
    let starts: HashMap<_, _> = contexts
        .iter()
        .flat_map(|c| &c.tasks)
        .map(|t| (t.record.id, t.record.start_ns))
        .collect();
    let program = tasks().filter_map(|id| Some((id.previous()?, id)));
    for (from, to) in program.chain(edges.iter().copied()) {
        if !starts.contains_key(&from) || !starts.contains_key(&to) {
            return Err(misuse(format!(
                "edge {from} -> {to} joins a task that does not exist"
            )));
        }
        *waiting.entry(to).or_default() += 1;
        successors.entry(from).or_default().push(to);
    }
    let mut ready: BinaryHeap<_> = tasks()
        .filter(|id| !waiting.contains_key(id))
        .map(|id| Reverse((starts[&id], id)))
        .collect();
    let mut order = Vec::with_capacity(starts.len());
    while let Some(Reverse((_, id))) = ready.pop() {
        order.push(id);
        for &to in successors.get(&id).map_or(&[][..], Vec::as_slice) {
            if let Some(n) = waiting.get_mut(&to) {
                *n -= 1;
                if *n == 0 {
                    ready.push(Reverse((starts[&to], to)));
                }
            }
        }
    }
    if order.len() < starts.len() {
        return Err(misuse("the edges make a cycle"));
    }
    Ok(order)
}
