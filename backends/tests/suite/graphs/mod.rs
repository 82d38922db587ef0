//! Random graphs and the obvious answers about them, for the exactness tests of the analyses.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

pub(crate) mod affine;

pub(crate) use crate::samples::graph;

use std::collections::BTreeMap;

use contech_backends::analysis::Graph;

use fastrand::Rng;
use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, MemOp, SyncOp, TaskId};

/// Contexts of many short tasks between operations on locks, now and then a long one, a pause or an
/// allocation.
pub(crate) fn storm(seed: u64) -> Graph {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    b.meta_mut().processors = 2;
    let blocks = [
        b.block("f", "a.c", 1, &[]),
        b.block("f", "a.c", 2, &[MemOp::load(8)]),
        b.block("g", "a.c", 3, &[MemOp::store(8), MemOp::load(4)]),
    ];
    let ops = [SyncOp::MutexLock, SyncOp::MutexUnlock, SyncOp::MutexTryFail];
    for _ in 0..3 {
        let own = b.context("thread");
        let mut clock = random.u64(..100);
        for _ in 0..300 {
            let ns = [0, 1, 5, 5, 5, 17, 17, 300, 60_000, 1_500_000];
            let lengths = if random.u8(..20) > 0 { 7 } else { ns.len() };
            let end = clock + ns[random.usize(..lengths)];
            b.work(own, clock, end, |work| {
                for _ in 0..random.u64(..4) {
                    let at = 0x1000 + 8 * random.u64(..400);
                    let block = random.usize(..3);
                    work.block(blocks[block], &[at, at + 4][..block]);
                }
                match random.u64(..40) {
                    0 => work.alloc(0x1000 + 64 * random.u64(..40), 64, AllocKind::Malloc),
                    1 => work.free(0x1000 + 64 * random.u64(..40)),
                    _ => {}
                }
            });
            clock = end + if random.u8(..25) == 0 { 9 } else { 0 };
            let waits = if random.u8(..30) == 0 { random.u64(..900) } else { 0 };
            let known = if random.u8(..9) == 0 { 3 } else { 2 };
            let op = ops[random.usize(..known)];
            b.sync_at(own, 0x10, op, clock, clock + waits);
            clock += waits;
        }
    }
    graph(b)
}

/// All predecessors of every task.
pub(crate) fn predecessors(graph: &Graph) -> BTreeMap<TaskId, Vec<TaskId>> {
    let tasks = graph.tasks().map(|task| task.expect("readable"));
    tasks.map(|task| (task.id(), task.predecessors().expect("readable"))).collect()
}

/// For every task, the tasks that come before it by some path.
pub(crate) fn ancestors(graph: &Graph) -> BTreeMap<TaskId, std::collections::BTreeSet<TaskId>> {
    let mut all: BTreeMap<TaskId, std::collections::BTreeSet<TaskId>> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task.expect("readable");
        let mut own = std::collections::BTreeSet::new();
        for before in task.predecessors().expect("readable") {
            own.extend(all[&before].iter().copied());
            own.insert(before);
        }
        all.insert(task.id(), own);
    }
    all
}
