//! `factors`: work, distribution and delay of a recorded run (deconstructing overhead, section II).

use anyhow::{Result, bail};
use serde::Serialize;
use taskgraph::ContextId;

use super::PhaseSums;
use crate::analysis::{self, Analysis, Change, Graph, Order, end_of};
use crate::scaling::ratio::over;
use crate::scaling::{self, Account, Blocking};
use crate::view::chart::Part;
use crate::view::units::{plural, share, time};
use crate::view::{Axis, Cell, Chart, Render, Table, Unit, View};

/// Options of `factors`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Processors the run had [default: as many as contexts ran at one time for 1% of the run]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub processors: Option<u32>,
    /// Graph of the sequential program, recorded in the same way: without it, work and hardware delay cannot be told apart
    #[arg(long, value_name = "GRAPH")]
    pub baseline: Option<std::path::PathBuf>,
    /// Where contexts that block for a lock are counted
    #[arg(long, value_enum, default_value_t)]
    pub blocking: Blocking,
}

/// The analysis.
#[derive(Debug)]
pub struct Factors {
    options: Options,
    /// Length of the baseline's run, ns.
    baseline: Option<u64>,
    phases: PhaseSums,
}

/// Factors of a recorded run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// P.
    pub processors: u32,
    /// Length of the run, ns.
    pub duration_ns: u64,
    /// Length of the baseline's run, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_ns: Option<u64>,
    /// Parallel phases.
    pub phases: u64,
    /// Total length of the parallel phases, ns.
    pub parallel_ns: u64,
    /// Shares of the processors' time. Without a baseline `work` includes hardware delay.
    pub factors: scaling::Factors,
    /// Processor time, ns.
    pub account: Account,
}

impl Analysis for Factors {
    const NAME: &'static str = "factors";
    const ABOUT: &'static str =
        "Work, distribution and delay: where the time of the processors went";
    const ORDER: Order = Order::Tables;
    const CHANGES: bool = true;
    type Config = Options;
    type Shard = ();
    type Report = Report;

    fn new(options: Options, _: &Graph) -> Result<Self> {
        let baseline = match &options.baseline {
            Some(path) => Some(analysis::open(path)?.summary().duration_ns),
            None => None,
        };
        if baseline == Some(0) {
            bail!("the baseline's run took no time; expected the graph of the sequential program");
        }
        Ok(Self {
            options,
            baseline,
            phases: PhaseSums::default(),
        })
    }

    fn change(&mut self, change: &Change<'_>) -> Result<()> {
        self.phases.change(change);
        Ok(())
    }

    fn shard(&self, _: Option<ContextId>) {}

    fn finish(self, graph: &Graph, _: Vec<()>) -> Result<Report> {
        let phases = self.phases.finish(end_of(graph), self.options.processors);
        let processors = self.options.processors.unwrap_or(phases.peak).max(1);
        let account = Account::of_parts(&phases.serial, &phases.parallel, processors);
        let work = self.baseline.map_or(account.running, |ns| ns as f64);
        Ok(Report {
            processors,
            duration_ns: phases.serial.wall_ns + phases.parallel.wall_ns,
            baseline_ns: self.baseline,
            phases: phases.count,
            parallel_ns: phases.parallel.wall_ns,
            factors: scaling::Factors::of(&account, work, work, self.options.blocking),
            account,
        })
    }
}

impl Report {
    fn rows(&self) -> Vec<(&'static str, &'static str, f64)> {
        let factors = &self.factors;
        let distribution = &factors.distribution;
        vec![
            ("work", "running", factors.work),
            ("scheduling", "w4", distribution.scheduling),
            ("serialization", "w5", distribution.serialization),
            ("load imbalance", "barrier", distribution.imbalance),
            ("software delay", "lock", factors.delay.software),
            ("hardware delay", "message", factors.delay.hardware),
        ]
    }

    /// The parts of the imbalance.
    fn waits(&self) -> Vec<(&'static str, f64)> {
        let account = &self.account;
        let mut waits = vec![
            ("blocked by locks", account.lock),
            ("in barriers", account.barrier),
            ("for conditions", account.condition),
            ("for messages", account.message),
            ("without work", account.unoccupied),
        ];
        waits.retain(|(_, ns)| *ns > 0.0);
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        waits
    }
}

impl Render for Report {
    fn view(&self) -> View {
        let rows = self.rows();
        let table = Table::new(&[("factor", "factor"), ("share", "share")]).rows(
            rows.iter()
                .map(|&(name, _, part)| [Cell::from(name), Cell::Share(part)]),
        );
        let total = self.account.total();
        let waits = self.waits();
        let detail: Vec<String> = waits
            .iter()
            .map(|(name, ns)| format!("{} {name}", share(over(*ns, total))))
            .collect();
        let mut view = View::default()
            .heading("Work, distribution, delay")
            .line(format!(
                "{} for {}, {} of it in {}.",
                plural(self.processors.into(), "processor"),
                time(self.duration_ns),
                time(self.parallel_ns),
                plural(self.phases, "parallel phase")
            ));
        if self.baseline_ns.is_none() {
            view = view.line(
                "Without a baseline's graph (--baseline), work has hardware delay in it: the share of work is a bound.",
            );
        }
        if !detail.is_empty() {
            view = view.line(format!(
                "Waiting within parallel phases: {}.",
                detail.join(", ")
            ));
        }
        let part = |&(name, color, value): &(&str, &str, f64)| Part {
            name: name.to_owned(),
            color: color.to_owned(),
            values: vec![value],
        };
        view.table(table).chart(Chart::Stacks {
            title: "Factors of the recorded run".to_owned(),
            x: "processors".to_owned(),
            y: Axis::new("share of processor time", Unit::Share),
            names: vec![self.processors.to_string()],
            parts: rows.iter().map(part).collect(),
        })
    }
}
