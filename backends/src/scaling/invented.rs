//! Diagnoses of invented measurements: machines and programs that nobody here has, analysed as measured ones are.

use contech_observation::State;

use super::measurement::{Measurement, PhaseRun, PlaceName, Point, Run, StateTimes, WaitRun};
use super::{Blocking, Estimate, Report, analyse};

/// Times are in this unit.
const MS: u64 = 1_000_000;

/// A program of one parallel phase on `p` processors.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// Before the phase, one processor runs for so long.
    serial: u64,
    /// The phase.
    phase: u64,
    /// Times of all threads within the phase.
    running: u64,
    scheduling: u64,
    lock: u64,
    spin: u64,
    barrier: u64,
    barriers: u64,
    condition: u64,
    message: u64,
}

fn run(p: u32, shape: &Shape) -> Run {
    let mut times = StateTimes::default();
    let parts = [
        (State::Running, shape.running),
        (State::Scheduling, shape.scheduling),
        (State::Lock, shape.lock),
        (State::Spin, shape.spin),
        (State::Barrier, shape.barrier),
        (State::Condition, shape.condition),
        (State::Message, shape.message),
    ];
    let mut waits = Vec::new();
    for (state, ns) in parts {
        times[state as usize] = ns * MS;
        let count = if state == State::Barrier {
            shape.barriers * u64::from(p)
        } else {
            10
        };
        if ns > 0 && !matches!(state, State::Running | State::Scheduling) {
            waits.push(WaitRun {
                place: 1,
                state: state.name().to_owned(),
                count,
                ns: ns * MS,
            });
        }
    }
    let phase = PhaseRun {
        place: 0,
        count: 1,
        wall_ns: shape.phase * MS,
        threads: p,
        times,
        slowest_ns: shape.running * MS / u64::from(p),
        ..PhaseRun::default()
    };
    let mut all = times;
    all[State::Running as usize] += shape.serial * MS;
    let on =
        all[State::Running as usize] + all[State::Scheduling as usize] + all[State::Spin as usize];
    Run {
        t_ns: (shape.serial + shape.phase) * MS,
        cpu_ns: on,
        locks: 0,
        lanes: p,
        times: all,
        phases: vec![phase],
        waits,
    }
}

/// The analysis of a program whose shape on `p` processors is `shape(p)`; the baseline takes `baseline` ms.
fn diagnose(baseline: u64, processors: &[u32], shape: impl Fn(u32) -> Shape) -> Report {
    let place = |function: &str, line| PlaceName {
        function: function.to_owned(),
        file: "/home/user/prog.c".to_owned(),
        line,
    };
    let point = |&threads: &u32| Point {
        threads,
        runs: vec![run(threads, &shape(threads)); 3],
        ..Point::default()
    };
    let sequential = Run {
        t_ns: baseline * MS,
        ..Run::default()
    };
    let measurement = Measurement {
        command: vec!["./prog".to_owned()],
        cpus: 64,
        baseline_runs: vec![sequential; 3],
        points: processors.iter().map(point).collect(),
        places: vec![place("sweep", 12), place("update", 34)],
        ..Measurement::default()
    };
    let report = analyse(measurement, Estimate::Mean, Blocking::Imbalance);
    for point in &report.points {
        assert!((point.factors.total() - 1.0).abs() < 1e-9, "{point:?}");
        let (p, t) = (f64::from(point.threads), point.t);
        assert!((p * t - point.work - point.idle).abs() < 1e-9, "{point:?}");
        assert!(
            (point.losses.total() - (1.0 - point.factors.work)).abs() < 1e-9,
            "{point:?}"
        );
    }
    report
}

const POWERS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A program that scales: 960 ms of work, dealt out equally.
fn perfect(p: u32) -> Shape {
    Shape {
        phase: 960 / u64::from(p),
        running: 960,
        ..Shape::default()
    }
}

fn first(report: &Report) -> (&str, &str) {
    let first = &report.findings[0];
    (&first.cause, &first.place)
}

#[test]
fn a_program_that_scales_is_said_to_scale() {
    let report = diagnose(960, &POWERS, perfect);
    assert_eq!(first(&report), ("scales", ""));
    assert_eq!(report.findings.len(), 1);
    assert!(
        report.headline().contains("it scales"),
        "{}",
        report.headline()
    );
    assert!((report.points[5].speedup.actual - 32.0).abs() < 1e-9);
}

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
fn a_memory_wall_is_inflation_that_flattens() {
    // Bandwidth for four processors: from there on the phase takes what the memory takes.
    let report = diagnose(960, &POWERS, |p| {
        let phase = (960 / u64::from(p)).max(240);
        Shape {
            phase,
            running: phase * u64::from(p),
            ..Shape::default()
        }
    });
    assert_eq!(first(&report), ("inflation", "sweep (prog.c:12)"));
    let text = text(&report);
    assert!(text.contains("as a memory limit does"), "{text}");
}

#[test]
fn remote_memory_from_ten_processors_on_is_inflation_at_ten() {
    // Chips of ten: beyond the first, each access takes half as long again.
    let chips = [1, 5, 10, 20, 40];
    let report = diagnose(1200, &chips, |p| {
        let work = if p > 10 { 1800 } else { 1200 };
        Shape {
            phase: work / u64::from(p),
            running: work,
            ..Shape::default()
        }
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
        Shape {
            phase,
            running: phase * p,
            ..Shape::default()
        }
    });
    assert_eq!(first(&report).0, "contention");
    let text = text(&report);
    assert!(text.contains("slopes down"), "{text}");
}

#[test]
fn small_tasks_are_scheduling() {
    let report = diagnose(960, &POWERS, |p| Shape {
        phase: 1920 / u64::from(p),
        running: 960,
        scheduling: 960,
        ..Shape::default()
    });
    assert_eq!(first(&report).0, "scheduling");
    assert!((report.points[5].factors.distribution.scheduling - 0.5).abs() < 1e-9);
}

/// Two threads: one makes tasks for half of its time, the other waits for them for half of its.
fn starving(scheduling: u64, running: u64) -> Report {
    let mut report = diagnose(600, &[1, 2], |p| match p {
        1 => Shape {
            phase: 600,
            running: 600,
            ..Shape::default()
        },
        _ => Shape {
            phase: 600,
            running,
            scheduling,
            barrier: 1200 - running - scheduling,
            ..Shape::default()
        },
    });
    report.measurement.points[1]
        .runs
        .iter_mut()
        .for_each(|run| run.phases[0].dynamic = true);
    analyse(report.measurement, Estimate::Mean, Blocking::Imbalance)
}

#[test]
fn waiting_for_tasks_that_are_too_small_is_scheduling() {
    let report = starving(300, 600);
    assert_eq!(first(&report).0, "scheduling");
    assert!((report.findings[0].share - 0.5).abs() < 1e-9);
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.cause != "imbalance")
    );
    let large = starving(10, 600);
    assert_eq!(first(&large).0, "imbalance");
    let advice = &large.findings[0].advice;
    assert!(advice.contains("times smaller"), "{advice}");
}

#[test]
fn a_program_that_makes_no_threads_for_one_has_a_stack_all_the_same() {
    let mut report = diagnose(960, &[1, 2], perfect);
    let mut one = report.measurement.points[0].clone();
    one.runs.iter_mut().for_each(|run| run.phases.clear());
    report.measurement.points[0] = one;
    let report = analyse(report.measurement, Estimate::Mean, Blocking::Imbalance);
    let stack = &report.points[1].stacks[0];
    assert!((stack.measured - 2.0).abs() < 1e-9 && (stack.total() - 2.0).abs() < 1e-9);
}

#[test]
fn locks_that_wait_and_locks_that_are_free_are_one_finding() {
    let mut report = waiting(|shape, ns| shape.lock = ns);
    report
        .measurement
        .baseline_runs
        .iter_mut()
        .for_each(|run| run.t_ns = 480 * MS);
    report.measurement.points[0]
        .runs
        .iter_mut()
        .for_each(|run| run.locks = 10_000_000);
    let report = analyse(report.measurement, Estimate::Mean, Blocking::Imbalance);
    let locks = report
        .findings
        .iter()
        .filter(|finding| finding.cause == "lock");
    assert_eq!(locks.count(), 1);
    assert!((report.findings[0].share - 0.75).abs() < 1e-9);
}

#[test]
fn a_region_of_one_thread_is_serial_code() {
    let mut report = diagnose(960, &[1, 2], perfect);
    for run in &mut report.measurement.points[1].runs {
        let phase = &mut run.phases[0];
        // Half of the work, by one thread.
        (phase.threads, phase.wall_ns) = (1, 480 * MS);
        phase.times[State::Running as usize] = 480 * MS;
        run.times = phase.times;
    }
    let report = analyse(report.measurement, Estimate::Mean, Blocking::Imbalance);
    assert_eq!(first(&report).0, "serialization");
    assert!(report.points[1].stacks.is_empty());
}

#[test]
fn more_work_than_the_baseline_is_overhead() {
    let report = diagnose(480, &POWERS, perfect);
    assert_eq!(first(&report).0, "overhead");
    assert!((report.points[5].factors.delay.overhead - 0.5).abs() < 1e-9);
    assert!((report.points[5].speedup.maximal - 16.0).abs() < 1e-9);
}

#[test]
fn overhead_of_very_many_free_locks_is_theirs() {
    let mut report = diagnose(480, &[1, 2], perfect);
    // 480 ms more than the baseline: 48 ns for each of ten million.
    report.measurement.points[0]
        .runs
        .iter_mut()
        .for_each(|run| run.locks = 10_000_000);
    let many = analyse(
        report.measurement.clone(),
        Estimate::Mean,
        Blocking::Imbalance,
    );
    assert_eq!(first(&many).0, "lock");
    report.measurement.points[0]
        .runs
        .iter_mut()
        .for_each(|run| run.locks = 1000);
    let few = analyse(report.measurement, Estimate::Mean, Blocking::Imbalance);
    assert_eq!(first(&few).0, "overhead");
}

#[test]
fn one_slow_thread_is_imbalance_of_its_phase() {
    let report = diagnose(960, &POWERS, |p| {
        let p = u64::from(p);
        let longest = if p == 1 { 960 } else { 960 / p * 2 };
        Shape {
            phase: longest,
            running: 960,
            ..Shape::default()
        }
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
    assert_eq!(
        first(&diagnose(960, &POWERS, slow)),
        ("barrier", "update (prog.c:34)")
    );
    let few = |p| Shape {
        barriers: 10,
        ..slow(p)
    };
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
    let lock = waiting(|shape, ns| shape.lock = ns);
    assert_eq!(first(&lock), ("lock", "update (prog.c:34)"));
    let spin = waiting(|shape, ns| shape.spin = ns);
    assert_eq!(first(&spin), ("spin", "update (prog.c:34)"));
    let condition = waiting(|shape, ns| shape.condition = ns);
    assert_eq!(first(&condition), ("condition", "update (prog.c:34)"));
    let message = waiting(|shape, ns| shape.message = ns);
    assert_eq!(first(&message), ("message", "update (prog.c:34)"));
}

#[test]
fn blocking_moves_between_imbalance_and_delay_and_nothing_else_does() {
    let imbalance = waiting(|shape, ns| shape.lock = ns);
    let delay = analyse(
        imbalance.measurement.clone(),
        Estimate::Mean,
        Blocking::Delay,
    );
    let (a, b) = (imbalance.points[5].factors, delay.points[5].factors);
    assert!((a.distribution.imbalance - 0.5).abs() < 1e-9 && a.delay.software == 0.0);
    assert!((b.delay.software - 0.5).abs() < 1e-9 && b.distribution.imbalance == 0.0);
    assert_eq!((a.work, a.delay.hardware), (b.work, b.delay.hardware));
}

#[test]
fn time_without_a_processor_is_not_called_inflation() {
    let mut report = diagnose(960, &POWERS, |p| {
        let running = if p == 1 { 960 } else { 1920 };
        Shape {
            phase: running / u64::from(p),
            running,
            ..Shape::default()
        }
    });
    for point in &mut report.measurement.points {
        point.runs.iter_mut().for_each(|run| run.cpu_ns = 960 * MS);
    }
    let report = analyse(report.measurement, Estimate::Mean, Blocking::Imbalance);
    assert_eq!(first(&report).0, "preemption");
}

#[test]
fn less_work_in_parallel_is_superlinear_and_explained() {
    let report = diagnose(960, &[1, 2, 4], |p| {
        let running = if p == 1 { 960 } else { 600 };
        Shape {
            phase: running / u64::from(p),
            running,
            ..Shape::default()
        }
    });
    assert_eq!(first(&report).0, "superlinear");
    assert!(report.points[2].factors.superlinear());
    assert!(report.points[2].factors.work > 1.0);
    let text = text(&report);
    assert!(text.contains("Delay is negative"), "{text}");
}

#[test]
fn a_measurement_survives_its_file() {
    let report = diagnose(960, &POWERS, perfect);
    let text = serde_json::to_string(&report.measurement).unwrap();
    let read: Measurement = serde_json::from_str(&text).unwrap();
    assert_eq!(read, report.measurement);
}

#[test]
fn the_json_has_the_names_scripts_read() {
    let report = diagnose(960, &[1, 2], perfect);
    let json = serde_json::to_value(&report).unwrap();
    let point = &json["points"][1];
    for name in ["threads", "t", "t_spread", "idle"] {
        assert!(point[name].is_number(), "{name}");
    }
    for name in ["linear", "maximal", "idle", "inflation", "actual"] {
        assert!(point["speedup"][name].is_number(), "{name}");
    }
    let factors = &point["factors"];
    assert!(factors["work"].is_number());
    for name in ["scheduling", "serialization", "imbalance"] {
        assert!(factors["distribution"][name].is_number(), "{name}");
    }
    for name in ["software", "hardware"] {
        assert!(factors["delay"][name].is_number(), "{name}");
    }
    for name in ["rank", "cause", "where", "share"] {
        assert!(!json["findings"][0][name].is_null(), "{name}");
    }
}

fn text(report: &Report) -> String {
    use crate::view::Render;
    let mut out = Vec::new();
    report.view().write_text(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}
