//! Threads that meet by means of atomic variables or conditions of their own.

use contech_backends::account::Report;
use taskgraph::SyncOp;

use super::{Loss, MS, account, first, program, wait, work};

const COUNT: u64 = 7;
const TURN: u64 = 8;

/// One thread works for 3 ms and has no processor for `away` ms of these. It counts itself at a
/// word and looks at another one, which a thread changes that works for 9 ms and counts itself
/// before or after that.
fn met(before: bool, away: u64) -> Report {
    let (mut b, code) = program("atomic operation");
    let [quick, slow] = ["quick", "slow"].map(|name| b.context(name));
    let comes = (3 + away) * MS;
    work(&mut b, quick, 0, 2, &[code.own]);
    work(&mut b, quick, 2 + away, 3 + away, &[code.call]);
    let counted = b.sync_at(quick, COUNT, SyncOp::AtomicRmw, comes, comes);
    if before {
        let first = b.sync_at(slow, COUNT, SyncOp::AtomicRmw, 0, 0);
        b.edge(first, counted);
    }
    work(&mut b, slow, 0, 9, &[code.held]);
    if !before {
        let last = b.sync_at(slow, COUNT, SyncOp::AtomicRmw, 9 * MS, 9 * MS);
        b.edge(counted, last);
    }
    let opens = b.sync_at(slow, TURN, SyncOp::AtomicStore, 9 * MS, 9 * MS);
    let seen = b.sync_at(quick, TURN, SyncOp::AtomicLoad, comes, 9 * MS);
    b.edge(opens, seen);
    for context in [quick, slow] {
        work(&mut b, context, 9, 10, &[code.own]);
    }
    account(b, 2)
}

#[test]
fn threads_that_count_themselves_and_spin_meet_at_a_barrier_unless_they_have_tickets() {
    // Who has no processor before the barrier has something to do all the same.
    for (before, away, cause) in
        [(false, 0, Loss::Imbalance), (false, 5, Loss::Imbalance), (true, 0, Loss::Producer)]
    {
        let report = met(before, away);
        assert_eq!(first(&report), (cause, 6, "a.c:30".to_owned()));
        assert_eq!(wait(&report.losses[0]), "a.c:20");
    }
}

/// One thread works for 3 ms and waits for a condition, which a thread signals that works for 9 ms.
/// Before, both take a mutex: by the same call, or by another one.
fn signalled(same: bool) -> Report {
    let (mut b, code) = program("pthread_mutex_lock");
    let [quick, slow] = ["quick", "slow"].map(|name| b.context(name));
    work(&mut b, quick, 0, 3, &[code.own]);
    work(&mut b, quick, 3, 3, &[code.call]);
    let took = b.sync_at(quick, COUNT, SyncOp::MutexLock, 3 * MS, 3 * MS);
    work(&mut b, slow, 0, 9, &[code.held]);
    work(&mut b, slow, 9, 9, &[if same { code.call } else { code.held }]);
    let last = b.sync_at(slow, COUNT, SyncOp::MutexLock, 9 * MS, 9 * MS);
    b.edge(took, last);
    work(&mut b, slow, 9, 9, &[code.held]);
    let signal = b.sync_at(slow, TURN, SyncOp::CondSignal, 9 * MS, 9 * MS);
    work(&mut b, quick, 3, 3, &[code.own]);
    let woken = b.sync_at(quick, TURN, SyncOp::CondWake, 3 * MS, 9 * MS);
    b.edge(signal, woken);
    for context in [quick, slow] {
        work(&mut b, context, 9, 10, &[code.own]);
    }
    account(b, 2)
}

#[test]
fn who_comes_by_the_call_of_those_who_wait_meets_them_at_a_barrier() {
    for (same, cause) in [(true, Loss::Imbalance), (false, Loss::Producer)] {
        assert_eq!(first(&signalled(same)), (cause, 6, "a.c:30".to_owned()));
    }
}
