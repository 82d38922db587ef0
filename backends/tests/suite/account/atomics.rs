//! What atomic operations cost, and how sure that is.

use super::*;

/// Two threads that add 20,000 times each, these bytes apart.
fn added(apart: u64) -> Report {
    let mut b = builder("./counter");
    let add = b.block("add", "c.c", 10, &[MemOp::new(OpKind::Rmw, 8, 0)]);
    let [main, other] = threads(&mut b);
    for (context, place) in [(main, 0), (other, apart)] {
        b.work(context, 0, MS, |w| {
            (0..20_000).for_each(|_| w.block(add, &[0x1000 + place]));
        });
    }
    b.join(main, other);
    account(b, 2)
}

fn locking(report: &Report) -> &Row {
    loss(report, Loss::Locking).unwrap()
}

#[test]
fn operations_on_one_line_cost_what_fetching_it_takes() {
    let [alone, neighbours, shared] = [256, 8, 0].map(added);
    // Of 40,000 executions of the block and its operation.
    let cost = |report: &Report| locking(report).ns as f64 / report.useful_ns as f64;
    let ratio = cost(&shared) / cost(&alone);
    assert!((ratio - 28.0 / 5.0).abs() < 0.1, "{ratio}");
    assert_eq!(cost(&neighbours), cost(&shared));
    assert_eq!(locking(&shared).place(), "c.c:10");
}

#[test]
fn what_an_operation_costs_is_an_estimate_and_so_is_what_its_end_brings() {
    let report = added(0);
    let row = locking(&report);
    let [least, most] = [row.mended[0], row.at_most.unwrap()];
    assert!((most - 1.0) > 2.9 * (least - 1.0), "{row:?}");
    let range = format!("would be {least:.1} to {most:.1} times as fast");
    assert!(row.sentence().contains(&range), "{}", row.sentence());
    // A wait is replayed.
    let waits = sections([SyncOp::MutexLock, SyncOp::MutexUnlock]);
    assert_eq!(waits.losses[0].at_most, None);
}

#[test]
fn a_wait_is_at_the_lock_that_is_waited_for() {
    let (mut b, code) = program("f");
    let [brief, long] = [20, 30].map(|line| b.block("take", "a.c", line, &[]));
    let [main, other] = threads(&mut b);
    for context in [main, other] {
        b.work(context, 0, 10 * MS, |w| {
            for _ in 0..100 {
                w.block(brief, &[]);
                w.sync(SyncOp::MutexLock, 7);
                w.sync(SyncOp::MutexUnlock, 7);
                w.block(long, &[]);
                w.sync(SyncOp::MutexLock, 8);
                (0..9).for_each(|_| w.block(code.held, &[]));
                w.sync(SyncOp::MutexUnlock, 8);
            }
        });
    }
    b.join(main, other);
    let report = account(b, 2);
    assert_eq!(report.losses[0].cause, Loss::Lock, "{report:?}");
    assert_eq!(wait(&report.losses[0]), "a.c:30", "{report:?}");
}

#[test]
fn threads_that_do_little_cost_their_own_start() {
    let (mut b, code) = program("make");
    let main = b.context("main");
    for from in (0..200).map(|at| at * 40_000) {
        b.work(main, from, from + 20_000, |w| w.block(code.call, &[]));
        let thread = b.create(main);
        b.work(thread, from + 20_000, from + 40_000, |w| w.block(code.held, &[]));
    }
    let report = account(b, 2);
    let found = |row: &&Row| row.cause == Loss::Scheduling && row.threads;
    let row = report.losses.iter().find(found);
    assert_eq!(row.map(|row| row.ns), Some(201 * 10_000), "{report:?}");
}
