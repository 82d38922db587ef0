//! The ten longest tasks and what each had to wait for: `longest GRAPH`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

fn main() -> taskgraph::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "graph.tg".into());
    let graph = taskgraph::map(path)?;
    let mut longest = BinaryHeap::new();
    for task in graph.tasks() {
        let task = task?;
        longest.push(Reverse((task.duration_ns(), task.id())));
        if longest.len() > 10 {
            longest.pop();
        }
    }
    for Reverse((ns, id)) in longest.into_sorted_vec() {
        let task = graph.task(id)?;
        println!(
            "{id} {} {}: {:.3} ms, {} accesses",
            task.kind(),
            task.op(),
            ns as f64 * 1e-6,
            task.access_count()
        );
        for before in task.predecessors()? {
            let before = graph.task(before)?;
            println!(
                "    after {} {} {}",
                before.id(),
                before.kind(),
                before.op()
            );
        }
    }
    Ok(())
}
