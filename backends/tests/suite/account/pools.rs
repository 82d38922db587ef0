//! Threads that take jobs from a queue.

use contech_backends::account::Report;
use taskgraph::builder::GraphBuilder;
use taskgraph::{BlockId, ContextId, SyncOp, TaskId};

use super::{Loss, MS, account, program, work};

const LOCK: u64 = 7;
const CONDITION: u64 = 8;
const DONE: u64 = 9;

/// A thread finds a job, and does it for so many ms.
fn job(b: &mut GraphBuilder, worker: ContextId, at: u64, ms: u64, code: BlockId) {
    for op in [SyncOp::MutexLock, SyncOp::MutexUnlock] {
        b.sync_at(worker, LOCK, op, at * MS, at * MS);
    }
    work(b, worker, at, at + ms, &[code]);
}

/// After 1 ms a thread makes jobs of so many ms each for two others, and one for each of them to
/// end. Each of them waits for its first one. With `counted` they count with the same lock what
/// they have done, and the thread waits until all is done.
fn pool(jobs: [&[u64]; 2], counted: bool) -> Report {
    let (mut b, code) = program("f");
    let [maker, one, other] = ["maker", "one", "other"].map(|name| b.context(name));
    work(&mut b, maker, 0, 1, &[code.own]);
    let mut signal = None;
    for _ in 0..jobs.concat().len() + 2 {
        b.sync_at(maker, LOCK, SyncOp::MutexLock, MS, MS);
        signal = Some(b.sync_at(maker, CONDITION, SyncOp::CondSignal, MS, MS));
        b.sync_at(maker, LOCK, SyncOp::MutexUnlock, MS, MS);
    }
    let longest = jobs.iter().map(|own| own.iter().sum::<u64>()).max().unwrap_or(0);
    let mut done = None;
    for (worker, own) in [one, other].into_iter().zip(jobs) {
        b.sync_at(worker, LOCK, SyncOp::MutexLock, 0, 0);
        waits(&mut b, worker, (0, MS), signal, CONDITION);
        b.sync_at(worker, LOCK, SyncOp::MutexUnlock, MS, MS);
        work(&mut b, worker, 1, 1 + own[0], &[code.held]);
        let mut at = 1 + own[0];
        let mut count = |b: &mut GraphBuilder, at: u64| {
            if !counted {
                return;
            }
            b.sync_at(worker, LOCK, SyncOp::MutexLock, at * MS, at * MS);
            if at == 1 + longest {
                done = Some(b.sync_at(worker, DONE, SyncOp::CondSignal, at * MS, at * MS));
            }
            b.sync_at(worker, LOCK, SyncOp::MutexUnlock, at * MS, at * MS);
        };
        for &ms in &own[1..] {
            count(&mut b, at);
            job(&mut b, worker, at, ms, code.held);
            at += ms;
        }
        count(&mut b, at);
        job(&mut b, worker, at, 0, code.held);
    }
    if done.is_some() {
        let end = (1 + longest) * MS;
        b.sync_at(maker, LOCK, SyncOp::MutexLock, MS, MS);
        waits(&mut b, maker, (MS, end), done, DONE);
        b.sync_at(maker, LOCK, SyncOp::MutexUnlock, end, end);
    }
    account(b, 2)
}

#[test]
fn whoever_is_free_takes_the_next_job_whoever_took_it_in_the_recorded_run() {
    // One had no processor after two jobs, so the other one did six.
    let report = pool([&[1; 6], &[1; 2]], false);
    assert_eq!(report.replayed_ns, 5 * MS, "{report:?}");
    // A job that is longer than all others together keeps one of them at work.
    let report = pool([&[9], &[1; 3]], false);
    assert_eq!(report.replayed_ns, 10 * MS, "{report:?}");
    let cause = report.losses[0].cause;
    assert!(matches!(cause, Loss::Imbalance | Loss::Serial), "{report:?}");
}

#[test]
fn threads_that_count_what_is_done_with_the_lock_of_the_jobs_take_the_next_one_all_the_same() {
    let report = pool([&[1; 6], &[1; 2]], true);
    assert_eq!(report.replayed_ns, 5 * MS, "{report:?}");
    // More was taken than made, because both were told to end at once; that is no room of a queue.
    assert!(report.losses.iter().all(|row| row.room.is_none()), "{report:?}");
}

/// Waits for a condition from one time to another, ns, with the lock.
fn waits(
    b: &mut GraphBuilder,
    context: ContextId,
    (from, to): (u64, u64),
    by: Option<TaskId>,
    condition: u64,
) {
    b.sync_at(context, LOCK, SyncOp::CondRelease, from, from);
    let woken = b.sync_at(context, condition, SyncOp::CondWake, from, to);
    if let Some(by) = by {
        b.edge(by, woken);
    }
    b.sync_at(context, LOCK, SyncOp::CondReacquire, to, to);
}

/// One thread makes things, another one takes them from a queue with one place. Both need so long
/// (ms) for each.
fn queue_of_one(costs: &[(u64, u64)]) -> Report {
    /// How long it takes to go on after a wait, ns.
    const LATER: u64 = 100;
    let (mut b, code) = program("f");
    let [maker, taker] = ["maker", "taker"].map(|name| b.context(name));
    let (mut put, mut taken, mut done) = (0, 0, 0);
    let mut room = None;
    for &(makes, takes) in costs {
        let made = put + makes * MS;
        b.work(maker, put, made, |w| w.block(code.own, &[]));
        put = made.max(taken + LATER);
        b.sync_at(maker, LOCK, SyncOp::MutexLock, made, made);
        if put > made {
            waits(&mut b, maker, (made, put), room, DONE);
        }
        let filled = b.sync_at(maker, CONDITION, SyncOp::CondSignal, put, put);
        b.sync_at(maker, LOCK, SyncOp::MutexUnlock, put, put);
        taken = done.max(put + LATER);
        b.sync_at(taker, LOCK, SyncOp::MutexLock, done, done);
        if taken > done {
            waits(&mut b, taker, (done, taken), Some(filled), CONDITION);
        }
        room = Some(b.sync_at(taker, DONE, SyncOp::CondSignal, taken, taken));
        b.sync_at(taker, LOCK, SyncOp::MutexUnlock, taken, taken);
        done = taken + takes * MS;
        b.work(taker, taken, done, |w| w.block(code.held, &[]));
    }
    account(b, 2)
}

#[test]
fn a_queue_with_few_places_is_told_where_more_would_help() {
    // Now one side takes longer, now the other one.
    let bursts = [[(1, 4); 6], [(4, 1); 6], [(1, 4); 6], [(4, 1); 6]].concat();
    let report = queue_of_one(&bursts);
    let first = &report.losses[0];
    assert_eq!(first.room, Some(1), "{report:?}");
    let sentence = first.sentence();
    assert!(sentence.contains("room in a queue that has 1 place"), "{sentence}");
    // Who takes longer each time has to be faster.
    let report = queue_of_one(&[(1, 4); 20]);
    assert_eq!(report.losses[0].room, None, "{report:?}");
}

#[test]
fn turns_of_a_loop_that_waits_are_no_work() {
    let (mut b, code) = program("turn of a wait");
    let [one, other] = ["one", "other"].map(|name| b.context(name));
    for (context, waits) in [(one, 0), (other, 8)] {
        b.work(context, 0, 2 * MS, |w| {
            (0..1000).for_each(|_| w.block(code.own, &[]));
        });
        if waits > 0 {
            b.work(context, 2 * MS, 10 * MS, |w| {
                (0..900).for_each(|_| w.block(code.call, &[]));
            });
        }
        let at = (2 + waits) * MS;
        b.sync_at(context, LOCK, SyncOp::AtomicTake, at, at);
        work(&mut b, context, 2 + waits, 10 + waits, &[code.held]);
        b.sync_at(context, LOCK, SyncOp::AtomicGive, at + 8 * MS, at + 8 * MS);
    }
    let report = account(b, 2);
    // Both work for 10 ms, 8 of them with the lock.
    assert_eq!(report.useful_ns / MS, 20, "{report:?}");
    assert_eq!(report.losses[0].cause, Loss::Lock, "{report:?}");
}

/// One thread makes many things, each in so many ns, and another one waits for each of them, which
/// it works on for half as long.
fn one_by_one(ns: u64) -> Report {
    let (mut b, code) = program("f");
    let [maker, taker] = ["maker", "taker"].map(|name| b.context(name));
    b.work(taker, 0, 1, |w| w.block(code.call, &[]));
    b.sync_at(taker, LOCK, SyncOp::MutexLock, 1, 1);
    for n in 0..2000 {
        b.work(maker, n * ns, (n + 1) * ns, |w| w.block(code.held, &[]));
        let made = b.sync_at(maker, CONDITION, SyncOp::CondSignal, (n + 1) * ns, (n + 1) * ns);
        let from = if n == 0 { 1 } else { n * ns + ns / 2 };
        waits(&mut b, taker, (from, (n + 1) * ns), Some(made), CONDITION);
        b.work(taker, (n + 1) * ns, (n + 1) * ns + ns / 2, |w| w.block(code.own, &[]));
    }
    account(b, 2)
}

#[test]
fn things_that_are_made_faster_than_a_thread_wakes_are_too_small_to_hand_over() {
    let cause = |ns| one_by_one(ns).losses[0].clone();
    let row = cause(1000);
    assert_eq!((row.cause, row.place()), (Loss::Scheduling, "a.c:30".to_owned()), "{row:?}");
    assert_eq!(cause(50_000).cause, Loss::Producer);
}
