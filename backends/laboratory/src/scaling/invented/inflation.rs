//! Code that takes longer, or less, on more processors.

use super::*;

#[test]
fn a_memory_wall_is_inflation_that_flattens() {
    // The memory has bandwidth for four processors; beyond four the phase takes the time of the
    // memory.
    let report = diagnose(960, &POWERS, |p| {
        let phase = (960 / u64::from(p)).max(240);
        shape(phase, &[(Running, phase * u64::from(p))])
    });
    assert_eq!(first(&report), ("inflation", "sweep (prog.c:12)"));
    let text = text(&report);
    assert!(text.contains("as a memory limit does"), "{text}");
}

#[test]
fn remote_memory_from_ten_processors_on_is_inflation_at_ten() {
    // Chips have ten processors; beyond the first chip each access takes half as long again.
    let chips = [1, 5, 10, 20, 40];
    let report = diagnose(1200, &chips, |p| {
        let work = if p > 10 { 1800 } else { 1200 };
        shape(work / u64::from(p), &[(Running, work)])
    });
    let inflation: Vec<f64> = report.points.iter().map(|point| point.inflation).collect();
    assert_eq!(inflation[..3], [0.0; 3]);
    assert!(inflation[3] > 0.5 && inflation[4] > 0.5, "{inflation:?}");
    assert_eq!(first(&report).0, "inflation");
}

#[test]
fn lines_that_travel_slope_down() {
    let report = diagnose(960, &POWERS, |p| {
        let p = u64::from(p);
        let phase = if p == 1 { 960 } else { 960 + 40 * p };
        shape(phase, &[(Running, phase * p)])
    });
    assert_eq!(first(&report).0, "contention");
    let text = text(&report);
    assert!(text.contains("slopes down"), "{text}");
}

#[test]
fn more_work_than_the_baseline_is_overhead() {
    let report = diagnose(480, &POWERS, perfect);
    assert_eq!(first(&report).0, "overhead");
    assert!((report.points[5].factors.delay.overhead - 0.5).abs() < 1e-9);
    assert!((report.points[5].speedup.maximal - 16.0).abs() < 1e-9);
}

#[test]
fn time_without_a_processor_is_not_called_inflation() {
    let mut report = diagnose(960, &POWERS, |p| {
        let running = if p == 1 { 960 } else { 1920 };
        shape(running / u64::from(p), &[(Running, running)])
    });
    for point in &mut report.measurement.points {
        point.runs.iter_mut().for_each(|run| run.cpu_ns = 960 * MS);
    }
    assert_eq!(first(&analysed(report.measurement)).0, "preemption");
}

#[test]
fn less_work_in_parallel_is_superlinear_and_explained() {
    let report = diagnose(960, &[1, 2, 4], |p| {
        let running = if p == 1 { 960 } else { 600 };
        shape(running / u64::from(p), &[(Running, running)])
    });
    assert_eq!(first(&report).0, "superlinear");
    assert!(report.points[2].factors.superlinear());
    assert!(report.points[2].factors.work > 1.0);
    let text = text(&report);
    assert!(text.contains("Delay is negative"), "{text}");
}
