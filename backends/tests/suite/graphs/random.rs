//! Random graphs of contexts that run at the same time, access memory, allocate, free and wait for
//! one another.

use fastrand::Rng;
use taskgraph::builder::{GraphBuilder, WorkBuilder};
use taskgraph::{AllocKind, BlockId, ContextId, MemOp, SyncOp, TaskId};

use crate::samples::calls;

/// Where the heap of the first context begins, and how far from it that of the next one.
pub(crate) const HEAP: u64 = 0x10_0000;
const OWN_HEAP: u64 = 0x6000;

/// What a random graph has.
pub(crate) struct Shape<'a> {
    /// Operations, each in a block and at a line of its own, from line 10 on.
    pub(crate) ops: &'a [MemOp],
    /// Draws an address that is accessed.
    pub(crate) address: fn(&mut Rng) -> u64,
    /// Whether contexts allocate and free, by calls in the lines 100 to 103.
    pub(crate) heap: bool,
    /// The most tasks that execute something.
    pub(crate) tasks: u64,
}

/// The graph of a seed, with two to four contexts.
pub(crate) fn random(seed: u64, shape: &Shape<'_>) -> GraphBuilder {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    let mut blocks: Vec<(BlockId, usize)> = Vec::new();
    for (i, op) in (0..).zip(shape.ops) {
        let block = b.block(&format!("f{}", i % 3), "r.c", 10 + i, std::slice::from_ref(op));
        blocks.push((block, op.operand_count()));
    }
    let sites = [100, 101, 102, 103].map(|line| {
        let site = b.block("make", "r.c", line, &[]);
        calls(&mut b, site, "malloc", line);
        site
    });
    let main = b.context("main");
    b.work(main, 0, 1, |_| {});
    let mut contexts: Vec<ContextId> = vec![main];
    contexts.extend((0..1 + random.u64(..3)).map(|_| b.create(main)));
    // The time of each context, and what it has allocated.
    let mut states: Vec<(u64, Vec<(u64, u64)>)> =
        contexts.iter().map(|_| (1 + random.u64(..50), Vec::new())).collect();
    let mut tasks = Vec::new();
    for _ in 0..1 + random.u64(..shape.tasks) {
        let at = random.usize(..contexts.len());
        let (clock, own) = &mut states[at];
        let most = [10, 300, 5000][random.usize(..3)];
        let (start, length, executions) = (*clock, random.u64(..most), random.u64(..120));
        *clock += length + random.u64(..200);
        // Some operate on a lock or a semaphore, and wait for nobody.
        let ops = [SyncOp::MutexLock, SyncOp::MutexUnlock, SyncOp::SemPost];
        let op = ops.get(random.usize(..12)).copied();
        let mut execute = |w: &mut WorkBuilder| match random.u64(..12) {
            0 if shape.heap => {
                let from = HEAP + OWN_HEAP * at as u64 + 16 * random.u64(..1000);
                let size = random.u64(..5000);
                let end = from + size.max(1);
                if own.iter().all(|&(start, after)| end <= start || after <= from) {
                    own.push((from, end));
                    w.block(sites[random.usize(..4)], &[]);
                    w.alloc(from, size, AllocKind::Malloc);
                }
            }
            1 if !own.is_empty() => w.free(own.swap_remove(random.usize(..own.len())).0),
            _ => {
                let (block, operands) = blocks[random.usize(..blocks.len())];
                let most = if random.u64(..4) == 0 { 60_000 } else { 300 };
                let addresses = [(); 2].map(|()| (shape.address)(&mut random));
                let values = [addresses[0], addresses[1], random.u64(..most)];
                w.block(block, &values[..operands]);
            }
        };
        let (context, end) = (contexts[at], start + length);
        let task = match op {
            Some(op) => b.sync_at(context, 0xfeed, op, start, end),
            None => b.work(context, start, end, |w| (0..executions).for_each(|_| execute(w))),
        };
        for _ in 0..random.u64(..3) {
            let from: Option<&TaskId> = tasks.get(random.usize(..=tasks.len()));
            if let Some(&from) = from.filter(|from| from.context != task.context) {
                b.edge(from, task);
            }
        }
        tasks.push(task);
    }
    b
}
