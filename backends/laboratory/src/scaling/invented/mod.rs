//! Diagnoses of invented measurements: machines and programs that nobody here has, analysed like
//! measured ones.

mod inflation;
mod tasks;
mod waits;

use contech_observation::{State, Times, Wait};

use super::measurement::{Measurement, Phase, PlaceName, Point, Run};
use super::{Blocking, Estimate, Report, analyse};

/// The unit of times.
const MS: u64 = 1_000_000;

/// A program of one parallel phase on `p` processors.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// Time before the phase, in which one processor runs.
    serial: u64,
    /// Duration of the phase.
    phase: u64,
    /// Running time of all threads within the phase.
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
    let mut times = Times::default();
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
        times.0[state as usize] = ns * MS;
        let count = if state == State::Barrier { shape.barriers * u64::from(p) } else { 10 };
        if ns > 0 && !matches!(state, State::Running | State::Scheduling) {
            waits.push(Wait { place: 1, state, count, ns: ns * MS });
        }
    }
    let phase = Phase {
        place: 0,
        count: 1,
        wall_ns: shape.phase * MS,
        threads: p,
        times,
        slowest_ns: shape.running * MS / u64::from(p),
        ..Phase::default()
    };
    let mut all = times;
    all.0[State::Running as usize] += shape.serial * MS;
    let on = [State::Running, State::Scheduling, State::Spin].map(|state| all.of(state));
    Run {
        t_ns: (shape.serial + shape.phase) * MS,
        cpu_ns: on.iter().sum(),
        locks: 0,
        lanes: p,
        times: all,
        phases: vec![phase],
        waits,
    }
}

/// The analysis of a program whose shape on `p` processors is `shape(p)`; the baseline takes
/// `baseline` ms.
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
    let sequential = Run { t_ns: baseline * MS, ..Run::default() };
    let measurement = Measurement {
        command: vec!["./prog".to_owned()],
        cpus: 64,
        baseline_runs: vec![sequential; 3],
        points: processors.iter().map(point).collect(),
        places: vec![place("sweep", 12), place("update", 34)],
        ..Measurement::default()
    };
    let report = analysed(measurement);
    for point in &report.points {
        assert!((point.factors.total() - 1.0).abs() < 1e-9, "{point:?}");
        let (p, t) = (f64::from(point.threads), point.t);
        assert!((p * t - point.work - point.idle).abs() < 1e-9, "{point:?}");
    }
    report
}

fn analysed(measurement: Measurement) -> Report {
    analyse(measurement, Estimate::Mean, Blocking::Imbalance)
}

/// The analysis of the same with all runs at a point changed.
fn changed(mut report: Report, point: usize, change: impl Fn(&mut Run)) -> Report {
    report.measurement.points[point].runs.iter_mut().for_each(change);
    analysed(report.measurement)
}

const POWERS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A program that scales: 960 ms of work, dealt out equally.
fn perfect(p: u32) -> Shape {
    Shape { phase: 960 / u64::from(p), running: 960, ..Shape::default() }
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
    assert!(report.headline().contains("it scales"), "{}", report.headline());
    assert!((report.points[5].speedup.actual - 32.0).abs() < 1e-9);
}

#[test]
fn a_program_that_makes_no_threads_for_one_has_a_stack_all_the_same() {
    let mut report = diagnose(960, &[1, 2], perfect);
    let mut one = report.measurement.points[0].clone();
    one.runs.iter_mut().for_each(|run| run.phases.clear());
    report.measurement.points[0] = one;
    let report = analysed(report.measurement);
    let stack = &report.points[1].stacks[0];
    assert!((stack.measured - 2.0).abs() < 1e-9);
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
    report.view().write_text(&mut out, crate::view::Screen::file()).unwrap();
    String::from_utf8(out).unwrap()
}
