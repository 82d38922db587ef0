//! Reuse times: how many accesses of the same context lie between two touches of the same 64-byte
//! line. `reuse GRAPH`; powers of two, over all contexts.

use std::collections::HashMap;

const LINE: u64 = 64;

fn main() -> taskgraph::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "graph.tg".into());
    let graph = taskgraph::map(path)?;
    let per_context = graph.par_contexts(|context| {
        let mut last: HashMap<u64, u64> = HashMap::new();
        let mut histogram = [0u64; 65];
        let mut cold = 0u64;
        let mut now = 0;
        for task in graph.tasks_of(context.id) {
            task?.for_each_access(|access| {
                let end = access.addr.saturating_add(access.size.max(1) - 1);
                for line in access.addr / LINE..=end / LINE {
                    now += 1;
                    match last.insert(line, now) {
                        Some(before) => histogram[(now - before).ilog2() as usize] += 1,
                        None => cold += 1,
                    }
                }
            })?;
        }
        Ok((histogram, cold))
    })?;
    let cold: u64 = per_context.iter().map(|c| c.1).sum();
    println!("{cold:14} first touches");
    for power in 0..65 {
        let n: u64 = per_context.iter().map(|c| c.0[power]).sum();
        if n > 0 {
            println!("{n:14} after 2^{power} accesses or more");
        }
    }
    Ok(())
}
