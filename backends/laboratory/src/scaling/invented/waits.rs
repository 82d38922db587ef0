//! Waiting, and processors without work.

use super::*;

#[test]
fn a_serial_section_is_serialization() {
    let report = diagnose(960, &POWERS, |p| Shape {
        serial: 96,
        phase: 864 / u64::from(p),
        running: 864,
        ..Shape::default()
    });
    assert_eq!(first(&report), ("serialization", ""));
    let at_32 = &report.points[5];
    assert!((at_32.factors.distribution.serialization - 96.0 * 31.0 / (123.0 * 32.0)).abs() < 1e-9);
}

#[test]
fn locks_that_wait_and_locks_that_are_free_are_one_finding() {
    let mut report = waiting(|shape, ns| shape.lock = ns);
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
        phase.times.0[State::Running as usize] = 480 * MS;
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
        Shape { phase: longest, running: 960, ..Shape::default() }
    });
    assert_eq!(first(&report), ("imbalance", "sweep (prog.c:12)"));
}

#[test]
fn many_barriers_close_together_are_named_as_such() {
    let slow = |p: u32| {
        let more = if p == 1 { 0 } else { 400 };
        Shape {
            phase: 960 / u64::from(p) + more,
            running: 960,
            barrier: more * u64::from(p),
            barriers: 100_000,
            ..Shape::default()
        }
    };
    assert_eq!(first(&diagnose(960, &POWERS, slow)), ("barrier", "update (prog.c:34)"));
    let few = |p| Shape { barriers: 10, ..slow(p) };
    assert_eq!(first(&diagnose(960, &POWERS, few)).0, "imbalance");
}

/// Waits that take half of all threads' time.
fn waiting(with: impl Fn(&mut Shape, u64)) -> Report {
    diagnose(960, &POWERS, |p| {
        let mut shape = perfect(p);
        if p > 1 {
            shape.phase *= 2;
            with(&mut shape, 960);
        }
        shape
    })
}

#[test]
fn each_kind_of_waiting_is_named_with_its_place() {
    let named = |kind: &str, with: fn(&mut Shape, u64)| {
        assert_eq!(first(&waiting(with)), (kind, "update (prog.c:34)"));
    };
    named("lock", |shape, ns| shape.lock = ns);
    named("spin", |shape, ns| shape.spin = ns);
    named("condition", |shape, ns| shape.condition = ns);
    named("message", |shape, ns| shape.message = ns);
}

#[test]
fn blocking_moves_between_imbalance_and_delay_and_nothing_else_does() {
    let imbalance = waiting(|shape, ns| shape.lock = ns);
    let delay = analyse(imbalance.measurement.clone(), Estimate::Mean, Blocking::Delay);
    let (a, b) = (imbalance.points[5].factors, delay.points[5].factors);
    assert!((a.distribution.imbalance - 0.5).abs() < 1e-9 && a.delay.software == 0.0);
    assert!((b.delay.software - 0.5).abs() < 1e-9 && b.distribution.imbalance == 0.0);
    assert_eq!((a.work, a.delay.hardware), (b.work, b.delay.hardware));
}
