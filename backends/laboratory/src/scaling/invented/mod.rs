//! Diagnoses of invented measurements: machines and programs that nobody here has, analysed like
//! measured ones.

mod inflation;
mod tasks;
mod waits;

use contech_observation::State::{
    self, Barrier, Condition, Lock, Message, Running, Scheduling, Spin,
};
use contech_observation::{Times, Wait};

use super::measurement::{Measurement, Phase, PlaceName, Point, Run};
use super::{Blocking, Estimate, Report, analyse};

/// The unit of times.
const MS: u64 = 1_000_000;

/// A program of one parallel phase, in ms.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// Time before the phase, in which one processor runs.
    serial: u64,
    /// Duration of the phase.
    phase: u64,
    /// Time of all threads within the phase.
    times: Times,
    /// Barriers of each thread.
    barriers: u64,
}

/// A phase of that duration, with the time of all threads by state.
fn shape(phase: u64, times: &[(State, u64)]) -> Shape {
    let mut shape = Shape { phase, ..Shape::default() };
    times.iter().for_each(|(state, ms)| shape.times.0[*state as usize] = *ms);
    shape
}

fn run(p: u32, shape: &Shape) -> Run {
    let times = Times(shape.times.0.map(|ms| ms * MS));
    let waits = State::ALL.into_iter().filter_map(|state| {
        let count = if state == Barrier { shape.barriers * u64::from(p) } else { 10 };
        let waits = times.of(state) > 0 && !matches!(state, Running | Scheduling);
        waits.then(|| Wait { place: 1, state, count, ns: times.of(state) })
    });
    let phase = Phase {
        place: 0,
        count: 1,
        wall_ns: shape.phase * MS,
        threads: p,
        times,
        slowest_ns: times.of(Running) / u64::from(p),
        ..Phase::default()
    };
    let mut all = times;
    all.0[Running as usize] += shape.serial * MS;
    Run {
        t_ns: (shape.serial + shape.phase) * MS,
        cpu_ns: [Running, Scheduling, Spin].map(|state| all.of(state)).iter().sum(),
        locks: 0,
        lanes: p,
        times: all,
        phases: vec![phase],
        waits: waits.collect(),
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
    shape(960 / u64::from(p), &[(Running, 960)])
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
