//! `diff`: what changed between two recordings, in seconds of processor time by cause and place.
//!
//! Losses are the same if their cause and the function of their place are; lines may have moved
//! meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;

use crate::account::{Account, Report as Run};
use crate::analysis::{self, Analysis, default_config};
use crate::output::{Destination, files};
use crate::view::units::{ratio, time};
use crate::view::{Render, Table, View};

/// Changes below this share of the processors' time are shown as one.
const WORTH: f64 = 0.01;
/// The most lines of text for changes.
const LINES: usize = 12;

/// Options of `diff`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Task graph of the run before, or the folder of `contech run --repeat`
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The same of the run after
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Exit with 1 if the second run takes more than PERCENT longer than the first one
    #[arg(long, value_name = "PERCENT")]
    fail_over: Option<u32>,
    #[command(flatten)]
    to: Destination,
}

/// What changed from one run to another.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The numbers of processors that the programs could use.
    pub processors: [u32; 2],
    /// The lengths of the runs, without what the recording took; the medians of several runs.
    pub duration_ns: [u64; 2],
    /// The shortest and the longest run of each program, and how many there are.
    pub durations_ns: [[u64; 2]; 2],
    pub runs: [usize; 2],
    /// What changed, the largest change first.
    pub changes: Vec<Change>,
}

/// Processor time in one cause and place, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The cause of the loss, or `the program`.
    pub cause: &'static str,
    /// Where, in the later run if it is in both.
    #[serde(rename = "where")]
    pub place: String,
    /// The processor time; the medians of several runs.
    pub ns: [u64; 2],
    /// Whether all runs of one program have more of it than all runs of the other; `None` where too
    /// few runs tell.
    pub repeats: Option<bool>,
}

/// What one program's runs have in common.
struct Side {
    /// The lengths of the runs, in order of size.
    lengths_ns: Vec<u64>,
    /// Processor time by cause and place, for each run in which there is some; and the place in
    /// words.
    times: BTreeMap<(&'static str, String), (Vec<u64>, String)>,
}

impl Side {
    fn of(runs: &[Run]) -> Self {
        let length = |run: &Run| run.total_ns / u64::from(run.processors.max(1));
        let mut times: BTreeMap<_, (Vec<u64>, String)> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            let losses =
                run.losses.iter().map(|row| (row.cause.name(), row.site(), row.place(), row.ns));
            let program = ("the program", String::new(), String::new(), run.useful_ns);
            for (cause, site, place, ns) in losses.chain([program]) {
                let known = times.entry((cause, site)).or_default();
                known.0.resize(at + 1, 0);
                known.0[at] = known.0[at].saturating_add(ns);
                known.1 = place;
            }
        }
        let mut lengths_ns: Vec<u64> = runs.iter().map(length).collect();
        lengths_ns.sort_unstable();
        Self { lengths_ns, times }
    }

    fn runs(&self) -> usize {
        self.lengths_ns.len()
    }

    /// The times of a loss in all runs, in order of size.
    fn times(&self, loss: &(&'static str, String)) -> Vec<u64> {
        let mut times = self.times.get(loss).map_or_else(Vec::new, |(ns, _)| ns.clone());
        times.resize(self.runs(), 0);
        times.sort_unstable();
        times
    }
}

/// The median of what is in order of size.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

/// The least and the largest of what is in order of size.
fn range(sorted: &[u64]) -> [u64; 2] {
    [sorted.first(), sorted.last()].map(|one| one.copied().unwrap_or(0))
}

/// So many runs of one program tell what differs by chance.
const ENOUGH: usize = 3;

impl Change {
    fn size(&self) -> u64 {
        self.ns[0].abs_diff(self.ns[1])
    }

    /// The change with its sign.
    fn words(&self) -> String {
        let sign = if self.ns[1] < self.ns[0] { '-' } else { '+' };
        format!("{sign}{}", time(self.size()))
    }
}

impl Report {
    /// Compares the accounts of the runs of two programs, or of two versions of one.
    #[must_use]
    pub fn of(runs: [&[Run]; 2]) -> Self {
        let sides = runs.map(Side::of);
        let known = sides.iter().any(|side| side.runs() >= ENOUGH);
        let losses: BTreeSet<_> = sides.iter().flat_map(|side| side.times.keys()).collect();
        let change = |loss: &(&'static str, String)| {
            let times = [0, 1].map(|at| sides[at].times(loss));
            let places = sides.iter().rev().find_map(|side| side.times.get(loss));
            Change {
                cause: loss.0,
                place: places.map_or_else(String::new, |(_, place)| place.clone()),
                ns: [median(&times[0]), median(&times[1])],
                repeats: known.then(|| apart(range(&times[0]), range(&times[1]))),
            }
        };
        let mut changes: Vec<Change> = losses.into_iter().map(change).collect();
        changes.sort_by_key(|change| {
            (std::cmp::Reverse(change.size()), change.cause, change.place.clone())
        });
        Self {
            processors: runs.map(|runs| runs.first().map_or(0, |run| run.processors)),
            duration_ns: sides.each_ref().map(|side| median(&side.lengths_ns)),
            durations_ns: sides.each_ref().map(|side| range(&side.lengths_ns)),
            runs: sides.each_ref().map(Side::runs),
            changes,
        }
    }

    fn sentence(&self) -> String {
        let [before, after] = self.duration_ns;
        let how = match ratio(before, after) {
            _ if before == 0 || after == 0 => "which says nothing".to_owned(),
            times if times >= 1.0 => format!("{times:.2} times as fast"),
            times => format!("{:.2} times as long", 1.0 / times),
        };
        let [before, after] = [0, 1].map(|at| self.length(at));
        format!("{before} became {after}, {how}.")
    }

    /// How long the runs of one program took.
    fn length(&self, at: usize) -> String {
        let [least, most] = self.durations_ns[at].map(time);
        let median = time(self.duration_ns[at]);
        match self.runs[at] {
            1 => median,
            runs => format!("{median} ({least} to {most} in {runs} runs)"),
        }
    }

    /// What the differences are worth, in a sentence.
    fn chance(&self) -> &'static str {
        if self.runs.iter().all(|runs| *runs < ENOUGH) {
            return "Processor time; the times of one pair of runs differ by chance, too (contech run --repeat 5 tells how much).";
        }
        let [before, after] = self.durations_ns;
        match apart(before, after) || self.changes.iter().any(|one| one.repeats == Some(true)) {
            true => {
                "Processor time. What is beyond chance differs by more than the runs of one program do."
            }
            false => {
                "Processor time. The two differ by nothing that repeats of one of them would not."
            }
        }
    }
}

/// Whether two ranges have nothing in common.
fn apart(a: [u64; 2], b: [u64; 2]) -> bool {
    a[1] < b[0] || b[1] < a[0]
}

impl Render for Report {
    fn view(&self) -> View {
        let most = self
            .duration_ns
            .iter()
            .zip(self.processors)
            .map(|(&ns, p)| ns.saturating_mul(p.into()))
            .max();
        let worth = |change: &&Change| ratio(change.size(), most.unwrap_or(0)) >= WORTH;
        let (mut shown, mut rest) = (Vec::new(), [0, 0]);
        for change in &self.changes {
            if shown.len() < LINES && worth(&change) {
                shown.push(change.clone());
            } else {
                rest = [0, 1].map(|at| change.ns[at].saturating_add(rest[at]));
            }
        }
        if rest != [0, 0] {
            shown.push(Change {
                cause: "everything else",
                place: String::new(),
                ns: rest,
                repeats: None,
            });
        }
        let table = Table::of(shown)
            .text("change", "change", Change::words)
            .time("before", "before_ns", |change| change.ns[0])
            .time("after", "after_ns", |change| change.ns[1])
            .text("cause", "cause", |change| change.cause)
            .text("beyond chance", "repeats", |change| match change.repeats {
                Some(true) => "yes",
                Some(false) => "no",
                None => "",
            })
            .text("where", "where", |change| change.place.clone())
            .table();
        let mut view = View::default().heading("What changed").line(self.sentence());
        if self.processors[0] != self.processors[1] {
            let [before, after] = self.processors;
            view = view.line(format!("The runs had {before} and {after} processors."));
        }
        view.line(self.chance()).table(table)
    }
}

/// The graph, or those of a folder that `contech run --repeat` made.
fn graphs(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = files(path, |name| name.starts_with("graph.") && name.ends_with(".tg"))?;
    if found.is_empty() {
        bail!("{} has no graph.tg: it is no folder of contech run", path.display());
    }
    Ok(found)
}

/// Runs the subcommand.
///
/// # Errors
/// When a graph cannot be read, the output cannot be written, or the second run takes too long.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let mut warnings = Vec::new();
    let mut accounts = |path: &Path| -> Result<Vec<Run>> {
        let graphs = graphs(path)?;
        let whole = graphs.len() == 1;
        let account = |path: PathBuf| {
            let graph = analysis::open(&path)?;
            let found = analysis::warnings(&graph).into_iter();
            warnings.extend(found.map(|text| format!("{}: {text}", path.display())));
            let mut report = analysis::run::<Account>(default_config::<Account>()?, &graph)?;
            // The graphs of repeats have a sample of the accesses, so models would see less in
            // them.
            if whole {
                Account::complete(&mut report, &graph)?;
            }
            Ok(report)
        };
        graphs.into_iter().map(account).collect()
    };
    let runs = [accounts(&options.before)?, accounts(&options.after)?];
    let report = Report::of([&runs[0], &runs[1]]);
    options.to.write(&report, &warnings, true)?;
    let longer = ratio(report.duration_ns[1], report.duration_ns[0]) - 1.0;
    match options.fail_over {
        Some(most) if longer * 100.0 > f64::from(most) => {
            bail!(
                "the second run takes {:.0}% longer than the first one, more than {most}%",
                longer * 100.0
            )
        }
        _ => Ok(()),
    }
}
