//! Tasks that are made long before a thread begins them.

use contech_backends::account::Report;
use taskgraph::SyncOp;

use super::{Loss, MS, account, builder, library_call, program, work};

/// Two tasks of two threads begin at once, of which one works for 4 ms and one for `long` ms. The
/// third one was made with them, or depends on what the long one has done after 10 ms; it works from
/// 10 to 14 ms.
fn third(long: u64, depends: bool) -> Report {
    let (mut b, code) = program("");
    let main = b.context("main");
    let [one, other, third] = [(); 3].map(|()| b.create(main));
    for (task, thread) in [(one, 1), (other, 2), (third, 1)] {
        b.execute(task, thread);
    }
    work(&mut b, one, 0, 4, &[code.own]);
    let until = long.min(10);
    work(&mut b, other, 0, until, &[code.held]);
    let done = b.sync_at(other, 0, SyncOp::SemPost, until * MS, until * MS);
    if long > until {
        work(&mut b, other, until, long, &[code.held]);
    }
    let begins = b.work(third, 10 * MS, 14 * MS, |w| w.block(code.own, &[]));
    if depends {
        b.edge(done, begins);
    }
    for task in [one, other, third] {
        b.join(main, task);
    }
    account(b, 2)
}

fn causes(report: &Report) -> Vec<(Loss, u64)> {
    let rows = report.losses.iter();
    rows.map(|row| (row.cause, row.ns / MS)).collect()
}

#[test]
fn a_task_that_could_begin_runs_as_soon_as_a_processor_is_free() {
    for depends in [false, true] {
        let late = third(14, depends);
        assert_eq!(causes(&late), [(Loss::Imbalance, 6)], "{late:?}");
        assert_eq!(late.replayed_ns, 14 * MS);
    }
    // Three tasks of 4 ms on two processors.
    let equal = third(4, false);
    assert_eq!(causes(&equal), [(Loss::Imbalance, 4)], "{equal:?}");
    assert_eq!(equal.replayed_ns, 8 * MS);
}

#[test]
fn who_has_a_processor_for_a_part_of_the_time_only_works_all_the_time() {
    let (mut b, code) = program("");
    let main = b.context("main");
    let [short, long] = [(); 2].map(|()| b.create(main));
    // Other programs have taken four parts of five.
    work(&mut b, short, 80, 100, &[code.own]);
    work(&mut b, long, 480, 600, &[code.held]);
    b.join(main, short);
    b.join(main, long);
    let report = account(b, 2);
    // One processor has nothing to do from 100 on, and has a part of five of its time for that.
    assert_eq!(causes(&report)[0], (Loss::Imbalance, 100), "{report:?}");
}

#[test]
fn who_has_the_longest_piece_has_more_to_do_though_it_was_also_kept_for_longest() {
    let (mut b, code) = program("");
    let main = b.context("main");
    // Each has a processor for about a part of three of its time.
    let pieces = [(0, 3), (105, 129), (326, 441), (498, 756)];
    let all = pieces.map(|(from, to)| {
        let thread = b.create(main);
        let block = if to == 756 { code.held } else { code.own };
        work(&mut b, thread, from, to, &[block]);
        thread
    });
    for thread in all {
        b.join(main, thread);
    }
    let report = account(b, 2);
    let (cause, ms) = causes(&report)[0];
    assert_eq!(cause, Loss::Imbalance, "{report:?}");
    // The threads have two processors in turn, which takes 15 ms from the last one until the second
    // one is done.
    assert_eq!(ms, 2 * (258 + 15) - (3 + 24 + 115 + 258), "{report:?}");
}

#[test]
fn code_that_is_not_recorded_runs_from_when_it_could_have_begun() {
    let mut b = builder("./library");
    let [call, after] = library_call(&mut b);
    let main = b.context("main");
    work(&mut b, main, 0, 1, &[after]);
    work(&mut b, main, 11, 21, &[call, after]);
    let report = account(b, 1);
    assert_eq!(report.outside_ns / 1000, 10_000, "{report:?}");
}
