//! Waiting, and processors without work.

use super::*;

#[test]
fn a_serial_section_is_serialization() {
    let report = diagnose(960, &POWERS, |p| Shape {
        serial: 96,
        ..shape(864 / u64::from(p), &[(Running, 864)])
    });
    assert_eq!(first(&report), ("serialization", ""));
    let at_32 = &report.points[5];
    assert!((at_32.factors.distribution.serialization - 96.0 * 31.0 / (123.0 * 32.0)).abs() < 1e-9);
}

#[test]
fn locks_that_wait_and_locks_that_are_free_are_one_finding() {
    let mut report = waiting(Lock);
    report.measurement.baseline_runs.iter_mut().for_each(|run| run.t_ns = 480 * MS);
    let report = changed(report, 0, |run| run.locks = 10_000_000);
    let locks = report.findings.iter().filter(|finding| finding.cause == "lock");
    assert_eq!(locks.count(), 1);
    assert!((report.findings[0].share - 0.75).abs() < 1e-9);
}

#[test]
fn a_region_of_one_thread_is_serial_code() {
    let report = changed(diagnose(960, &[1, 2], perfect), 1, |run| {
        let phase = &mut run.phases[0];
        // One thread does half of the work.
        (phase.threads, phase.wall_ns) = (1, 480 * MS);
        phase.times.0[Running as usize] = 480 * MS;
        run.times = phase.times;
    });
    assert_eq!(first(&report).0, "serialization");
    assert!(report.points[1].stacks.is_empty());
}

#[test]
fn overhead_of_very_many_free_locks_is_theirs() {
    // The run takes 480 ms more than the baseline: 48 ns for each of ten million locks.
    for (locks, cause) in [(10_000_000, "lock"), (1000, "overhead")] {
        let report = changed(diagnose(480, &[1, 2], perfect), 0, |run| run.locks = locks);
        assert_eq!(first(&report).0, cause);
    }
}

#[test]
fn one_slow_thread_is_imbalance_of_its_phase() {
    let report = diagnose(960, &POWERS, |p| {
        let p = u64::from(p);
        let longest = if p == 1 { 960 } else { 960 / p * 2 };
        shape(longest, &[(Running, 960)])
    });
    assert_eq!(first(&report), ("imbalance", "sweep (prog.c:12)"));
}

#[test]
fn many_barriers_close_together_are_named_as_such() {
    let slow = |p: u32| {
        let more = if p == 1 { 0 } else { 400 };
        let barrier = more * u64::from(p);
        let phase = 960 / u64::from(p) + more;
        Shape { barriers: 100_000, ..shape(phase, &[(Running, 960), (Barrier, barrier)]) }
    };
    assert_eq!(first(&diagnose(960, &POWERS, slow)), ("barrier", "update (prog.c:34)"));
    let few = |p| Shape { barriers: 10, ..slow(p) };
    assert_eq!(first(&diagnose(960, &POWERS, few)).0, "imbalance");
}

/// Waits that take half of all threads' time.
fn waiting(state: State) -> Report {
    diagnose(960, &POWERS, |p| match p {
        1 => perfect(p),
        _ => shape(2 * (960 / u64::from(p)), &[(Running, 960), (state, 960)]),
    })
}

#[test]
fn each_kind_of_waiting_is_named_with_its_place() {
    for state in [Lock, Spin, Condition, Message] {
        assert_eq!(first(&waiting(state)), (state.name(), "update (prog.c:34)"));
    }
}

#[test]
fn blocking_moves_between_imbalance_and_delay_and_nothing_else_does() {
    let imbalance = waiting(Lock);
    let delay = analyse(imbalance.measurement.clone(), Estimate::Mean, Blocking::Delay);
    let (a, b) = (imbalance.points[5].factors, delay.points[5].factors);
    assert!((a.distribution.imbalance - 0.5).abs() < 1e-9 && a.delay.software == 0.0);
    assert!((b.delay.software - 0.5).abs() < 1e-9 && b.distribution.imbalance == 0.0);
    assert_eq!((a.work, a.delay.hardware), (b.work, b.delay.hardware));
}
