//! Tasks that are too small, and what they cost one processor.

use super::*;

#[test]
fn small_tasks_are_scheduling() {
    let times = [(Running, 960), (Scheduling, 960)];
    let report = diagnose(960, &POWERS, |p| shape(1920 / u64::from(p), &times));
    assert_eq!(first(&report).0, "scheduling");
    assert!((report.points[5].factors.distribution.scheduling - 0.5).abs() < 1e-9);
}

/// Two threads: one makes tasks for half of its time, and the other waits for them for half of its
/// time.
fn starving(scheduling: u64, running: u64) -> Report {
    let report = diagnose(600, &[1, 2], |p| match p {
        1 => shape(600, &[(Running, 600)]),
        _ => {
            let barrier = 1200 - running - scheduling;
            shape(600, &[(Running, running), (Scheduling, scheduling), (Barrier, barrier)])
        }
    });
    changed(report, 1, |run| run.phases[0].dynamic = true)
}

#[test]
fn waiting_for_tasks_that_are_too_small_is_scheduling() {
    let report = starving(300, 600);
    assert_eq!(first(&report).0, "scheduling");
    assert!((report.findings[0].share - 0.5).abs() < 1e-9);
    assert!(report.findings.iter().all(|finding| finding.cause != "imbalance"));
    let large = starving(10, 600);
    assert_eq!(first(&large).0, "imbalance");
    let advice = &large.findings[0].advice;
    assert!(advice.contains("times smaller"), "{advice}");
}

#[test]
fn how_small_tasks_are_is_said() {
    let report = changed(starving(300, 600), 1, |run| run.phases[0].pieces = 500_000);
    let text = &report.findings[0].text;
    let said = "tasks or parts of loops there, of 1.20 us on average, took 600 ns each to hand out";
    assert!(text.contains(said), "{text}");
}

/// Tasks that cost a fourth of the sequential program's time on one processor; the elision takes
/// `elision` ms.
fn with_elision(elision: u64) -> Report {
    let mut report = diagnose(960, &[1, 2], |p| shape(1200 / u64::from(p), &[(Running, 1200)]));
    report.measurement.elision_runs = vec![Run { t_ns: elision * MS, ..Run::default() }];
    analysed(report.measurement)
}

#[test]
fn overhead_that_the_elision_does_not_have_is_scheduling() {
    let tasks = with_elision(960);
    assert_eq!(first(&tasks).0, "scheduling");
    assert_eq!(tasks.findings.len(), 1);
    assert!((tasks.findings[0].share - 0.2).abs() < 1e-9);
    let algorithm = with_elision(1200);
    assert_eq!(first(&algorithm).0, "overhead");
    assert_eq!(algorithm.findings.len(), 1);
    let both = with_elision(1080);
    let shares: Vec<_> = both.findings.iter().map(|finding| finding.share).collect();
    assert_eq!(shares.len(), 2);
    assert!(shares.iter().all(|share| (share - 0.1).abs() < 1e-9), "{shares:?}");
}
