//! `critpath`: the longest chain of dependent work (the span), which functions are on it, how far
//! everything else is from it, and what the span would be if a function took half its time.
//!
//! A task weighs its duration if its context runs in it, and nothing if it waits (as in
//! `parallelism`), so the span is the time that an unlimited machine could not avoid. The time of a
//! task is divided among functions by executed IR instructions.
//!
//! Limits: blocks have no times of their own, so two functions in one task share its time by
//! instructions and not by misses. Recording slows memory-bound code less than other code, and
//! shares shift accordingly. It takes memory for each strand ([`Strands`]) and for each function
//! that ran in it.

mod render;
mod strands;
mod walk;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use taskgraph::{BlockCounts, FunctionId, StaticInfo, TaskKind};

use crate::analysis::source::Place;
use crate::analysis::{Analysis, Graph, Order, Reads, Task};
use crate::summed::Summed;
use crate::view::units::ratio;
use strands::At;
pub use strands::{Strands, weight};
use walk::Path;
pub use walk::{CrossingRow, Stretch};

/// Options of `critpath`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Functions of the critical path to try at half their time
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub halve: u32,
}

/// The analysis: strands and path are computed first, functions task by task.
#[derive(Debug)]
pub struct CritPath {
    options: Options,
    strands: Strands,
    path: Path,
}

/// What spends the time of a strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spender {
    /// The code of a function, or none that was recorded.
    Code(Option<FunctionId>),
    /// Creations, and operations that cannot block.
    Operation(TaskKind),
}

/// Some tasks: the time of each strand by what spends it.
#[derive(Debug, Default)]
pub struct Shard {
    spent: Summed<(At, Spender), u64>,
    /// Where the strand of the last task is ([`Strands::of`]).
    place: usize,
}

/// The critical path, slack, and what the span would be without a part of it.
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
    /// The parts of the path within one context each, in order; of more than 10000 the longest
    /// ones.
    pub stretches: Vec<Stretch>,
    /// Number of such parts.
    pub stretches_total: u64,
    /// What the span would be with one function at half its time.
    pub halved: Vec<Halved>,
}

/// A function, and its part in the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    /// Where the function is.
    #[serde(flatten)]
    pub place: Place,
    /// Its time on the longest path.
    pub critical_ns: u64,
    /// The time on the longest path as a share of the span.
    pub share: f64,
    /// Time of the function in all tasks.
    pub work_ns: u64,
    /// The least slack of a task in which it ran.
    pub min_slack_ns: u64,
}

/// Time on the path in tasks that are not code of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverheadRow {
    /// `create` or `sync`.
    pub kind: &'static str,
    pub ns: u64,
    /// Share of the span.
    pub share: f64,
}

/// The program with one function at half its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Halved {
    /// The function.
    pub function: String,
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
        "Critical path by function and cause, slack, and what half a function's time would bring";
    const ORDER: Order = Order::Any;
    const READS: Reads = Reads::Counts;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, _: &Graph) -> Result<Self> {
        Ok(Self { options, strands: Strands::default(), path: Path::default() })
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.strands = Strands::new(graph)?;
        self.path = Path::of(graph, &self.strands)?;
        Ok(())
    }

    fn shard(&self) -> Shard {
        Shard::default()
    }

    fn done(&self, shard: &mut Shard, task: &Task<'_>, counts: &BlockCounts) -> Result<()> {
        let ns = weight(task);
        if ns == 0 {
            return Ok(());
        }
        let Some(at) = self.strands.of(task.id(), &mut shard.place) else {
            return Ok(());
        };
        let mut spend = |spender, ns| shard.spent.add((at, spender), ns);
        if task.kind() != TaskKind::Work {
            spend(Spender::Operation(task.kind()), ns);
            return Ok(());
        }
        let info = task.graph().info();
        divide(info, counts, ns, |function, part| spend(Spender::Code(function), part));
        Ok(())
    }

    fn seal(&self, shard: &mut Shard) {
        shard.spent.settle();
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let all: Vec<_> = shards.into_iter().map(|shard| shard.spent.0).collect();
        let mut spent = Summed(all.concat());
        spent.settle();
        Ok(self.report(graph, &spent.0))
    }
}

/// Divides the time of a task among the functions of the blocks that it executed: each execution of
/// a block counts its static number of IR instructions. The parts add up to `ns` exactly. If no code
/// of the task was recorded, `None` gets all of it.
fn divide(
    info: &StaticInfo,
    executed: &BlockCounts,
    ns: u64,
    mut part: impl FnMut(Option<FunctionId>, u64),
) {
    let mut functions = Summed::default();
    for (block, times) in executed.iter() {
        if let Some(block) = info.block(block).filter(|b| info.function(b.function).is_some()) {
            functions.add(block.function, u64::from(block.ir_ops.max(1)) * times);
        }
    }
    functions.settle();
    let total: u128 = functions.0.iter().map(|&(_, count)| u128::from(count)).sum();
    if total == 0 {
        return part(None, ns);
    }
    let (mut passed, mut given) = (0u128, 0u64);
    for (function, count) in functions.0 {
        passed += u128::from(count);
        // Most tasks stay in one function.
        let until = match passed == total {
            true => ns,
            false => u64::try_from(u128::from(ns) * passed / total).unwrap_or(ns),
        };
        part(Some(function), until - given);
        given = until;
    }
}

/// The sums of a function.
#[derive(Debug, Default)]
struct Sums {
    work_ns: u64,
    critical_ns: u64,
    min_slack_ns: u64,
    /// Its time in each strand.
    strands: Vec<(At, u64)>,
}

impl CritPath {
    fn report(self, graph: &Graph, spent: &[((At, Spender), u64)]) -> Report {
        let (span_ns, work_ns) = (self.strands.span_ns(), self.strands.work_ns());
        let mut functions: BTreeMap<Option<FunctionId>, Sums> = BTreeMap::new();
        let mut overhead = [0_u64; TaskKind::ALL.len()];
        for &((at, spender), ns) in spent {
            let critical_ns = if self.path.has[at as usize] { ns } else { 0 };
            match spender {
                Spender::Operation(kind) => overhead[kind as usize] += critical_ns,
                Spender::Code(function) => {
                    let none = Sums { min_slack_ns: u64::MAX, ..Sums::default() };
                    let sums = functions.entry(function).or_insert(none);
                    sums.work_ns += ns;
                    sums.critical_ns += critical_ns;
                    let slack = self.strands.slack_of(at, span_ns);
                    sums.min_slack_ns = sums.min_slack_ns.min(slack);
                    sums.strands.push((at, ns));
                }
            }
        }
        for &(kind, ns) in &self.path.left {
            overhead[kind as usize] -= ns;
        }
        let halved = self.halved(graph.info(), &functions);
        let Path { mut stretches, mut crossings, .. } = self.path;
        crossings.sort_by_key(|row| (Reverse(row.count), row.cause));
        let tasks = stretches.iter().map(|stretch| stretch.tasks).sum();
        let stretches_total = stretches.len() as u64;
        if stretches.len() > MOST_STRETCHES {
            let mut lengths: Vec<u64> = stretches.iter().map(|stretch| stretch.ns).collect();
            let (_, &mut least, _) =
                lengths.select_nth_unstable_by_key(MOST_STRETCHES, |&ns| Reverse(ns));
            stretches.retain(|stretch| stretch.ns > least);
        }
        Report {
            span_ns,
            work_ns,
            parallelism: ratio(work_ns, span_ns),
            duration_ns: graph.summary().duration_ns,
            tasks,
            functions: rows(graph.info(), &functions, span_ns),
            overhead: overheads(overhead, span_ns),
            crossings,
            stretches,
            stretches_total,
            halved,
        }
    }

    /// The functions with most time on the path, each at half its time.
    fn halved(
        &self,
        info: &StaticInfo,
        functions: &BTreeMap<Option<FunctionId>, Sums>,
    ) -> Vec<Halved> {
        let known = functions.iter();
        let known = known.filter_map(|(id, sums)| Some(((*id)?, sums)));
        let mut known: Vec<_> = known.filter(|(_, sums)| sums.critical_ns > 0).collect();
        known.sort_by_key(|&(id, sums)| (Reverse(sums.critical_ns), id));
        known.truncate(self.options.halve as usize);
        let span_ns = self.strands.span_ns();
        let halved = known.into_iter().map(|(id, sums)| {
            let mut weights = self.strands.weights();
            for &(at, ns) in &sums.strands {
                weights[at as usize] -= ns / 2;
            }
            let then = self.strands.finish(&weights).into_iter().max();
            let then = then.unwrap_or(0);
            Halved {
                function: Place::of_function(info, id).function,
                work_ns: weights.into_iter().fold(0, u64::saturating_add),
                span_ns: then,
                speedup: ratio(span_ns, then),
            }
        });
        let mut halved: Vec<Halved> = halved.collect();
        halved.sort_by_key(|row| row.span_ns);
        halved
    }
}

fn rows(
    info: &StaticInfo,
    functions: &BTreeMap<Option<FunctionId>, Sums>,
    span_ns: u64,
) -> Vec<FunctionRow> {
    let unknown = || Place { function: "(no code recorded)".to_owned(), ..Place::default() };
    let row = |(id, sums): (&Option<FunctionId>, &Sums)| FunctionRow {
        place: id.map_or_else(unknown, |id| Place::of_function(info, id)),
        critical_ns: sums.critical_ns,
        share: ratio(sums.critical_ns, span_ns),
        work_ns: sums.work_ns,
        min_slack_ns: sums.min_slack_ns,
    };
    let mut rows: Vec<_> = functions.iter().map(row).collect();
    rows.sort_by(|a, b| {
        (b.critical_ns, b.work_ns, &a.place).cmp(&(a.critical_ns, a.work_ns, &b.place))
    });
    rows
}

fn overheads(overhead: [u64; TaskKind::ALL.len()], span_ns: u64) -> Vec<OverheadRow> {
    let row = |(kind, ns): (&TaskKind, u64)| OverheadRow {
        kind: kind.name(),
        ns,
        share: ratio(ns, span_ns),
    };
    let rows = TaskKind::ALL.iter().zip(overhead).map(row);
    let mut rows: Vec<_> = rows.filter(|row| row.ns > 0).collect();
    rows.sort_by_key(|row| Reverse(row.ns));
    rows
}
