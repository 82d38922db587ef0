//! `predict`: how fast a run would be on other numbers of processors, as it is and without each of its largest losses.
//!
//! The run is replayed from the graph, in operations' recorded times and with the waits it had. Code that a loss is
//! charged to is divided among processors that are idle meanwhile; sleeping takes no time; losses to caches, sharing
//! and allocation make all code faster. What more processors cost (caches, memory, a lock's own time) is not in it.

use std::str::FromStr;

use anyhow::Result;
use serde::Serialize;
use taskgraph::{BlockCounts, ContextId};

use crate::account::{self, Account, Row};
use crate::analysis::{Analysis, Graph, Order, Reads, Task};
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
            let number = text
                .trim()
                .parse()
                .ok()
                .filter(|number| (1..=MOST).contains(number));
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
        if all.is_empty() {
            Err(wrong())
        } else {
            Ok(Self(all))
        }
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
#[derive(Debug)]
pub struct Predict(Account);

/// The predicted speedups.
#[derive(Clone, Debug, Serialize)]
pub struct Report(account::Report);

impl Analysis for Predict {
    const NAME: &'static str = "predict";
    const ABOUT: &'static str =
        "How fast the run would be on more processors, and without each of its largest losses";
    const ORDER: Order = Account::ORDER;
    const READS: Reads = Account::READS;
    type Config = Options;
    type Shard = account::Shard;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let account = Account::new(account::Options::default(), graph)?;
        Ok(Self(account.on(options.processors.0)))
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.0.prepare(graph)
    }

    fn shard(&self, context: Option<ContextId>) -> account::Shard {
        self.0.shard(context)
    }

    fn done(
        &self,
        shard: &mut account::Shard,
        task: &Task<'_>,
        counts: &BlockCounts,
    ) -> Result<()> {
        self.0.done(shard, task, counts)
    }

    fn complete(report: &mut Report, graph: &Graph) -> Result<()> {
        Account::complete(&mut report.0, graph)
    }

    fn finish(self, graph: &Graph, shards: Vec<account::Shard>) -> Result<Report> {
        Ok(Report(self.0.finish(graph, shards)?))
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
        let mut columns = vec![("processors".to_owned(), "processors".to_owned())];
        columns.extend(curves.iter().map(|(name, _)| (name.clone(), name.clone())));
        let columns: Vec<(&str, &str)> = columns
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let rows = predicted
            .processors
            .iter()
            .enumerate()
            .map(|(at, &processors)| {
                let speedups = curves.iter().map(|(_, speedups)| speedups.get(at));
                let cell =
                    |speedup: Option<&f64>| speedup.map_or(Cell::Empty, |&s| Cell::Number(s));
                std::iter::once(Cell::Count(processors.into()))
                    .chain(speedups.map(cell))
                    .collect::<Vec<Cell>>()
            });
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
        view.line(said)
            .table(Table::new(&columns).rows(rows))
            .chart(chart)
    }
}
