//! Sample graphs for tests and for looking at reports: one context, two with a lock and a barrier,
//! many, none.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared by tests and an example, each of which uses a part"
)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::path::Path;

use contech_backends::analysis::{Graph, open};
use taskgraph::builder::GraphBuilder;
use taskgraph::{BlockId, CallSite, MemOp, SyncOp};

/// The built graph, by way of a file as the commands read it.
pub fn graph(builder: GraphBuilder) -> Graph {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("graph.tg");
    write(builder, &path);
    open(&path).expect("a graph just written")
}

/// Writes the built graph to `path`.
pub fn write(builder: GraphBuilder, path: &Path) {
    builder.write(path).expect("a valid graph");
}

/// A builder with run facts.
pub fn builder(command: &str) -> GraphBuilder {
    let mut builder = GraphBuilder::new();
    let meta = builder.meta_mut();
    meta.command = command.split(' ').map(str::to_owned).collect();
    meta.host = "sample".to_owned();
    meta.pid = 4711;
    meta.start_unix_ns = 1_790_000_000_000_000_000;
    meta.contech_version = "0.1.0".to_owned();
    meta.mode = "full".to_owned();
    meta.complete = true;
    meta.trace_bytes = 123_456;
    builder
}

/// Makes a block end in a call.
pub fn calls(builder: &mut GraphBuilder, block: BlockId, callee: &str, line: u32) {
    builder.info_mut().blocks[block.index()].call =
        Some(CallSite { callee: callee.to_owned(), line, inlined: 0 });
}

/// No context, no task.
pub fn nothing() -> GraphBuilder {
    builder("./nothing")
}

/// One context that walks over two arrays of different size.
pub fn single() -> GraphBuilder {
    let mut b = builder("./single --n 4000");
    let small = b.block("small_loop", "src/single.c", 12, &[MemOp::load(8)]);
    let large = b.block("large_loop", "src/single.c", 24, &[MemOp::load(8), MemOp::store(8)]);
    let main = b.context("main");
    b.work(main, 0, 4_000_000, |w| {
        for i in 0..4000u64 {
            w.block(small, &[0x1_0000 + i * 8 % 4096]);
        }
        for i in 0..4000u64 {
            let at = i * 64 % 100_000;
            w.block(large, &[0x10_0000 + at, 0x20_0000 + at]);
        }
    });
    b
}

/// Two contexts: the child waits for the parent's lock; both meet at a barrier; the parent joins
/// the child.
///
/// ```text
///            0     100   200   300   400   500   600   700
/// context 0  work  C work (lock held) | work | barrier....| work | join
/// ```
/// Times in microseconds: context 0 works 0-100, creates, holds the lock 100-300, works 300-400,
/// waits at the barrier 400-600, works 600-700, joins 700-800. Context 1 works 100-150, waits for
/// the lock 150-300, holds it 300-500, works 500-600 (the barrier opens), works 600-800.
pub fn two() -> GraphBuilder {
    const US: u64 = 1000;
    let mut b = builder("./two");
    let setup = b.block("main", "src/two.c", 5, &[MemOp::store(8)]);
    let body = b.block("work", "src/two.c", 20, &[MemOp::load(8), MemOp::store(8)]);
    let lock_call = b.block("work", "src/two.c", 31, &[]);
    let barrier_call = b.block("work", "src/two.c", 44, &[]);
    let join_call = b.block("main", "src/two.c", 60, &[]);
    calls(&mut b, lock_call, "pthread_mutex_lock", 31);
    calls(&mut b, barrier_call, "pthread_barrier_wait", 44);
    calls(&mut b, join_call, "pthread_join", 60);
    let run = |count: u64, last: Option<BlockId>| {
        move |w: &mut taskgraph::builder::WorkBuilder| {
            for i in 0..count {
                w.block(body, &[0x1000 + i * 8, 0x9000 + i * 8]);
            }
            if let Some(last) = last {
                w.block(last, &[]);
            }
        }
    };
    let main = b.context("main");
    b.work(main, 0, 100 * US, |w| (0..10).for_each(|i| w.block(setup, &[0x1000 + i * 8])));
    let child = b.create(main);
    let taken = b.sync_at(main, 0xfeed, SyncOp::MutexLock, 100 * US, 100 * US);
    b.work(main, 100 * US, 300 * US, run(20, None));
    let freed = b.sync_at(main, 0xfeed, SyncOp::MutexUnlock, 300 * US, 300 * US);
    b.work(main, 300 * US, 400 * US, run(10, Some(barrier_call)));
    b.work(child, 100 * US, 150 * US, run(5, Some(lock_call)));
    let waited = b.sync_at(child, 0xfeed, SyncOp::MutexLock, 150 * US, 300 * US);
    b.edge(freed, waited);
    b.work(child, 300 * US, 500 * US, run(20, None));
    b.sync_at(child, 0xfeed, SyncOp::MutexUnlock, 500 * US, 500 * US);
    b.work(child, 500 * US, 600 * US, run(10, Some(barrier_call)));
    b.barrier(&[main, child], 0xba);
    b.work(main, 600 * US, 700 * US, run(10, Some(join_call)));
    b.work(child, 600 * US, 800 * US, run(20, None));
    b.join(main, child);
    assert_eq!(taken.to_string(), "0:2");
    b
}

/// `contexts` contexts that work in phases between barriers, unevenly, with a lock that some of
/// them wait for.
pub fn many(contexts: u64, phases: u64) -> GraphBuilder {
    let mut b = builder(&format!("./many --threads {contexts} --phases {phases}"));
    let mut random = fastrand::Rng::with_seed(7);
    let mut next = move |bound: u64| random.u64(..bound);
    let blocks: Vec<BlockId> = (0..180)
        .map(|i| {
            b.block(
                &format!("solver::Grid<double>::phase_{}", i / 6),
                &format!("src/grid/phase{}.cpp", i / 30),
                10 + i * 3,
                &[MemOp::load(8), MemOp::store(8)],
            )
        })
        .collect();
    let init = b.block("main", "src/main.cpp", 12, &[MemOp::store(8)]);
    let lock_call = b.block("solver::Grid<double>::reduce", "src/grid/reduce.cpp", 88, &[]);
    let barrier_call = b.block("solver::Grid<double>::step", "src/grid/step.cpp", 140, &[]);
    calls(&mut b, lock_call, "pthread_mutex_lock", 88);
    calls(&mut b, barrier_call, "pthread_barrier_wait", 140);
    let main = b.context("main");
    b.work(main, 0, 2_000_000, |w| (0..500).for_each(|i| w.block(init, &[0x40_0000 + i * 64])));
    let mut all = vec![main];
    for _ in 1..contexts {
        b.work(main, 0, 0, |_| {});
        all.push(b.create(main));
    }
    let mut clock = 2_100_000;
    for phase in 0..phases {
        let (mut free_at, mut latest, mut last_unlock) = (clock, clock, None);
        for (i, &context) in (0..).zip(&all) {
            let [first, second] = [phase * 7, i / 9 * 12]
                .map(|from| blocks[(from + next(12)) as usize % blocks.len()]);
            let base = 0x100_0000 + i * 0x4000 + phase % 3 * 0x80;
            let at = clock + 200_000 + next(400_000);
            b.work(context, clock, at, |w| {
                for (block, near, far) in [(first, 64, 8), (second, 8, 512)] {
                    (0..20 + next(40))
                        .for_each(|k| w.block(block, &[base + k * near, 0x60_0000 + k * far]));
                }
                w.block(if i % 4 == 0 { lock_call } else { barrier_call }, &[]);
            });
            latest = latest.max(at);
            if i % 4 == 0 {
                let got = at.max(free_at);
                let lock = b.sync_at(context, 0xfeed, SyncOp::MutexLock, at, got);
                if let Some(unlock) = last_unlock {
                    b.edge(unlock, lock);
                }
                free_at = got + 30_000;
                b.work(context, got, free_at, |w| w.block(first, &[0x60_0000, 0x60_0000]));
                let unlock = b.sync_at(context, 0xfeed, SyncOp::MutexUnlock, free_at, free_at);
                last_unlock = Some(unlock);
                latest = latest.max(free_at + 1000);
                b.work(context, free_at, free_at + 1000, |w| w.block(barrier_call, &[]));
            }
        }
        b.barrier(&all, 0xba);
        clock = latest;
    }
    for &context in &all {
        b.work(context, clock, clock + 50_000, |w| w.block(init, &[0x40_0000]));
    }
    for &context in &all[1..] {
        b.join(main, context);
    }
    b
}
