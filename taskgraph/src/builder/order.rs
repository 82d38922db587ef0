//! The breadth-first order of a synthetic graph.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::builder::BuiltContext;
use crate::error::{Result, misuse};
use crate::id::TaskId;

/// The breadth-first order: of the tasks that are ready, the one with the earliest start comes
/// next.
pub(super) fn breadth_first(
    contexts: &[BuiltContext],
    edges: &BTreeSet<(TaskId, TaskId)>,
) -> Result<Vec<TaskId>> {
    let mut waiting: HashMap<TaskId, usize> = HashMap::new();
    let mut successors: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    let tasks = || contexts.iter().flat_map(|c| &c.tasks).map(|t| t.record.id);
    let starts: HashMap<_, _> =
        contexts.iter().flat_map(|c| &c.tasks).map(|t| (t.record.id, t.record.start_ns)).collect();
    let program = tasks().filter_map(|id| Some((id.previous()?, id)));
    for (from, to) in program.chain(edges.iter().copied()) {
        if !starts.contains_key(&from) || !starts.contains_key(&to) {
            return Err(misuse(format!("edge {from} -> {to} joins a task that does not exist")));
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

#[cfg(test)]
mod tests {
    use crate::SyncOp;
    use crate::builder::GraphBuilder;
    use crate::id::TaskId;

    fn order(b: GraphBuilder) -> Vec<String> {
        let graph = b.build().unwrap();
        graph.verify().unwrap();
        graph.tasks().map(|t| t.unwrap().id().to_string()).collect()
    }

    #[test]
    fn of_the_ready_tasks_the_one_that_started_first_is_next() {
        let mut b = GraphBuilder::new();
        let (x, y) = (b.context("x"), b.context("y"));
        b.work(x, 0, 10, |_| {});
        b.work(x, 30, 40, |_| {});
        b.work(y, 5, 20, |_| {});
        b.work(y, 20, 50, |_| {});
        assert_eq!(order(b), ["0:0", "1:0", "1:1", "0:1"]);
    }

    #[test]
    fn an_edge_outweighs_the_start_times() {
        let mut b = GraphBuilder::new();
        let (x, y) = (b.context("x"), b.context("y"));
        let late = b.sync_at(x, 1, SyncOp::SemPost, 100, 100);
        let early = b.sync_at(y, 1, SyncOp::SemWait, 5, 6);
        b.edge(late, early);
        assert_eq!(order(b), ["0:0", "1:0", "0:1", "1:1"]);
    }

    #[test]
    fn a_cycle_and_an_edge_to_nowhere_are_refused() {
        let with_edge = |from: &str, to: &str| {
            let mut b = GraphBuilder::new();
            let (x, y) = (b.context("x"), b.context("y"));
            for context in [x, y, x, y] {
                b.work(context, 0, 1, |_| {});
            }
            b.edge("0:0".parse().unwrap(), "1:1".parse().unwrap());
            b.edge(from.parse::<TaskId>().unwrap(), to.parse().unwrap());
            b.build().map(|_| ()).map_err(|e| e.to_string())
        };
        with_edge("0:0", "1:0").unwrap();
        assert!(with_edge("1:1", "0:0").unwrap_err().contains("cycle"));
        assert!(with_edge("1:1", "0:2").unwrap_err().contains("0:2"));
    }
}
