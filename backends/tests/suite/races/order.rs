//! What orders accesses: locks, barriers, creating, joining, signals; and what does not.

use contech_backends::races::Race;
use taskgraph::{MemOp, SyncOp};

use super::program::{NONE, Program, X, lines};

#[test]
fn a_lock_around_one_of_them_does_not() {
    let (mut p, one, two) = Program::threads();
    p.locked(one, None, |p| _ = p.write(one, X));
    p.write(two, X);
    assert_eq!(
        p.race().missing,
        "No task of context 1 comes before 2:1; 1:2 holds lock 0xfeed, 2:1 holds none."
    );
}

#[test]
fn two_different_locks_order_nothing() {
    let (mut p, one, two) = Program::threads();
    p.locked(one, None, |p| _ = p.write(one, X));
    p.sync(two, 0xbeef, SyncOp::MutexLock);
    p.write(two, X);
    p.sync(two, 0xbeef, SyncOp::MutexUnlock);
    let missing = p.race().missing;
    assert!(missing.contains("1:2 holds lock 0xfeed, 2:2 holds 0xbeef: not the same"), "{missing}");
}

#[test]
fn an_access_after_the_unlock_is_not_covered() {
    let (mut p, one, two) = Program::threads();
    let release = p.locked(one, None, |p| _ = p.write(one, X));
    p.write(one, X);
    p.locked(two, Some(release), |p| _ = p.read(two, X));
    let race = p.race();
    assert_eq!((race.a.place.line, race.b.place.line), (12, 13));
    let missing = race.missing;
    let said = "Task 2:2 follows context 1 only up to task 1:3 (mutex_unlock), and 1:4 is later";
    assert!(missing.starts_with(said), "{missing}");
}

#[test]
fn readers_of_a_rwlock_may_read_together_but_not_write() {
    for (writes, expected) in [(false, vec![]), (true, vec![(12, 13)])] {
        let mut p = Program::new();
        let (main, one, two) = (p.main, p.one, p.two);
        p.sync(main, 0x10, SyncOp::RwWrite);
        p.write(main, X);
        let release = p.sync(main, 0x10, SyncOp::RwUnlock);
        for context in [one, two] {
            let acquire = p.sync(context, 0x10, SyncOp::RwRead);
            p.b.edge(release, acquire);
            let write = writes && context == two;
            p.access(context, X, if write { MemOp::store(8) } else { MemOp::load(8) });
            p.sync(context, 0x10, SyncOp::RwUnlock);
        }
        let report = p.races();
        assert_eq!(lines(&report.races), expected);
        for Race { missing, .. } in report.races {
            let said = "both hold lock 0x10, but not both exclusively";
            assert!(missing.contains(said), "{missing}");
        }
    }
}

#[test]
fn what_comes_after_the_end_of_a_recording_may_follow_what_was_not_recorded() {
    let (mut p, one, two) = Program::threads();
    p.write(one, X);
    p.b.meta_mut().complete = true;
    p.b.cut(one);
    p.write(two, X);
    assert_eq!(p.lines(), NONE);

    let (mut p, one, two) = Program::threads();
    p.write(one, X);
    p.write(two, X);
    p.work(one, |_| {});
    p.b.meta_mut().complete = true;
    p.b.cut(one);
    assert_eq!(p.lines(), [(11, 12)]);
}

#[test]
fn what_a_thread_that_nobody_announced_shares_is_not_known() {
    let mut p = Program::new();
    let (main, one, two) = (p.main, p.one, p.two);
    let library = p.b.context("library");
    p.b.meta_mut().thread_libraries = vec!["libpool.so".to_owned()];
    p.write(main, X);
    p.write(library, X);
    p.write(one, X + 8);
    p.write(two, X + 8);
    let report = p.races();
    assert_eq!(lines(&report.races), [(13, 14)]);
    assert_eq!(report.unknown.len(), 1);
    assert_eq!(lines(&report.unknown[0].pairs), [(11, 12)]);
    let sentence = &report.unknown[0].reason;
    assert!(sentence.contains("a thread that libpool.so made"), "{sentence}");
}

#[test]
fn a_use_after_the_end_of_an_object_is_told_unless_a_new_one_was_made() {
    let used = |between: &dyn Fn(&mut Program), op| {
        let (mut p, one, two) = Program::threads();
        p.write(one, X + 64);
        p.sync(one, X, SyncOp::ObjectInit);
        p.sync(one, X, op);
        let destroyed = p.sync(one, X, SyncOp::ObjectDestroy);
        let after = p.sync(two, 1, SyncOp::SemWait);
        p.b.edge(destroyed, after);
        between(&mut p);
        p.sync(two, X, op);
        let report = p.races();
        let destroyed = report.destroyed.iter();
        destroyed.map(|d| (d.address, d.operation.clone(), d.count)).collect::<Vec<_>>()
    };
    for op in [SyncOp::MutexLock, SyncOp::RwRead, SyncOp::SemPost, SyncOp::MutexTryFail] {
        assert_eq!(used(&|_| {}, op), [(X, op.to_string(), 1)]);
        let made = |p: &mut Program| _ = p.sync(p.two, X, SyncOp::ObjectInit);
        assert_eq!(used(&made, op), []);
        let stored = |p: &mut Program| _ = p.write(p.two, X);
        assert_eq!(used(&stored, op), []);
        // In one task.
        let again = |p: &mut Program| {
            let block = p.b.block("worker", "race.c", 9, &[MemOp::store(8)]);
            p.work(p.two, |w| {
                w.block(block, &[X]);
                w.sync(SyncOp::ObjectDestroy, X);
                w.block(block, &[X]);
            });
        };
        assert_eq!(used(&again, op), []);
        let allocated = |p: &mut Program| p.alloc(p.two, X - 8, 64);
        assert_eq!(used(&allocated, op), []);
    }
    // The C++ library makes conditions where nothing is recorded.
    assert_eq!(used(&|_| {}, SyncOp::CondSignal), []);
}
