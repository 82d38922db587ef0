//! How many accesses of which size each function made: `sizes GRAPH`.

use std::collections::BTreeMap;

fn main() -> taskgraph::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "graph.tg".into());
    let graph = taskgraph::map(path)?;
    let info = graph.info();
    let per_context = graph.par_contexts(|context| {
        let mut counts: BTreeMap<(u32, u64, bool), u64> = BTreeMap::new();
        for task in graph.tasks_of(context.id) {
            task?.for_each_block(|exec| {
                let function = info.blocks[exec.id().index()].function;
                exec.for_each_access(|a| {
                    *counts.entry((function.get(), a.size, a.write)).or_default() += 1;
                });
            })?;
        }
        Ok(counts)
    })?;
    let mut counts = BTreeMap::new();
    for (key, n) in per_context.into_iter().flatten() {
        *counts.entry(key).or_insert(0) += n;
    }
    for ((function, size, write), n) in counts {
        let name = &info.functions[function as usize].name;
        println!(
            "{n:12} {} of {size:4} bytes in {name}",
            if write { "writes" } else { "reads " }
        );
    }
    Ok(())
}
