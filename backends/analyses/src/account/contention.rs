//! Which atomic operations several executors do on the same cache lines. Such an operation costs
//! what it takes to get the line from another processor, many times what it costs where nobody else
//! uses the variable. How often the line went to and fro in the recorded run says little of that:
//! recording makes the code between slower, and lets who has the line go on.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{Action, BlockId, ExecutorId, OpKind, TaskId};

use super::looks::waiting;
use crate::analysis::{Graph, Task, turns};
use crate::memuse::LINE;

/// Blocks that are looked at, the ones with most operations, and executors of each.
const BLOCKS: usize = 8;
const EXECUTORS: usize = 8;
/// Executors of a block that are told apart: of a thread for each request, the first ones show what
/// all do.
const KNOWN: usize = 64;
/// A block with fewer operations costs nothing that counts.
const FEW: u64 = 10_000;
/// An executor with less than one part in so many of another's operations is not in its way.
const RARE: u64 = 8;
/// Operations of a task whose lines are looked at, and actions of the task among which they are
/// searched.
const LOOKED_AT: usize = 256;
const SEARCHED: u64 = 1 << 17;

/// The atomic operations of executors, by block.
#[derive(Debug, Default)]
pub(super) struct Atomics(FxHashMap<BlockId, BTreeMap<ExecutorId, Done>>);

/// How often an executor executed a block, and the task in which it did most often, of those with
/// all their code if there are any.
#[derive(Clone, Copy, Debug)]
struct Done {
    times: u64,
    most: (bool, u64),
    task: TaskId,
}

impl Atomics {
    /// The task executed a block with atomic operations so many times.
    pub(super) fn add(&mut self, task: &Task<'_>, block: BlockId, times: u64) {
        let done = Done { times, most: (task.has_all_code(), times), task: task.id() };
        self.done(block, task.executor(), done);
    }

    fn done(&mut self, block: BlockId, executor: ExecutorId, more: Done) {
        let own = self.0.entry(block).or_default();
        let done = own.entry(executor).or_insert(Done { times: 0, ..more });
        done.times = done.times.saturating_add(more.times);
        if (more.most, Reverse(more.task)) > (done.most, Reverse(done.task)) {
            (done.most, done.task) = (more.most, more.task);
        }
        if own.len() > KNOWN {
            own.pop_last();
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (block, executors) in other.0 {
            for (executor, more) in executors {
                self.done(block, executor, more);
            }
        }
    }

    /// How many executors do the operations of a block, or those of others, on the same lines, for
    /// the blocks with most operations. (Inlined code is a block of each caller.) Operations of
    /// loops that wait are left out: these turns are waiting.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn contended(&self, graph: &Graph) -> Result<FxHashMap<BlockId, u32>> {
        let info = graph.info();
        let waiting = waiting(info, &turns(info));
        let waits = |block: &BlockId| {
            let function = info.block(*block).map(|block| block.function);
            function.is_none_or(|function| waiting.contains(&function))
        };
        let all = |executors: &BTreeMap<ExecutorId, Done>| -> u64 {
            executors.values().map(|done| done.times).sum()
        };
        let mut blocks: Vec<_> = self.0.iter().filter(|(block, _)| !waits(block)).collect();
        blocks.retain(|(_, executors)| all(executors) >= FEW);
        blocks.sort_by_key(|(block, executors)| (Reverse(all(executors)), **block));
        blocks.truncate(BLOCKS);
        let mut users = Vec::new();
        for (&block, executors) in blocks {
            let mut executors: Vec<_> = executors.iter().collect();
            executors.sort_by_key(|(executor, done)| (Reverse(done.times), **executor));
            for (&executor, &Done { times, task, .. }) in executors.into_iter().take(EXECUTORS) {
                let lines = lines(&graph.task(task)?, block)?;
                users.push(User { block, executor, times, lines });
            }
        }
        let mut contended = FxHashMap::default();
        for own in &users {
            let others = users.iter().filter(|other| other.is_in_the_way(own));
            let executors: FxHashSet<ExecutorId> = others.map(|other| other.executor).collect();
            if !executors.is_empty() {
                let all = u32::try_from(executors.len())?.saturating_add(1);
                let most = contended.entry(own.block).or_insert(all);
                *most = all.max(*most);
            }
        }
        Ok(contended)
    }
}

/// What is known of an executor's operations in a block.
#[derive(Debug)]
struct User {
    block: BlockId,
    executor: ExecutorId,
    times: u64,
    lines: FxHashSet<u64>,
}

impl User {
    fn is_in_the_way(&self, other: &Self) -> bool {
        self.executor != other.executor
            && self.times.min(other.times).saturating_mul(RARE) >= self.times.max(other.times)
            && !self.lines.is_disjoint(&other.lines)
    }
}

/// Some of the lines on which a task does the atomic operations of a block.
fn lines(task: &Task<'_>, block: BlockId) -> Result<FxHashSet<u64>> {
    let info = task.graph().info();
    let (mut lines, mut seen, mut searched) = (FxHashSet::default(), 0, 0);
    task.try_for_each_action(|action| {
        searched += 1;
        if let Action::Block(executed) = action
            && executed.id() == block
        {
            for access in executed.accesses() {
                if info.op(access.op).is_some_and(|op| op.kind == OpKind::Rmw) {
                    lines.insert(access.addr / LINE);
                    seen += 1;
                }
            }
        }
        match seen < LOOKED_AT && searched < SEARCHED {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(lines)
}
