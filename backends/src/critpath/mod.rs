//! `critpath`: the longest chain of dependent work (the span), which functions are on it, how far everything else is
//! from it, and what the span would be if something took less time.
//!
//! A task weighs its duration if its context runs in it, and nothing if it waits (as in `parallelism`), so the span
//! is the time that an unlimited machine could not avoid. The time of a task is divided among functions by executed
//! IR instructions. The *observed* chain is a second answer: what held up this run, including waiting and delays
//! (critical-path method: Kelley and Walker, 1959; for parallel programs: Yang and Miller, "Critical path analysis
//! for the execution of parallel and distributed programs", 1988).
//!
//! Limits: blocks have no times of their own, so two functions in one task share its time by instructions and not by
//! misses. Recording slows memory-bound code less than other code, and shares shift accordingly. It takes memory for
//! each *link* ([`Table`]), and 24 bytes for each step of the observed chain that is cut short.

mod apportion;
mod near;
mod observed;
mod render;
mod rows;
mod scenario;
mod table;
mod walk;

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockCounts, ContextId, FunctionId, TaskId, TaskKind};

use crate::analysis::{Analysis, Graph, Order, Reads, Task};
use crate::view::units::ratio;

pub use apportion::Apportion;
pub use near::Detour;
pub use observed::Chain;
use rows::Totals;
pub use rows::{Band, CrossingRow, FunctionRow, Observed, OverheadRow, Part};
pub use scenario::{Outcome, Scale, Scenario, address, outcomes};
use table::Link;
pub use table::{Table, weight};
pub use walk::{Crossing, Path, Stretch};

/// Options of `critpath`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// What if FUNCTION took FACTOR times as long: compute=0.5; may be repeated, all hold at once
    #[arg(long, value_name = "FUNCTION=FACTOR")]
    pub scale: Vec<Scale>,
    /// What if work under the lock at ADDRESS took FACTOR times as long: 0xfeed=0
    #[arg(long, value_name = "ADDRESS=FACTOR")]
    pub scale_lock: Vec<Scale>,
    /// What if the lock at ADDRESS ordered nobody
    #[arg(long, value_name = "ADDRESS", value_parser = scenario::address)]
    pub drop_lock: Vec<u64>,
    /// Near-critical paths to find, at most 63
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=63))]
    pub near: u32,
    /// Functions of the critical path to try at half their time, at most 15
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=15))]
    pub halve: u32,
}

/// The analysis: schedule and paths are computed first, functions task by task.
#[derive(Debug)]
pub struct CritPath {
    options: Options,
    scenario: Scenario,
    apportion: Apportion,
    schedule: Schedule,
}

/// The schedule of all tasks and the paths in it.
#[derive(Debug, Default)]
struct Schedule {
    table: Table,
    path: Path,
    chain: Chain,
    /// For Work tasks that are on the observed chain only in part: their time on it.
    cut_short: FxHashMap<TaskId, u64>,
    detours: Vec<Detour>,
}

/// The sums of one context.
#[derive(Debug)]
pub struct Shard {
    apportion: Apportion,
    totals: Totals,
    /// The link of the last task, and its mark.
    near: Option<(Link, u8)>,
}

/// Critical path, slack and what-if.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Length of the longest path.
    pub span_ns: u64,
    /// Work of all tasks.
    pub work_ns: u64,
    /// Work over span: how many tasks an unlimited machine could run at once, on average.
    pub parallelism: f64,
    /// Length of the run.
    pub duration_ns: u64,
    /// Tasks on the longest path.
    pub tasks: u64,
    /// Functions by their time on the longest path, the longest first.
    pub functions: Vec<FunctionRow>,
    /// Time on the path outside of the program's code.
    pub overhead: Vec<OverheadRow>,
    /// Why the path changes from one context to another.
    pub crossings: Vec<CrossingRow>,
    /// The parts of the path within one context each, in order; the first 10000 of them.
    pub stretches: Vec<Stretch>,
    /// Number of such parts.
    pub stretches_total: u64,
    /// The chain that decided the length of this run.
    pub observed: Observed,
    /// Work by slack.
    pub slack: Vec<Band>,
    /// The longest detours from the path, without common tasks.
    pub near: Vec<Detour>,
    /// What the span would be with one function at half its time.
    pub halved: Vec<WhatIf>,
    /// What the span would be with all changes from the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
}

/// A scenario and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The change in words.
    pub change: String,
    /// Work with the change.
    pub work_ns: u64,
    /// Span with the change.
    pub span_ns: u64,
    /// Present span over the span with the change.
    pub speedup: f64,
}

/// The most parts of the path that are listed.
const MOST_STRETCHES: usize = 10_000;

impl Analysis for CritPath {
    const NAME: &'static str = "critpath";
    const ABOUT: &'static str =
        "Critical path by function and cause, slack, near-critical paths, what-if";
    const ORDER: Order = Order::Any;
    const READS: Reads = Reads::Counts;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let scenario = Scenario::new(
            graph.info(),
            &options.scale,
            &options.scale_lock,
            &options.drop_lock,
        )?;
        scenario.check_locks(graph)?;
        if graph.summary().blocks == 0 && scenario.functions() > 0 {
            bail!(
                "--scale: the graph has no blocks (recorded in sync mode), so the time of functions is not known"
            );
        }
        Ok(Self {
            options,
            scenario,
            apportion: Apportion::new(graph.info()),
            schedule: Schedule::default(),
        })
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.schedule = Schedule::of(graph, self.options.near)?;
        Ok(())
    }

    fn shard(&self, _: Option<ContextId>) -> Shard {
        Shard {
            apportion: self.apportion.clone(),
            totals: Totals::default(),
            near: None,
        }
    }

    fn done(&self, shard: &mut Shard, task: &Task<'_>, counts: &BlockCounts) -> Result<()> {
        let ns = weight(task);
        if ns == 0 {
            return Ok(());
        }
        let id = task.id();
        let table = &self.schedule.table;
        if !shard.near.as_ref().is_some_and(|near| near.0.contains(id)) {
            let found = table.of(id).map(|at| (*table.link(at), table.mark(at)));
            shard.near = found;
        }
        let (slack, mark) = match &shard.near {
            Some((link, mark)) => (table.slack_of(link), *mark),
            None => (table.span_ns(), 0),
        };
        let critical = mark & table::CRITICAL != 0;
        shard.totals.task(ns, slack, table.span_ns());
        if task.kind() != TaskKind::Work {
            if critical {
                shard.totals.overhead(task.kind(), ns);
            }
            return Ok(());
        }
        shard.apportion.count(counts);
        let observed = mark & table::OBSERVED != 0;
        let detour = Some(mark >> table::DETOUR_SHIFT).filter(|&detour| detour != 0);
        let Shard {
            apportion, totals, ..
        } = shard;
        apportion.divide(ns, |function, part| {
            totals.part(function, part, slack, critical, detour);
        });
        if observed {
            let ns = self.schedule.cut_short.get(&id).copied().unwrap_or(ns);
            apportion.divide(ns, |function, part| totals.observed(function, part));
        }
        Ok(())
    }

    fn seal(&self, shard: &mut Shard) {
        shard.apportion.clear();
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
        self.report(graph, &merged(shards.into_iter().map(|shard| shard.totals)))
    }
}

fn merged(parts: impl Iterator<Item = Totals>) -> Totals {
    let mut all = Totals::default();
    parts.for_each(|part| all.merge(part));
    all
}

impl CritPath {
    fn report(self, graph: &Graph, merged: &Totals) -> Result<Report> {
        let span_ns = self.schedule.table.span_ns();
        let what_if = |change: String, outcome: &Outcome| WhatIf {
            change,
            work_ns: outcome.work_ns,
            span_ns: outcome.span_ns,
            speedup: ratio(span_ns, outcome.span_ns),
        };
        let top = merged.most_critical(self.options.halve as usize);
        let mut scenarios: Vec<Scenario> =
            top.iter().map(|&id| Scenario::function(id, 0.5)).collect();
        let asked = !self.scenario.is_empty();
        if asked {
            scenarios.push(self.scenario.clone());
        }
        let outcomes = if scenarios.is_empty() {
            Vec::new()
        } else {
            outcomes(graph, &scenarios)?
        };
        let name = |id: &FunctionId| {
            graph
                .info()
                .function(*id)
                .map_or_else(String::new, |function| function.name.clone())
        };
        let halved = top
            .iter()
            .zip(&outcomes)
            .map(|(id, outcome)| what_if(format!("{} takes half its time", name(id)), outcome));
        let mut halved: Vec<WhatIf> = halved.collect();
        halved.sort_by_key(|row| row.span_ns);
        let asked = outcomes
            .get(top.len())
            .map(|outcome| what_if(self.options.in_words(), outcome));
        let mut near = self.schedule.detours;
        merged.name_detours(graph.info(), &mut near);
        let stretches_total = self.schedule.path.stretches.len() as u64;
        let mut stretches = self.schedule.path.stretches;
        stretches.truncate(MOST_STRETCHES);
        Ok(Report {
            span_ns,
            work_ns: self.schedule.table.work_ns(),
            parallelism: ratio(self.schedule.table.work_ns(), span_ns),
            duration_ns: graph.summary().duration_ns,
            tasks: self.schedule.path.tasks,
            functions: merged.functions(graph.info(), span_ns, self.schedule.chain.end_ns),
            overhead: merged.overheads(span_ns),
            crossings: rows::crossings(&self.schedule.path.crossings),
            stretches,
            stretches_total,
            observed: Observed::new(&self.schedule.chain),
            slack: merged.bands(self.schedule.table.work_ns()),
            near,
            halved,
            what_if: asked,
        })
    }
}

impl Schedule {
    /// The schedule of a graph, with up to `near` detours.
    fn of(graph: &Graph, near: u32) -> Result<Self> {
        let mut table = Table::new(graph)?;
        let path = walk::walk(graph, &mut table)?;
        let detours = near::detours(graph, &mut table, near)?;
        let ends = table.context_ends();
        let last = observed::last_to_end(graph, ends.map(|(at, _)| table.link(at).last()))?;
        let mut cut_short = FxHashMap::default();
        let mut on_chain: Option<Link> = None;
        let chain = observed::walk(graph, last, |task, ns| {
            if !on_chain.is_some_and(|link| link.contains(task.id()))
                && let Some(at) = table.of(task.id())
            {
                table.set_mark(at, table::OBSERVED);
                on_chain = Some(*table.link(at));
            }
            if weight(task) != ns {
                cut_short.insert(task.id(), ns);
            }
        })?;
        Ok(Self {
            table,
            path,
            chain,
            cut_short,
            detours,
        })
    }
}

impl Options {
    fn in_words(&self) -> String {
        let functions = self
            .scale
            .iter()
            .map(|scale| format!("{} takes {} of its time", scale.name, scale.factor));
        let locks = self.scale_lock.iter().map(|scale| {
            format!(
                "work under lock {} takes {} of its time",
                scale.name, scale.factor
            )
        });
        let dropped = self
            .drop_lock
            .iter()
            .map(|lock| format!("lock {lock:#x} orders nobody"));
        functions
            .chain(locks)
            .chain(dropped)
            .collect::<Vec<_>>()
            .join(", ")
    }
}
