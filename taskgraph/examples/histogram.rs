//! How often each size of access occurs: `histogram GRAPH`.

use std::collections::BTreeMap;

fn main() -> taskgraph::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "graph.tg".into());
    let mut sizes = BTreeMap::<u64, u64>::new();
    for task in taskgraph::map(path)?.tasks() {
        task?.for_each_access(|access| *sizes.entry(access.size).or_default() += 1)?;
    }
    for (size, count) in sizes {
        println!("{count:14} accesses of {size} bytes");
    }
    Ok(())
}
