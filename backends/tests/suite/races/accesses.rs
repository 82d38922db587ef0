//! Which accesses race with which, where nothing orders them.

use taskgraph::{MemOp, OpKind};

use super::program::{NONE, Program, X};

#[test]
fn two_writes_that_nothing_orders() {
    let (mut p, one, two) = Program::threads();
    p.write(one, X);
    p.write(two, X);
    let race = p.race();
    assert_eq!((race.address, race.count), (X, 1));
    assert_eq!((race.a.context, race.a.place.line, race.a.write), (1, 11, true));
    assert_eq!((race.b.context, race.b.place.line, race.b.write), (2, 12, true));
    assert_eq!(race.missing, "No task of context 1 comes before 2:1; neither holds a lock.");
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let atomic = |op: MemOp| MemOp { flags: MemOp::ATOMIC, ..op };
    let add = || MemOp { flags: MemOp::ATOMIC, ..MemOp::new(OpKind::Rmw, 8, 0) };
    let (mut p, one, two) = Program::threads();
    p.access(one, X, add());
    p.access(two, X, add());
    p.access(one, X, atomic(MemOp::load(8)));
    p.access(two, X, atomic(MemOp::store(8)));
    assert_eq!(p.lines(), NONE);

    let (mut p, one, two) = Program::threads();
    p.access(one, X, add());
    p.read(two, X);
    let race = p.race();
    assert!(race.a.atomic && race.a.write && !race.b.atomic);
}

#[test]
fn data_passed_by_an_atomic_flag_is_reported_with_the_doubt() {
    let (mut p, one, two) = Program::threads();
    let flag = |op: MemOp| MemOp { flags: MemOp::ATOMIC, ..op };
    p.write(one, X);
    p.access(one, X + 64, flag(MemOp::store(4)));
    p.access(two, X + 64, flag(MemOp::load(4)));
    p.read(two, X);
    let race = p.race();
    assert!(race.atomics && race.missing.contains("common atomic variable"));
}

#[test]
fn bulk_copies_race_as_a_whole() {
    let (mut p, one, two) = Program::threads();
    let copy = p.b.block("copy", "race.c", 70, &[MemOp::new(OpKind::Copy, 0, 0)]);
    p.work(one, |w| w.block(copy, &[0x8000, 0x9000, 1000]));
    p.write(two, 0x8000 + 992);
    p.write(two, 0x8000 + 1000);
    p.read(two, 0x9000);
    assert_eq!(p.lines(), [(70, 11)]);
}

#[test]
fn the_same_pair_of_lines_is_reported_once_and_counted() {
    let (mut p, one, two) = Program::threads();
    let block = p.b.block("worker", "race.c", 50, &[MemOp::store(8)]);
    for context in [one, two] {
        p.work(context, |w| (0..100).for_each(|i| w.block(block, &[X + 8 * i])));
    }
    assert_eq!(p.race().count, 100);
}
