//! Large traces, small memory, many threads: the graph stays the same.

use contech_middle::{Error, Options};
use contech_trace::event::SyncOp::{Barrier, MutexLock, MutexUnlock, SemPost, SemWait, TaskCreate};
use contech_trace::event::{Arrival, Event};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::graph::{convert_with, fine, options};
use crate::trace::{
    BASE, COPY, GATHER, LOAD, LOOP, STORE_LOAD, TraceBuilder, assemble, module_with_loop,
};

/// `rounds` rounds of four contexts with locks, semaphores, barriers and work.
fn large(rounds: u64, barriers: bool) -> Vec<u8> {
    let mut t = TraceBuilder::new();
    for child in 1..=3 {
        t.create(0, child);
    }
    let mut x = 1u64;
    for round in 0..rounds {
        for _ in 0..4 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let context = u32::try_from(x >> 62).unwrap();
            let lock = 0x2000 + (x >> 50) % 3 * 64;
            t.sync(context, MutexLock, lock);
            t.block(context, LOAD, &[x >> 20]);
            t.block(context, STORE_LOAD, &[0x5000 + round * 4, 0x9000 + round * 4]);
            t.sync(context, MutexUnlock, lock);
            t.block(context, COPY, &[0x100, 0x200, round % 64]);
            t.block(context, GATHER, &[round % 8, 0x10, 0x20, 0x30]);
        }
        t.sync(0, SemPost, 0x3000);
        if round % 3 == 0 {
            t.sync(1, SemWait, 0x3000);
        }
        if barriers && round % 16 == 0 {
            for context in [2, 0, 3, 1] {
                t.sync_aux(context, Barrier, 0x4000, 4);
            }
        }
        if round % 50 == 0 {
            t.flush(u32::try_from(round % 4).unwrap());
        }
    }
    for child in 1..=3 {
        t.join(0, child);
    }
    t.end(0);
    t.finish()
}

#[test]
fn memory_and_threads_do_not_change_the_graph() {
    for barriers in [false, true] {
        let trace = large(2000, barriers);
        let reference = convert_with(trace.clone(), &options(512 << 20, 1)).unwrap();
        assert!(reference.summary.complete);
        for (memory, threads) in [(1, 1), (64 << 10, 3), (1 << 20, 2), (512 << 20, 4)] {
            let other = convert_with(trace.clone(), &options(memory, threads)).unwrap();
            assert_eq!(other.summary, reference.summary);
            assert!(other.bytes == reference.bytes, "{memory} bytes, {threads} threads");
        }
    }
}

#[test]
fn contexts_of_which_only_a_record_is_kept_make_the_same_graph() {
    let mut t = TraceBuilder::new();
    // More than keep their state while they are live.
    for child in 1..=9000 {
        t.create(0, child);
        t.sync(child, MutexLock, 0x2000);
        t.block(child, LOAD, &[u64::from(child) * 8]);
        t.sync(child, MutexUnlock, 0x2000);
        if child > 20 {
            t.join(0, child - 20);
        }
    }
    t.end(0);
    let trace = t.finish();
    let reference = convert_with(trace.clone(), &options(512 << 20, 1)).unwrap();
    assert_eq!(reference.summary.contexts, 9001);
    reference.graph.verify().unwrap();
    let other = convert_with(trace, &options(1, 2)).unwrap();
    assert!(other.bytes == reference.bytes);
    let context = reference.graph.contexts().nth(8000).unwrap();
    assert_eq!(context.creator.map(|c| c.context.get()), Some(0));
    assert_eq!(context.task_count, 4);
}

#[test]
fn contexts_of_one_thread_have_frames_in_common() {
    let mut t = TraceBuilder::new();
    const TASKS: u32 = 1000;
    let switch = |t: &mut TraceBuilder, context, how| {
        let at = t.tick();
        let piece = 0;
        t.event(0, Event::Switch { context, piece, how, at });
    };
    for child in 1..=TASKS {
        t.sync(0, TaskCreate, child.into());
        switch(&mut t, child, Arrival::Begins);
        t.work(0);
        t.end(0);
        switch(&mut t, 0, Arrival::Resumes);
        t.block(0, LOAD, &[u64::from(child)]);
    }
    t.end(0);
    let c = convert_with(t.finish(), &options(1 << 20, 2)).unwrap();
    assert_eq!(c.summary.contexts, u64::from(TASKS) + 1);
    let mut frames = BTreeSet::new();
    let mut acting = BTreeSet::new();
    for task in c.graph.tasks() {
        let task = task.unwrap();
        for span in task.spans() {
            frames.insert(span.frame.0);
            acting.insert(task.id().context);
        }
    }
    assert_eq!((frames.len(), acting.len()), (1, 1001));
}

#[test]
fn a_task_may_span_many_chunks_and_frames() {
    let mut t = TraceBuilder::new();
    const BLOCKS: u64 = 300_000;
    for i in 0..BLOCKS {
        t.block(0, LOAD, &[0x1_0000 + i * 8]);
        t.flush_full(100_000);
    }
    t.end(0);
    let c = convert_with(t.finish(), &options(1 << 20, 2)).unwrap();
    let task = c.graph.task("0:0".parse().unwrap()).unwrap();
    let mut next = 0;
    task.for_each_access(|a| {
        assert_eq!(a.addr, 0x1_0000 + next * 8);
        next += 1;
    })
    .unwrap();
    assert_eq!((next, task.block_count(), task.bytes_accessed()), (BLOCKS, BLOCKS, BLOCKS * 8));
}

#[test]
fn a_few_bytes_of_a_collapsed_loop_may_stand_for_millions_of_blocks() {
    // Each of the loops is more than one part of a chunk's result; a lock in between cuts the task.
    const TIMES: u64 = 5_000_000;
    let mut t = TraceBuilder::empty();
    t.module(BASE, &module_with_loop());
    t.start(0);
    t.create(0, 1);
    for context in [0, 1, 0] {
        t.record(context, LOOP, &[TIMES - 1], 6);
        t.sync(context, MutexLock, 0x2000);
        t.sync(context, MutexUnlock, 0x2000);
    }
    t.join(0, 1);
    t.end(0);
    let trace = t.finish();
    assert!(trace.len() < 3000);
    let options = Options { threads: 3, ..fine() };
    let c = convert_with(trace, &options).unwrap();
    assert!(c.summary.complete, "{:?}", c.summary.notes);
    assert_eq!(c.summary.blocks, 3 * TIMES);
    for id in ["0:2", "0:5", "1:0"] {
        let task = c.graph.task(id.parse().unwrap()).unwrap();
        assert_eq!(task.block_count(), TIMES, "{id}");
        let (mut next, mut wrong) = (0x1000, 0);
        task.for_each_access(|a| {
            wrong += u64::from(a.addr != next);
            next += 8;
        })
        .unwrap();
        assert_eq!((next, wrong), (0x1000 + 8 * TIMES, 0), "{id}");
    }
}

#[test]
fn what_a_loop_knows_is_lost_with_the_chunk_before() {
    let mut t = TraceBuilder::empty();
    t.module(BASE, &module_with_loop());
    t.start(0);
    for _ in 0..3 {
        t.record(0, LOOP, &[9], 6);
        t.flush(0);
    }
    t.end(0);
    t.close();
    t.pieces.remove(3);
    let c = convert_with(assemble(&t.pieces), &options(1 << 20, 2)).unwrap();
    // The loop is fresh in each chunk: only the missing chunk is lost.
    assert_eq!((c.summary.complete, c.summary.blocks), (false, 20));
}

#[test]
fn a_cancelled_conversion_leaves_nothing() {
    let mut o = options(1 << 20, 1);
    o.cancel = Some(Arc::new(AtomicBool::new(true)));
    let error = convert_with(large(10, false), &o).err().unwrap();
    assert!(matches!(error, Error::Cancelled));
}
