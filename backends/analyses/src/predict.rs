//! `predict`: how fast a run would be on other numbers of processors, as it is and without each of
//! its largest losses.
//!
//! The run is replayed from the graph, in operations' recorded times and with the waits it had.
//! Code that a loss is charged to is divided among processors that are idle meanwhile; sleeping
//! takes no time; losses to caches, sharing and allocation make all code faster. What more
//! processors cost (caches, memory, a lock's own time) is not in it.

use std::str::FromStr;

use anyhow::Result;
use serde::Serialize;

use crate::account::{self, Account, Row};
use crate::analysis::{Analysis, Graph};
use crate::grouped::{Grouped, Grouping};
use crate::view::{Axis, Cell, Chart, Render, Series, Table, Unit, View};

/// Number of losses that are shown, the largest ones.
const SHOWN: usize = 4;
/// The largest number of processors.
const MOST: u32 = 4096;

/// Numbers of processors: `8`, `1,2,4` or `1..64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(Vec<u32>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("'{text}' is not a list of numbers from 1 to {MOST}, e.g. 1,2,4 or 1..64");
        let number = |text: &str| {
            let number = text.trim().parse().ok().filter(|number| (1..=MOST).contains(number));
            number.ok_or_else(wrong)
        };
        let mut all = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((from, to)) => all.extend(number(from)?..=number(to)?),
                None => all.push(number(part)?),
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.is_empty() { Err(wrong()) } else { Ok(Self(all)) }
    }
}

/// Options of `predict`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Numbers of processors: 8, 1,2,4 or 1..64
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32,64")]
    pub processors: Numbers,
}

/// The analysis.
pub type Predict = Grouped<Speedups>;

/// Predicted speedups of a run, from its account.
#[derive(Clone, Copy, Debug)]
pub struct Speedups;

/// The predicted speedups.
#[derive(Clone, Debug, Serialize)]
pub struct Report(account::Report);

impl Grouping for Speedups {
    const NAME: &'static str = "predict";
    const ABOUT: &'static str =
        "How fast the run would be on more processors, and without each of its largest losses";
    type Options = Options;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<(Account, Self)> {
        let account = Account::new(account::Options::default(), graph)?;
        Ok((account.on(options.processors.0), Self))
    }

    fn report(&self, account: &account::Report) -> Report {
        Report(account.clone())
    }
}

impl Report {
    /// The curves: names, and speedups by number of processors.
    fn curves(&self) -> Vec<(String, &[f64])> {
        let predicted = &self.0.predicted;
        let losses = self.0.losses.iter().filter(|row| !row.cause.is_given());
        let named = |row: &Row| match row.place().as_str() {
            "" => format!("without {}", row.cause.name()),
            place => format!("without {} at {place}", row.cause.name()),
        };
        [
            ("as it is".to_owned(), &predicted.greedy[..]),
            ("with work stealing".to_owned(), &predicted.stealing),
        ]
        .into_iter()
        .chain(losses.take(SHOWN).map(|row| (named(row), &row.mended[..])))
        .collect()
    }
}

impl Render for Report {
    fn view(&self) -> View {
        let predicted = &self.0.predicted;
        let view = View::default().heading("Predicted speedups");
        if predicted.processors.is_empty() {
            return view.line("The run has too many tasks to be replayed.");
        }
        let curves = self.curves();
        let all = predicted.processors.iter().enumerate();
        let mut columns = Table::of(all).count("processors", "processors", |row| *row.1);
        for (name, speedups) in &curves {
            columns = columns.cell(name, name, |row| {
                speedups.get(row.0).map_or(Cell::Empty, |&speedup| Cell::Number(speedup))
            });
        }
        let series = curves.iter().map(|(name, speedups)| Series {
            name: name.clone(),
            points: predicted
                .processors
                .iter()
                .map(|&p| f64::from(p))
                .zip(speedups.iter().copied())
                .collect(),
        });
        let said = format!(
            "Compared with this run on {}, replayed; what more processors cost is not predicted.",
            crate::view::units::plural(self.0.processors.into(), "processor")
        );
        let chart = Chart::Lines {
            title: "Predicted speedups".to_owned(),
            x: Axis::new("processors", Unit::Count),
            y: Axis::new("speedup", Unit::Number),
            steps: false,
            series: series.collect(),
        };
        view.line(said).table(columns.table()).chart(chart)
    }
}
