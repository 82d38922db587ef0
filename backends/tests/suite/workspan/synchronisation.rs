//! Barriers and locks on the span.

use contech_backends::analysis::run;
use contech_backends::workspan::{Locks, Options, WorkSpan};
use taskgraph::{Block, BlockId, ContextId, SyncOp, TaskId};

use super::program::Recorder;
use super::{ops, report, site};

/// A program that has made so many threads; with the first and the last block of a thread and the
/// last one of all.
fn workers<const N: usize>() -> (Recorder, [BlockId; 3], ContextId, [ContextId; N]) {
    let mut r = Recorder::default();
    let main = r.block("main", 1, 1, Block::ENTRY);
    let spawn = r.call("main", 2, 1, "pthread_create");
    let blocks = [
        r.block("worker", 10, 1, Block::ENTRY),
        r.block("worker", 13, 1, Block::RETURN),
        r.block("main", 3, 1, Block::RETURN),
    ];
    let context = r.main();
    r.run(context, main);
    let workers = [(); N].map(|()| {
        r.run(context, spawn);
        r.create(context)
    });
    (r, blocks, context, workers)
}

#[test]
fn a_barrier_adds_the_slowest_of_each_phase_to_the_span_of_who_created_all() {
    let (mut r, [enter, leave, end], context, workers) = workers::<2>();
    let short = r.block("worker", 11, 10, 0);
    let long = r.block("worker", 12, 100, 0);
    for (worker, phases) in workers.into_iter().zip([[long, short], [short, long]]) {
        r.run(worker, enter);
        r.run(worker, phases[0]);
    }
    r.barrier(&workers);
    for (worker, phase) in workers.into_iter().zip([short, long]) {
        r.run(worker, phase);
        r.run(worker, leave);
    }
    workers.into_iter().for_each(|worker| r.join(context, worker));
    r.run(context, end);
    let report = report(&r.graph());
    // main, the first creation, a worker's entry, the long phase of each, a worker's end.
    assert_eq!(report.span, 1 + 1 + 1 + 100 + 100 + 1 + 1);
    let whole = site(&report, "main", 1).on_work.top_call_site;
    assert_eq!((whole.work, whole.span), (report.work, report.span));
    let worker = site(&report, "worker", 2);
    assert_eq!((worker.count, worker.kind), (2, "spawn"));
    // A worker waits for the other one, but that is not its own work: its span is its own
    // instructions.
    assert_eq!(worker.on_work.top_call_site.span, 2 * 112);
    let local: u64 = report.sites.iter().map(|s| s.on_span.local.span).sum();
    assert_eq!(local, report.span);
}

#[test]
fn locks_count_as_the_order_they_had_or_not_at_all() {
    let (mut r, [enter, leave, end], context, workers) = workers::<3>();
    let inside = r.block("worker", 11, 50, 0);
    let mut released = None;
    for worker in workers {
        r.run(worker, enter);
        r.cut(worker);
        let lock = r.builder.sync(worker, 0xfeed, SyncOp::MutexLock);
        if let Some(before) = released {
            r.builder.edge(before, lock);
        }
        r.run(worker, inside);
        r.cut(worker);
        released = Some(r.builder.sync(worker, 0xfeed, SyncOp::MutexUnlock));
        r.run(worker, leave);
    }
    workers.into_iter().for_each(|worker| r.join(context, worker));
    r.run(context, end);
    let graph = r.graph();
    let ordered = report(&graph);
    assert_eq!(ordered.span, 1 + 1 + 1 + 3 * 50 + 1 + 1);
    let free = Options { locks: Locks::Free, ..ops() };
    let free = run::<WorkSpan>(free, &graph).expect("a report");
    assert_eq!(free.span, 1 + 3 + 1 + 50 + 1 + 1);
    assert_eq!(free.work, ordered.work);
}

#[test]
fn the_slowest_of_a_team_that_one_task_creates_is_on_the_span() {
    // OpenMP: one Create for a region, an edge from it to each implicit task, one Join after all of
    // them.
    for slowest in [0, 1, 2] {
        let mut r = Recorder::default();
        let main = r.block("main", 1, 1, Block::ENTRY);
        let fork = r.call("main", 2, 1, "__kmpc_fork_call");
        let enter = r.block("region", 10, 1, Block::ENTRY);
        let body = r.block("region", 11, 1000, 0);
        let leave = r.block("region", 13, 1, Block::RETURN);
        let end = r.block("main", 3, 1, Block::RETURN);
        let context = r.main();
        r.run(context, main);
        r.run(context, fork);
        let first = r.create(context);
        let create = TaskId::new(context, 1);
        let mut team = vec![first];
        for name in ["second", "third"] {
            let member = r.context(name);
            r.builder.edge(create, TaskId::new(member, 0));
            team.push(member);
        }
        for (at, &member) in team.iter().enumerate() {
            r.run(member, enter);
            if at == slowest {
                r.run(member, body);
            }
            r.run(member, leave);
            r.cut(member);
        }
        r.cut(context);
        let join = r.builder.join(context, first);
        for &member in &team[1..] {
            r.builder.edge(TaskId::new(member, 0), join);
        }
        r.run(context, end);
        let report = report(&r.graph());
        assert_eq!((report.work, report.span), (3 + 6 + 1000, 3 + 2 + 1000));
        let whole = site(&report, "main", 1).on_work.top_call_site;
        assert_eq!((whole.work, whole.span), (report.work, report.span));
        let region = site(&report, "region", 2);
        assert_eq!((region.count, region.kind), (3, "spawn"));
        assert_eq!(region.on_span.local.span, 1002);
    }
}
