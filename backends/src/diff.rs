//! `diff`: what changed between two recordings, in seconds of processor time by cause and place.
//!
//! Losses are the same if their cause and the function of their place are; lines may have moved meanwhile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;

use crate::account::{Account, Report as Run, Row};
use crate::analysis::source::Place;
use crate::analysis::{self, Analysis, default_config};
use crate::cli::Destination;
use crate::view::units::{ratio, time};
use crate::view::{Render, Table, View};

/// Changes below this share of the processors' time are shown as one.
const WORTH: f64 = 0.01;
/// The most lines of text for changes.
const LINES: usize = 12;

/// Options of `diff`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Task graph of the run before
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// Task graph of the run after
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
    /// The lengths of the runs, without what the recording took.
    pub duration_ns: [u64; 2],
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
    /// The processor time.
    pub ns: [u64; 2],
}

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
    /// Compares the accounts of two runs.
    #[must_use]
    pub fn of(runs: [&Run; 2]) -> Self {
        let mut changes: BTreeMap<(&str, String), Change> = BTreeMap::new();
        for (at, run) in runs.into_iter().enumerate() {
            let losses = run
                .losses
                .iter()
                .map(|row| (row.cause.name(), site(row), row.place(), row.ns));
            let program = ("the program", String::new(), String::new(), run.useful_ns);
            for (cause, site, place, ns) in losses.chain([program]) {
                let new = || Change {
                    cause,
                    place: String::new(),
                    ns: [0, 0],
                };
                let change = changes.entry((cause, site)).or_insert_with(new);
                change.place = place;
                change.ns[at] = change.ns[at].saturating_add(ns);
            }
        }
        let mut changes: Vec<Change> = changes.into_values().collect();
        changes.sort_by_key(|change| {
            (
                std::cmp::Reverse(change.size()),
                change.cause,
                change.place.clone(),
            )
        });
        Self {
            processors: runs.map(|run| run.processors),
            duration_ns: runs.map(|run| run.total_ns / u64::from(run.processors.max(1))),
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
        format!("{} became {}, {how}.", time(before), time(after))
    }
}

/// The function and the file that a loss is laid on.
fn site(row: &Row) -> String {
    let place = row.code.as_ref().or(row.wait.as_ref());
    let file = |place: &Place| {
        Path::new(&place.file)
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    place.map_or_else(String::new, |place| {
        format!("{} {}", place.function, file(place).unwrap_or_default())
    })
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
            });
        }
        let table = Table::of(shown)
            .text("change", "change", Change::words)
            .time("before", "before_ns", |change| change.ns[0])
            .time("after", "after_ns", |change| change.ns[1])
            .text("cause", "cause", |change| change.cause)
            .text("where", "where", |change| change.place.clone())
            .table();
        let mut view = View::default()
            .heading("What changed")
            .line(self.sentence());
        if self.processors[0] != self.processors[1] {
            let [before, after] = self.processors;
            view = view.line(format!("The runs had {before} and {after} processors."));
        }
        view.line("Processor time; the times of one pair of runs differ by chance, too.")
            .table(table)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// When a graph cannot be read, the output cannot be written, or the second run takes too long.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let mut warnings = Vec::new();
    let mut account = |path: &Path| -> Result<Run> {
        let graph = analysis::open(path)?;
        let found = analysis::warnings(&graph).into_iter();
        warnings.extend(found.map(|text| format!("{}: {text}", path.display())));
        let mut report = analysis::run::<Account>(default_config::<Account>()?, &graph)?;
        Account::complete(&mut report, &graph)?;
        Ok(report)
    };
    let runs = [account(&options.before)?, account(&options.after)?];
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
