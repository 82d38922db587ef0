//! Makes all runs of a measurement. Commands and numbers of threads take turns, so that other
//! activity of the machine affects all of them alike.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use contech_observation::Observation;

use super::affinity::Processors;
use super::checks;
use super::command::Template;
use super::options::Options;
use super::places::Places;
use super::run::{self, Output, Runner};
use crate::output::progress;
use crate::scaling::{Activity, Measurement, Point, Run, named};
use crate::view::units;

/// Makes the measurement that `options` ask for.
///
/// # Errors
/// When a run is no measurement: one sentence says why and what to do.
pub(super) fn measure(options: &Options) -> Result<Measurement> {
    let program = Template(options.program.clone());
    let baseline = parse("--baseline", options.baseline.as_deref())?;
    let elision = parse("--elision", options.elision.as_deref())?;
    let threads = numbers(options)?;
    // A signal that asks to end ends the running program and leaves no half-written file.
    run::take_signals()?;
    let mut series = Series {
        options,
        runner: Runner::new(options.timeout, options.status)?,
        processors: Processors::own(),
        places: Places::default(),
        said: None,
        notes: Vec::new(),
    };
    let mut measurement = Measurement {
        command: program.words(),
        baseline: baseline.as_ref().map(Template::words),
        elision: elision.as_ref().map(Template::words),
        cpus: series.processors.count(),
        points: threads.into_iter().map(|threads| Point { threads, ..Point::default() }).collect(),
        ..Measurement::default()
    };
    let bar = progress::spinner("scale");
    for round in 1..=options.repeat {
        let step =
            |what: &str| bar.set_message(format!("round {round} of {}: {what}", options.repeat));
        if let Some(baseline) = &baseline {
            step("baseline");
            measurement.baseline_runs.push(series.run(baseline, 1, 1)?.0);
        }
        if let Some(elision) = &elision {
            step("elision");
            measurement.elision_runs.push(series.run(elision, 1, 1)?.0);
        }
        for point in &mut measurement.points {
            let p = point.threads;
            step(&units::plural(p.into(), "thread"));
            let (run, observation) = series.run(&program, p, p)?;
            // The median run is not known before the last run, so the activity of the first run is
            // kept, which is as good.
            if round == 1 {
                point.activity = Some(Activity::of(observation));
            }
            point.runs.push(run);
            if program.work_depends() && p > 1 {
                point.one.push(series.run(&program, 1, p)?.0);
            }
        }
    }
    bar.finish_and_clear();
    measurement.notes = series.notes;
    measurement.places = series.places.names;
    Ok(measurement)
}

fn parse(option: &str, text: Option<&str>) -> Result<Option<Template>> {
    text.map(|text| Template::parse(option, text)).transpose()
}

/// The numbers of threads, ascending. 1 is among them, because everything else needs T_1.
fn numbers(options: &Options) -> Result<BTreeSet<u32>> {
    let numbers: BTreeSet<u32> = options.threads.iter().copied().chain([1]).collect();
    ensure!(
        numbers.len() > 1,
        "--threads 1 has nothing to compare with; expected several numbers, as in --threads 1,2,4"
    );
    Ok(numbers)
}

struct Series<'a> {
    options: &'a Options,
    runner: Runner,
    processors: Processors,
    places: Places,
    /// The first run's command and output.
    said: Option<(String, Output)>,
    notes: Vec<String>,
}

impl Series<'_> {
    /// Makes one run with `threads` threads of the work for `p` processors.
    fn run(&mut self, template: &Template, threads: u32, p: u32) -> Result<(Run, Observation)> {
        let words = template.at(threads, p);
        let run = || self.runner.run(&words, threads);
        let (observation, output) = match self.options.no_pin {
            true => run(),
            false => self.processors.limited(threads, run),
        }?;
        let name = run::words(&words);
        checks::long_enough(observation.run.t_ns, &name, self.options.min_time)?;
        match &self.said {
            _ if self.options.ignore_output => {}
            Some((first, said)) => checks::same_output((first, said), (&name, &output))?,
            None => self.said = Some((name, output)),
        }
        for note in &observation.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let run = named(&observation.run, |place| self.places.index(&observation.modules, place));
        Ok((run, observation))
    }
}
