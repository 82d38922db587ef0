//! `CHECK: executors`: who executed what. The function `here` of the program writes four bytes of a
//! variable that each thread has for itself, so an address stands for a thread: each address must
//! be of one executor, and each executor must have one. The only line of output says how many
//! threads there are at the least.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use taskgraph::Action;

use crate::tasks::Graph;

pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let least: usize = said.trim().parse().context("a number of threads")?;
    let info = graph.info();
    let is_here = |name: &str| name == "here" || name.ends_with("::here");
    let mut executors: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    let mut addresses: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    let mut contexts = BTreeSet::new();
    for task in graph.tasks() {
        let task = task?;
        let executor = task.executor();
        let known = graph.executor(executor);
        ensure!(known.is_some(), "no executor {executor}");
        task.for_each_action(|action| {
            let Action::Block(block) = action else { return };
            let function = info.block(block.id()).map(|block| block.function);
            let function = function.and_then(|f| info.functions.get(f.index()));
            if !function.is_some_and(|f| is_here(&f.name)) {
                return;
            }
            for access in block.accesses().filter(|a| a.write && a.size == 4) {
                let numbers = executors.entry(access.addr).or_default();
                numbers.insert(executor.get());
                addresses.entry(executor.get()).or_default().insert(access.addr);
                contexts.insert(task.id().context);
            }
        })?;
    }
    ensure!(
        executors.values().all(|e| e.len() == 1) && addresses.values().all(|a| a.len() == 1),
        "executors by address {executors:x?}, addresses by executor {addresses:x?}"
    );
    ensure!(
        executors.len() >= least && contexts.len() >= executors.len(),
        "{} threads and {} contexts",
        executors.len(),
        contexts.len()
    );
    Ok(())
}
