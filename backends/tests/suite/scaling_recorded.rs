//! `factors` and `stack` of a graph whose times are known (`samples::two`), against the account of
//! the same graph.

use crate::graphs::completed;
use crate::samples::{graph, many, nothing, single, two};
use contech_backends::account::Account;
use contech_backends::analysis::Graph;
use contech_backends::recorded::{FactorsReport, RecordedFactors, RecordedStack};

const US: u64 = 1000;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

/// The factors with these options, as the command says them: with what the models say.
fn factors(graph: &Graph, words: &str) -> FactorsReport {
    completed::<RecordedFactors>(words, graph)
}

#[test]
fn factors_and_stack_are_the_account_in_other_words() {
    for graph in [graph(two()), graph(many(8, 4)), graph(single()), graph(nothing())] {
        for words in ["", "--processors 3"] {
            let account = completed::<Account>(words, &graph);
            let factors = factors(&graph, words);
            let stack = completed::<RecordedStack>(words, &graph);
            let p = account.processors;
            assert_eq!([factors.processors, stack.processors], [p, p]);
            assert_eq!(
                [factors.duration_ns, stack.duration_ns],
                [account.replayed_ns, account.replayed_ns]
            );
            // Each loss is rounded to a whole nanosecond.
            let rounding = account.losses.len() as f64 + 1.0;
            let all = factors.account.total();
            assert!((all - account.total_ns as f64).abs() <= rounding, "{all}");
            let sums = f64::from(u8::from(all > 0.0));
            near(factors.factors.total(), sums);
            let components = stack.serialization
                + stack.share_of_work
                + stack.scheduling
                + stack.cache
                + stack.synchronization
                + stack.measured;
            near(components, f64::from(p) * sums);
            let work = factors.factors.work * f64::from(p);
            near(work, stack.measured);
        }
    }
}

#[test]
fn factors_of_a_run_whose_times_are_known() {
    let graph = graph(two());
    let report = factors(&graph, "");
    assert_eq!((report.processors, report.duration_ns), (2, 800 * US));
    let all = 1600.0;
    // The first 100 have one processor at work.
    near(report.factors.distribution.serialization, 100.0 / all);
    // 150 blocked by the lock, 200 in the barrier, 100 without work while the parent joins.
    near(report.factors.distribution.imbalance, 450.0 / all);
    // The child comes to the barrier 150 later because of the lock, so that much of the wait there
    // is the lock's.
    let delay = factors(&graph, "--blocking delay");
    near(delay.factors.distribution.imbalance, 150.0 / all);
    let moved = delay.factors.delay.software - report.factors.delay.software;
    near(moved, 300.0 / all);
}

#[test]
fn a_baseline_tells_work_from_delay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seq.tg");
    // A sequential run of 4 ms against 1.6 ms of processor time: the delay is negative.
    crate::samples::write(single(), &path);
    let report = factors(&graph(two()), &format!("--baseline {}", path.display()));
    near(report.factors.work, 4000.0 / 1600.0);
    assert!(report.factors.superlinear());
    near(report.factors.total(), 1.0);
}
