//! The papers' divisions of a recorded run, for comparison with what `contech scale` measures:
//! `factors` and `stack`. Both group the losses of [`crate::account`], so shares are comparable
//! with it and with each other.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::account::{self, Loss};
use crate::analysis::{self, Analysis, Graph};
use crate::grouped::{Grouped, Grouping};
use crate::scaling::{Account, Blocking, Factors, over};
use crate::view::chart::Part;
use crate::view::units::{plural, time};
use crate::view::{Axis, Chart, Render, Table, Unit, View};

/// Options of `factors`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Those of the account.
    #[command(flatten)]
    pub account: account::Options,
    /// Graph of the sequential program, recorded in the same way: without it, hardware delay is
    /// what models estimate
    #[arg(long, value_name = "GRAPH")]
    pub baseline: Option<std::path::PathBuf>,
    /// Where contexts that block for a lock are counted
    #[arg(long, value_enum, default_value_t)]
    pub blocking: Blocking,
}

/// `factors`: work, distribution and delay of a recorded run (deconstructing overhead, section II).
pub type RecordedFactors = Grouped<ByFactor>;

/// `stack`: the speedup stack of a recorded run.
pub type RecordedStack = Grouped<ByLimit>;

/// Losses by factor.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByFactor {
    blocking: Blocking,
    /// Length of the baseline's run, ns.
    baseline: Option<u64>,
}

/// Losses by what limits the speedup.
#[derive(Clone, Copy, Debug)]
pub struct ByLimit;

/// Factors of a recorded run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorsReport {
    /// P.
    pub processors: u32,
    /// Length of the run on processors of its own, ns.
    pub duration_ns: u64,
    /// Length of the baseline's run, ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_ns: Option<u64>,
    /// Shares of the processors' time.
    pub factors: Factors,
    /// Processor time, ns.
    pub account: Account,
}

/// The stack of a recorded run. The components and `measured` add up to `processors`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackReport {
    /// P.
    pub processors: u32,
    /// Length of the run on processors of its own, ns.
    pub duration_ns: u64,
    /// One processor at work while the others have nothing to do.
    pub serialization: f64,
    /// Unequal shares of work, and processors without a thread.
    pub share_of_work: f64,
    /// Making and handing out pieces of work.
    pub scheduling: f64,
    /// Caches that miss, and lines that processors take from each other, by the models.
    pub cache: f64,
    /// Locks, barriers, conditions and messages.
    pub synchronization: f64,
    /// Processors that are at work on average.
    pub measured: f64,
}

/// An account's losses by what the papers know, and the part of `running` that models say the
/// hardware takes, ns.
fn grouped(report: &account::Report) -> (Account, f64) {
    let running = report.useful_ns as f64;
    let (mut sum, mut hardware) = (Account { running, ..Account::default() }, 0.0);
    for row in &report.losses {
        let ns = row.ns as f64;
        let field = match row.cause {
            Loss::Serial | Loss::Handover | Loss::Startup => &mut sum.serialization,
            Loss::Scheduling => &mut sum.scheduling,
            Loss::Lock => &mut sum.lock,
            Loss::Locking | Loss::Spinning => &mut sum.spin,
            Loss::Barrier => &mut sum.barrier,
            Loss::Producer => &mut sum.condition,
            Loss::Message => &mut sum.message,
            Loss::Imbalance | Loss::Threads | Loss::Bound | Loss::Starting | Loss::Io => {
                &mut sum.unoccupied
            }
            // The sequential program allocates, copies and calls the system, too.
            Loss::Allocation | Loss::System | Loss::Copying => &mut sum.running,
            Loss::Sharing | Loss::Cache => {
                hardware += ns;
                &mut sum.running
            }
        };
        *field += ns;
    }
    (sum, hardware)
}

impl Grouping for ByFactor {
    const NAME: &'static str = "factors";
    const ABOUT: &'static str =
        "Work, distribution and delay: where the time of the processors went";
    type Options = Options;
    type Report = FactorsReport;

    fn new(options: Options, graph: &Graph) -> Result<(account::Account, Self)> {
        let baseline = match &options.baseline {
            Some(path) => Some(analysis::open(path)?.summary().duration_ns),
            None => None,
        };
        if baseline == Some(0) {
            bail!("the baseline's run took no time; expected the graph of the sequential program");
        }
        let blocking = options.blocking;
        let account = account::Account::new(options.account, graph)?;
        Ok((account, Self { blocking, baseline }))
    }

    fn report(&self, report: &account::Report) -> FactorsReport {
        let (account, hardware) = grouped(report);
        let baseline = self.baseline.map(|ns| ns as f64);
        let work = baseline.unwrap_or(account.running - hardware);
        FactorsReport {
            processors: report.processors,
            duration_ns: report.replayed_ns,
            baseline_ns: self.baseline,
            factors: Factors::of(&account, work, work, self.blocking),
            account,
        }
    }
}

impl Grouping for ByLimit {
    const NAME: &'static str = "stack";
    const ABOUT: &'static str = "Speedup stack: what keeps the run from using all processors";
    type Options = account::Options;
    type Report = StackReport;

    fn new(options: account::Options, graph: &Graph) -> Result<(account::Account, Self)> {
        Ok((account::Account::new(options, graph)?, Self))
    }

    fn report(&self, report: &account::Report) -> StackReport {
        let (sum, hardware) = grouped(report);
        let speedup = |ns: f64| over(ns * f64::from(report.processors), sum.total());
        StackReport {
            processors: report.processors,
            duration_ns: report.replayed_ns,
            serialization: speedup(sum.serialization),
            share_of_work: speedup(sum.unoccupied),
            scheduling: speedup(sum.scheduling),
            cache: speedup(hardware),
            synchronization: speedup(
                sum.spin + sum.lock + sum.barrier + sum.condition + sum.message,
            ),
            measured: speedup(sum.running - hardware),
        }
    }
}

impl Render for FactorsReport {
    fn view(&self) -> View {
        let (factors, distribution) = (&self.factors, &self.factors.distribution);
        let rows = [
            ("work", factors.work),
            ("scheduling", distribution.scheduling),
            ("serialization", distribution.serialization),
            ("load imbalance", distribution.imbalance),
            ("software delay", factors.delay.software),
            ("hardware delay", factors.delay.hardware),
        ];
        let mut view = heading("Work, distribution, delay", self.processors, self.duration_ns);
        if self.baseline_ns.is_none() {
            view = view.line(
                "Hardware delay is what models of caches say. With the graph of the sequential program (--baseline) it is \
                 what the program takes longer.",
            );
        }
        parts(view, "factor", "share of processor time", Unit::Share, self.processors, &rows)
    }
}

impl Render for StackReport {
    fn view(&self) -> View {
        let rows = [
            ("measured", self.measured),
            ("synchronization", self.synchronization),
            ("cache", self.cache),
            ("scheduling", self.scheduling),
            ("shares of work", self.share_of_work),
            ("serialization", self.serialization),
        ];
        let view = heading("Speedup stack", self.processors, self.duration_ns)
            .line(format!("The parts add up to {}. Cache is what models say.", self.processors));
        parts(view, "component", "speedup", Unit::Number, self.processors, &rows)
    }
}

fn heading(title: &str, processors: u32, ns: u64) -> View {
    let processors = plural(processors.into(), "processor");
    View::default().heading(title).line(format!("{processors} for {}.", time(ns)))
}

/// Adds the parts of a whole as a table and as a stack.
fn parts(
    view: View,
    column: &str,
    y: &str,
    unit: Unit,
    processors: u32,
    rows: &[(&str, f64)],
) -> View {
    let title = format!("{y} of the recorded run");
    let columns = Table::of(rows).text(column, column, |row| row.0);
    let table = match unit {
        Unit::Share => columns.share("share", "share", |row| row.1),
        _ => columns.number(y, y, |row| row.1),
    };
    let part = |&(name, value): &(&str, f64)| Part { name: name.to_owned(), values: vec![value] };
    view.table(table.table()).chart(Chart::Stacks {
        title,
        x: "processors".to_owned(),
        y: Axis::new(y, unit),
        names: vec![processors.to_string()],
        parts: rows.iter().map(part).collect(),
    })
}

/// The section of the page, from its account.
#[must_use]
pub fn factors(account: &account::Report) -> FactorsReport {
    ByFactor::default().report(account)
}
