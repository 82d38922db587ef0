//! Copies and fills take time by their length, whatever the number of instructions is.

use taskgraph::{MemOp, OpKind};

use super::{Loss, MS, account, builder, estimated, first, loss, program};

#[test]
fn a_long_fill_or_copy_has_the_time_of_the_task_it_is_in() {
    for (kind, operands) in
        [(OpKind::Set, [0x1000, 1 << 20].as_slice()), (OpKind::Copy, &[0x1000, 0x80_0000, 1 << 20])]
    {
        let (mut b, code) = program("pthread_mutex_lock");
        let moves = b.block("moves", "a.c", 40, &[MemOp::new(kind, 0, 0)]);
        let main = b.context("main");
        b.work(main, 0, 8 * MS, |w| {
            (0..1000).for_each(|_| w.block(code.own, &[]));
            w.block(moves, operands);
        });
        let report = account(b, 2);
        assert_eq!(first(&report), (Loss::Serial, 8, "a.c:40".to_owned()));
        let copying = loss(&report, Loss::Copying).map(|row| (row.ns / MS, row.place()));
        let expected = (kind == OpKind::Copy).then(|| (7, "a.c:40".to_owned()));
        assert_eq!(copying, expected, "{report:?}");
    }
}

#[test]
fn a_short_copy_is_no_more_than_its_instructions() {
    let (mut b, code) = program("pthread_mutex_lock");
    let copy = MemOp { const_len: 16, flags: MemOp::CONST_LEN, ..MemOp::new(OpKind::Copy, 0, 0) };
    let moves = b.block("moves", "a.c", 40, &[copy]);
    let main = b.context("main");
    b.work(main, 0, 8 * MS, |w| {
        (0..5).for_each(|_| w.block(code.own, &[]));
        (0..2).for_each(|_| w.block(moves, &[0x1000, 0x8000]));
    });
    let report = account(b, 2);
    assert_eq!(first(&report), (Loss::Serial, 8, "a.c:10".to_owned()));
}

#[test]
fn what_a_fill_costs_in_any_case_is_not_lost_to_caches() {
    let share = |bytes: u64| {
        let mut b = builder("./fills");
        let fill = b.block("fill", "c.c", 10, &[MemOp::new(OpKind::Set, 0, 0)]);
        let main = b.context("main");
        b.work(main, 0, 10 * MS, |w| {
            (0..64).for_each(|_| w.block(fill, &[0x100_0000, bytes]));
        });
        estimated(b, Loss::Cache).map_or(0.0, |row| row.share)
    };
    let [near, far] = [1 << 14, 1 << 21].map(share);
    assert!(near < 0.01, "{near}");
    assert!((0.5..0.8).contains(&far), "{far}");
}
