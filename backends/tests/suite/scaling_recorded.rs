//! `factors` and `stack` of a graph whose times are known (`samples::two`), and of graphs with nothing to say.

use crate::samples::{graph, nothing, single, two};
use contech_backends::analysis::{Analysis, run};
use contech_backends::scaling::Blocking;
use contech_backends::scaling::recorded::{Factors, Phases, Stack};

const US: u64 = 1000;

fn options<A: Analysis>(words: &[&str]) -> A::Config
where
    A::Config: clap::Args,
{
    use clap::FromArgMatches;
    let command =
        <A::Config as clap::Args>::augment_args(clap::Command::new(A::NAME).no_binary_name(true));
    let matches = command.try_get_matches_from(words).unwrap();
    A::Config::from_arg_matches(&matches).unwrap()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[test]
fn phases_are_the_time_in_which_more_than_one_context_lives() {
    let phases = Phases::of(&graph(two()), None).unwrap();
    assert_eq!((phases.count, phases.peak), (1, 2));
    assert_eq!(phases.serial.wall_ns, 100 * US);
    assert_eq!(phases.parallel.wall_ns, 700 * US);
    // The parent runs for 400, the child for 550.
    assert_eq!(phases.slowest_ns, 550 * US);
    assert_eq!(phases.parallel.times[0], 950 * US);
}

#[test]
fn one_context_at_work_while_its_parent_waits_is_serial_code() {
    // A thread is joined from when the call begins; of a team the recording has the end of the region only.
    for join_us in [100, 400] {
        let mut b = crate::samples::builder("./serial");
        let main = b.context("main");
        b.work(main, 0, 100 * US, |_| {});
        let child = b.create(main);
        b.work(child, 100 * US, 400 * US, |_| {});
        b.clock(main, join_us * US);
        b.join(main, child);
        b.work(main, 400 * US, 500 * US, |_| {});
        let phases = Phases::of(&graph(b), Some(2)).unwrap();
        assert_eq!((phases.count, phases.parallel.wall_ns), (0, 0));
        assert_eq!(phases.serial.wall_ns, 500 * US);
    }
}

#[test]
fn factors_of_a_run_whose_times_are_known() {
    let report = run::<Factors>(options::<Factors>(&[]), &graph(two())).unwrap();
    assert_eq!(report.processors, 2);
    let all = 1600.0;
    near(report.factors.work, 1050.0 / all);
    near(report.factors.distribution.serialization, 100.0 / all);
    // 150 blocked by the lock, 200 in the barrier, 100 without work while the parent joins.
    near(report.factors.distribution.imbalance, 450.0 / all);
    near(report.factors.total(), 1.0);
    let mut delay = options::<Factors>(&[]);
    delay.blocking = Blocking::Delay;
    let report = run::<Factors>(delay, &graph(two())).unwrap();
    near(report.factors.distribution.imbalance, 300.0 / all);
    near(report.factors.delay.software, 150.0 / all);
}

#[test]
fn more_processors_than_contexts_are_without_work() {
    let report = run::<Factors>(options::<Factors>(&["--processors", "4"]), &graph(two())).unwrap();
    near(report.factors.work, 1050.0 / 3200.0);
    near(report.factors.total(), 1.0);
}

#[test]
fn a_baseline_tells_work_from_delay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seq.tg");
    // A sequential run of 4 ms against 1.6 ms of processor time: the delay is negative.
    crate::samples::write(single(), &path);
    let words = ["--baseline", path.to_str().unwrap()];
    let report = run::<Factors>(options::<Factors>(&words), &graph(two())).unwrap();
    near(report.factors.work, 4000.0 / 1600.0);
    assert!(report.factors.superlinear());
    near(report.factors.total(), 1.0);
}

#[test]
fn the_stack_of_a_run_whose_times_are_known_adds_up() {
    let report = run::<Stack>(options::<Stack>(&[]), &graph(two())).unwrap();
    near(report.measured, 950.0 / 700.0);
    near(report.share_of_work, 2.0 - 950.0 / 550.0);
    near(report.synchronization, 950.0 / 550.0 - 950.0 / 700.0);
    near(report.cache, 0.0);
    let sum = report.measured + report.synchronization + report.cache + report.share_of_work;
    near(sum, 2.0);
}

#[test]
fn a_cache_too_small_for_two_is_the_cache_component() {
    // The contexts' lines fit a cache of 8K and not its half.
    let words = ["--llc", "1K", "--ways", "2", "--penalty", "1000"];
    let report = run::<Stack>(options::<Stack>(&words), &graph(two())).unwrap();
    assert!(report.misses.1 >= report.misses.0, "{:?}", report.misses);
    let added = (report.misses.1 - report.misses.0) as f64;
    near(report.cache, (added / 550.0).min(475.0 / 550.0));
}

#[test]
fn runs_without_parallel_phases_have_no_stack_and_say_so() {
    let error = run::<Stack>(options::<Stack>(&[]), &graph(single())).unwrap_err();
    assert!(error.to_string().contains("no parallel phase"), "{error:#}");
    let report = run::<Factors>(options::<Factors>(&[]), &graph(nothing())).unwrap();
    assert_eq!(report.processors, 1);
    near(report.factors.total(), 0.0);
}

#[test]
fn a_thread_that_waits_for_a_signal_is_not_at_work() {
    let mut b = crate::samples::builder("./signals");
    let wait = b.block("wait", "w.c", 7, &[]);
    b.info_mut().blocks[wait.index()].call = Some(taskgraph::CallSite {
        callee: "sigwait".to_owned(),
        line: 7,
    });
    let body = b.block("body", "w.c", 3, &[]);
    let main = b.context("main");
    b.work(main, 0, 1000 * US, |w| w.block(body, &[]));
    let (signals, worker) = (b.create(main), b.create(main));
    b.work(signals, 1000 * US, 9000 * US, |w| w.block(wait, &[]));
    b.work(worker, 1000 * US, 9000 * US, |w| w.block(body, &[]));
    b.join(main, worker);
    b.join(main, signals);
    let report = run::<Factors>(options::<Factors>(&["--processors", "2"]), &graph(b)).unwrap();
    near(report.factors.work, 0.5);
}
