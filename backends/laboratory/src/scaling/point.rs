//! Analyses of a measurement, point by point.

use contech_observation::State;

use super::account::{Account, Blocking};
use super::factors::Factors;
use super::findings::find;
use super::measurement::{Estimate, Measurement, Phase, Point, Run, middle, spread};
use super::ratio::{SECOND, over};
use super::report::{Analysed, Report};
use super::speedups::Speedups;
use super::stack::Stack;

/// Phases below this share of the run get no stack.
const WORTH: f64 = 0.02;

fn mean(runs: &[&Run]) -> f64 {
    over(runs.iter().map(|run| run.t_ns as f64).sum(), runs.len() as f64)
}

/// The analysis of a measurement.
#[must_use]
pub fn analyse(measurement: Measurement, estimate: Estimate, blocking: Blocking) -> Report {
    let one = measurement.points.iter().find(|point| point.threads == 1);
    let first = one.map_or(&[][..], |point| &point.runs);
    let has_baseline = !measurement.baseline_runs.is_empty();
    let baseline = if has_baseline { &measurement.baseline_runs } else { first };
    let t_s = mean(&estimate.choose(baseline));
    let elided = !measurement.elision_runs.is_empty();
    let elision = elided.then(|| mean(&estimate.choose(&measurement.elision_runs)));
    let context = Context { measurement: &measurement, estimate, blocking, first, t_s, elision };
    let points: Vec<Analysed> =
        measurement.points.iter().map(|point| context.point(point)).collect();
    let mut report = Report {
        command: measurement.command.clone(),
        cpus: measurement.cpus,
        baseline: t_s / SECOND,
        has_baseline,
        baseline_spread: spread(baseline, t_s),
        elision: elision.map(|t| t / SECOND),
        estimate,
        blocking,
        points,
        notes: measurement.notes.clone(),
        measurement,
        ..Report::default()
    };
    (report.findings_at, report.findings) = find(&report);
    report
}

struct Context<'a> {
    measurement: &'a Measurement,
    estimate: Estimate,
    blocking: Blocking,
    /// Runs with one thread.
    first: &'a [Run],
    /// The sequential time, ns.
    t_s: f64,
    /// The time of the elision, ns.
    elision: Option<f64>,
}

impl Context<'_> {
    fn point(&self, point: &Point) -> Analysed {
        let runs = self.estimate.choose(&point.runs);
        let t_p = mean(&runs);
        let p = f64::from(point.threads);
        let account = Account::mean(runs.iter().map(|run| Account::of(run, point.threads)));
        let one = if point.one.is_empty() { self.first } else { &point.one };
        let ones = self.estimate.choose(one);
        let t_1 = mean(&ones);
        // The runtime's time with one thread is part of T_1, but of no code of the program.
        let scheduling_1 = Account::mean(ones.iter().map(|run| Account::of(run, 1))).scheduling;
        let work_1 = t_1 - scheduling_1;
        let idle = account.idle(self.blocking);
        let on = [State::Running, State::Scheduling, State::Spin];
        let ran: f64 = runs.iter().flat_map(|run| on.map(|state| run.times.of(state) as f64)).sum();
        let cpu: f64 = runs.iter().map(|run| run.cpu_ns as f64).sum();
        Analysed {
            threads: point.threads,
            oversubscribed: point.threads > self.measurement.cpus,
            t: t_p / SECOND,
            t_spread: spread(&point.runs, t_p),
            runs: point.runs.len(),
            t_1: t_1 / SECOND,
            idle: idle / SECOND,
            inflation: (p * t_p - idle - t_1) / SECOND,
            work: (p * t_p - idle) / SECOND,
            preempted: if cpu > 0.0 { over(ran - cpu, ran).max(0.0) } else { 0.0 },
            speedup: Speedups::of(p, self.t_s, t_1, t_p, idle, self.elision),
            factors: Factors::of(&account, self.t_s, work_1, self.blocking),
            account,
            stacks: self.stacks(point, one),
        }
    }

    /// The stacks of the phases that also ran with one thread, from the median run of each.
    fn stacks(&self, point: &Point, one: &[Run]) -> Vec<Stack> {
        let (Some(at), Some(alone), 2..) = (middle(&point.runs), middle(one), point.threads) else {
            return Vec::new();
        };
        let t_p = at.t_ns as f64;
        let phases = at.phases.iter().filter(|phase| phase.parallel(point.threads));
        let phases = phases.filter(|phase| over(phase.wall_ns as f64, t_p) >= WORTH);
        let stack =
            |phase| Some(Stack::of(point.threads, t_p, &with_one(alone, at, phase)?, phase));
        let mut stacks: Vec<Stack> = phases.filter_map(stack).collect();
        stacks.sort_by(|a, b| b.share.total_cmp(&a.share));
        stacks
    }
}

/// The phase of the run `at` with one thread. A program that makes no threads for one thread has no
/// such phase in `one`. Then the time that `one` takes in addition to the serial part of `at` is
/// divided among the phases by their running time.
fn with_one(one: &Run, at: &Run, phase: &Phase) -> Option<Phase> {
    if let Some(same) = one.phases.iter().find(|one| one.place == phase.place) {
        return Some(*same);
    }
    if !one.phases.is_empty() {
        return None;
    }
    let running = |phase: &Phase| phase.times.of(State::Running);
    let parallel: u64 = at.phases.iter().map(|phase| phase.wall_ns).sum();
    let all: u64 = at.phases.iter().map(running).sum();
    let wall = one.t_ns.saturating_sub(at.t_ns.saturating_sub(parallel)) as f64;
    Some(Phase {
        place: phase.place,
        wall_ns: crate::view::units::whole(wall * over(running(phase) as f64, all as f64)),
        ..Phase::default()
    })
}
