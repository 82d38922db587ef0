//! Tasks that are made long before a thread begins them.

use contech_backends::account::Report;
use taskgraph::SyncOp;

use super::{Loss, MS, account, builder, code, work};

/// Two tasks begin at once, of which one works for 4 ms and one for `long` ms. The third one was made with them, or
/// depends on what the long one has done after 10 ms; it works from 10 to 14 ms.
fn third(long: u64, depends: bool) -> Report {
    let mut b = builder("./tasks");
    let code = code(&mut b, "");
    let main = b.context("main");
    let [one, other, third] = [(); 3].map(|()| b.create(main));
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
fn beside_a_task_that_could_begin_nobody_has_too_much_of_the_work() {
    let late = third(14, false);
    assert_eq!(causes(&late), [(Loss::Preemption, 6)], "{late:?}");
    let depends = third(14, true);
    assert_eq!(causes(&depends), [(Loss::Imbalance, 6)], "{depends:?}");
}

#[test]
fn what_is_idle_before_a_task_that_could_begin_has_no_processor() {
    let report = third(4, false);
    let preempted = causes(&report).into_iter().max_by_key(|&(_, ms)| ms);
    assert_eq!(preempted, Some((Loss::Preemption, 12)), "{report:?}");
}
