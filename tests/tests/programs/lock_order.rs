//! `CHECK: lock-order`: the chain of a mutex in the graph is the order in which it was really
//! taken.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use taskgraph::{SyncOp, TaskId};

use crate::tasks::Graph;

/// Reads one line of digits: the contexts in the order in which they held the lock.
pub(crate) fn check(said: &str, graph: &Graph) -> Result<()> {
    let want: Vec<u32> =
        said.trim().chars().map(|c| c.to_digit(10).context("a digit")).collect::<Result<_>>()?;
    let mut locks: Vec<TaskId> = Vec::new();
    let mut unlock_after: HashMap<TaskId, TaskId> = HashMap::new();
    let mut held: HashMap<u32, TaskId> = HashMap::new();
    for task in graph.tasks() {
        let task = task?;
        let context = task.id().context.get();
        match task.op() {
            SyncOp::MutexLock | SyncOp::CriticalEnter | SyncOp::OmpLock => {
                // An edge must order the acquire directly before this one; its place in the list
                // does not suffice.
                if let Some(&before) = locks.last() {
                    ordered(graph, before, &unlock_after, task.id())?;
                }
                locks.push(task.id());
                held.insert(context, task.id());
            }
            SyncOp::MutexUnlock | SyncOp::CriticalExit | SyncOp::OmpUnlock => {
                let lock = held
                    .remove(&context)
                    .with_context(|| format!("{} unlocks nothing", task.id()))?;
                unlock_after.insert(lock, task.id());
            }
            _ => {}
        }
    }
    let got: Vec<u32> = locks.iter().map(|id| id.context.get()).collect();
    if got != want {
        let at = got.iter().zip(&want).position(|(a, b)| a != b);
        bail!("{} acquires, expected {}; first difference at {at:?}", got.len(), want.len());
    }
    let changes = want.windows(2).filter(|w| w[0] != w[1]).count();
    if changes == 0 {
        bail!("the lock never changed hands: the test showed nothing");
    }
    Ok(())
}

fn ordered(
    graph: &Graph,
    before: TaskId,
    unlocks: &HashMap<TaskId, TaskId>,
    after: TaskId,
) -> Result<()> {
    if before.context == after.context {
        return Ok(());
    }
    let unlock = unlocks
        .get(&before)
        .with_context(|| format!("{before} was not released before {after}"))?;
    if graph.task(after)?.dependencies()?.contains(unlock) {
        return Ok(());
    }
    bail!("no edge from the release {unlock} to the acquire {after}")
}
