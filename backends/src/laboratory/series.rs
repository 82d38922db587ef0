//! Makes all runs of a measurement. Commands and numbers of threads take turns, so that other activity of the machine
//! affects all of them alike.

use anyhow::{Result, bail};
use contech_observation::Observation;

use super::affinity::Processors;
use super::checks;
use super::command::Template;
use super::options::Options;
use super::places::Places;
use super::run::{self, Order, Outcome, Output, Runner};
use crate::cli::progress;
use crate::scaling::{Activity, AloneRun, Measurement, Point, Run};
use crate::view::units;

/// The most threads whose alone-runs are measured; one would suffice if shares are equal.
const PROFILED: u32 = 4;

/// Makes the measurement that `options` ask for.
///
/// # Errors
/// When a run is no measurement: one sentence says why and what to do.
pub(super) fn measure(options: &Options) -> Result<Measurement> {
    let program = Template::of(&options.program);
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
        points: threads
            .iter()
            .map(|&threads| Point {
                threads,
                ..Point::default()
            })
            .collect(),
        ..Measurement::default()
    };
    let bar = progress::spinner("scale");
    for round in 1..=options.repeat {
        let step =
            |what: &str| bar.set_message(format!("round {round} of {}: {what}", options.repeat));
        if let Some(baseline) = &baseline {
            step("baseline");
            measurement
                .baseline_runs
                .push(series.run(baseline, 1, 1)?.0);
        }
        if let Some(elision) = &elision {
            step("elision");
            measurement.elision_runs.push(series.run(elision, 1, 1)?.0);
        }
        for point in &mut measurement.points {
            let p = point.threads;
            step(&units::plural(p.into(), "thread"));
            let (run, observation) = series.run(&program, p, p)?;
            // The median run is not known before the last run, so the activity of the first run is kept, which is as
            // good.
            if round == 1 {
                point.activity = Some(Activity::of(&observation));
            }
            point.runs.push(run);
            if program.work_depends() && p > 1 {
                point.one.push(series.run(&program, 1, p)?.0);
            }
        }
    }
    if options.stack {
        for point in &mut measurement.points {
            if point.threads > 1 && point.threads <= measurement.cpus {
                bar.set_message(format!("{} threads, one at a time", point.threads));
                point.alone = series.alone(&program, point.threads)?;
            }
        }
    }
    bar.finish_and_clear();
    measurement.notes = series.notes;
    measurement.places = series.places.names();
    Ok(measurement)
}

fn parse(option: &str, text: Option<&str>) -> Result<Option<Template>> {
    text.map(|text| Template::parse(option, text)).transpose()
}

/// The numbers of threads, ascending. 1 is among them, because everything else needs T_1.
fn numbers(options: &Options) -> Result<Vec<u32>> {
    let mut numbers = options.threads.clone();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.first() != Some(&1) {
        numbers.insert(0, 1);
    }
    if numbers.len() == 1 {
        bail!(
            "--threads 1 has nothing to compare with; expected several numbers, as in --threads 1,2,4"
        );
    }
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
        let order = Order {
            words: template.at(threads, p),
            threads,
            alone: None,
            pirate: 0,
        };
        let outcome = {
            let _limited = (!self.options.no_pin).then(|| self.processors.limit(threads));
            self.runner.run(&order)?
        };
        let name = run::words(&order.words);
        checks::long_enough(&outcome, &name, self.options.min_time)?;
        if !self.options.ignore_output {
            self.compare(&name, &outcome)?;
        }
        self.note(&outcome.observation);
        Ok((self.taken(&outcome.observation), outcome.observation))
    }

    fn compare(&mut self, name: &str, outcome: &Outcome) -> Result<()> {
        if let Some((first, output)) = &self.said {
            return checks::same_output((first, output), (name, &outcome.output));
        }
        self.said = Some((name.to_owned(), outcome.output.clone()));
        Ok(())
    }

    fn taken(&mut self, observation: &Observation) -> Run {
        let places = &mut self.places;
        Run::of(observation, |place| places.index(observation, place))
    }

    fn note(&mut self, observation: &Observation) {
        for note in &observation.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
    }

    /// Runs each thread alone, with all of the shared cache and with its share of the cache.
    fn alone(&mut self, template: &Template, threads: u32) -> Result<Vec<AloneRun>> {
        let cache = self
            .options
            .llc
            .map(crate::size::Size::bytes)
            .or_else(shared_cache);
        let pirate = cache.map_or(0, |bytes| {
            bytes / u64::from(threads) * u64::from(threads - 1)
        });
        if cache.is_none() {
            self.add_note(
                "the size of the shared cache is not known: give it with --llc".to_owned(),
            );
        }
        let mut runs = Vec::new();
        for thread in 0..threads.min(PROFILED) {
            for bytes in [0, pirate] {
                if bytes == 0 && pirate == 0 && !runs.is_empty() && thread == 0 {
                    continue;
                }
                let order = Order {
                    words: template.at(threads, threads),
                    threads,
                    alone: Some(thread),
                    pirate: bytes,
                };
                let outcome = self.runner.run(&order)?;
                runs.push(self.alone_run(&outcome.observation, thread, bytes));
            }
        }
        Ok(runs)
    }

    fn alone_run(&mut self, observation: &Observation, thread: u32, bytes: u64) -> AloneRun {
        let alone = observation.alone.clone().unwrap_or_default();
        let mut invalid = alone.invalid;
        if let Some(pirate) = alone.pirate.filter(|pirate| !pirate.held) {
            invalid.get_or_insert_with(|| {
                format!(
                    "the Pirate could not keep {} of the shared cache: {:.1} ns an access beside the program, {:.1} in the \
                     cache, {:.1} out of it; use the model of a recorded run (contech-backend stack)",
                    units::bytes(pirate.bytes),
                    pirate.beside_ns,
                    pirate.quiet_ns,
                    pirate.miss_ns
                )
            });
        }
        AloneRun {
            thread,
            pirate_bytes: bytes,
            invalid,
            phases: self.taken(observation).phases,
        }
    }

    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The size of the cache that processors share, as the system says, bytes.
fn shared_cache() -> Option<u64> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?;
    text.trim()
        .parse::<crate::size::Size>()
        .ok()
        .map(crate::size::Size::bytes)
}
