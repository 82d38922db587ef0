//! `workspan`: work and span by call site, which call site holds the parallelism back, and what
//! would change it (Schardl et al., "The Cilkprof Scalability Profiler", 2015), for any recorded
//! program.
//!
//! The *work* of an invocation is what it executes, and what the contexts execute that were created
//! and joined below it. Its *span* is the longest path of dependences from its first to its last
//! instruction along these: its own instructions, creation, join, and barriers and other
//! synchronisation among the contexts it created. The *program's* span is the longest path of the
//! whole graph along all edges. An invocation is *on the span* if its first instruction is on that
//! path, and the local spans on the span of all call sites add up to it. Lock edges are dependences
//! like the others (the order that this run had), unless `--locks free` says that mutual exclusion
//! orders nothing (as in Cilkview, which does not see locks). Waiting weighs nothing. A context
//! that nobody joins counts for the program, and not for the invocation that created it.
//!
//! Call stacks are rebuilt from blocks. A function's entry block after a block that ends in a call
//! is an invocation of that call site. A created context's first function is an invocation of the
//! call that ends the block before the Create. After an exception or a longjmp through a recursion,
//! the innermost invocation of the function that goes on is taken.
//!
//! A serial execution of a program written with `contech/cilk.h` also records its parallelism: the
//! header marks spawns and syncs, and the paper's algorithm (Figure 3) is followed within the
//! context.
//!
//! The analysis takes one pass in breadth-first order. Its memory is that of the contexts that are
//! not joined yet and of the edges whose end is still to come, each with a profile of at most as
//! many entries as there are calling contexts.

mod change;
mod context;
mod machine;
mod metric;
pub mod online;
mod past;
mod paths;
mod render;
mod rows;
mod steps;
mod tree;

use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use taskgraph::{BlockCounts, Piece, StaticInfo};

use crate::analysis::{Analysis, Divided, Graph, Moment, Order, Reads, Task};
use crate::scaling::Measured;
use crate::view::units::ratio;
use machine::Machine;
use metric::BlockFacts;
use steps::{Step, Steps};

pub use change::{Change, Effect, Selector, parallel, scale};
pub use metric::Metric;
pub use rows::{Bound, FlameNode, SiteRow};
pub use tree::{Node, SiteKey, Tree};

/// How lock edges count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Locks {
    /// As dependences, in the order this run had.
    #[default]
    Order,
    /// Not at all: mutual exclusion orders nobody.
    Free,
}

/// Options of `workspan`.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// What work and span are measured in
    #[arg(long, value_enum, default_value_t)]
    pub metric: Metric,
    /// How lock edges count
    #[arg(long, value_enum, default_value_t)]
    pub locks: Locks,
    /// Cost of moving a task to another processor, in units of the metric [default: 15000
    /// operations, 5000 otherwise]
    #[arg(long, value_name = "N")]
    pub burden: Option<u64>,
    /// Processors to bound the speedup for
    #[arg(long, value_name = "P", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub p_max: u32,
    /// What if everything below SITE (a function, or FILE:LINE of its call) took FACTOR times as
    /// long: partition=0.5
    #[arg(long, value_name = "SITE=FACTOR", value_parser = change::scale)]
    pub scale: Vec<Change>,
    /// What if the own code of SITE's function ran in parallel in pieces of GRAIN:
    /// process_node=1000
    #[arg(long, value_name = "SITE=GRAIN", value_parser = change::parallel)]
    pub parallel: Vec<Change>,
    /// Speedups measured by `contech scale --format json`, to set beside the bounds
    #[arg(long, value_name = "FILE", value_parser = Measured::argument())]
    pub measured: Option<Measured>,
    /// All calling contexts, however many there are.
    #[arg(skip)]
    pub whole: bool,
}

/// The analysis.
#[derive(Debug)]
pub struct WorkSpan {
    options: Options,
    info: Arc<StaticInfo>,
    /// Whether other workers have tasks, too, and the rest is done when all have done theirs.
    shared: bool,
}

/// Work and span, of the whole program and by call site.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What they are measured in.
    pub metric: Metric,
    /// How lock edges count.
    pub locks: Locks,
    /// Work of everything that was executed.
    pub work: u64,
    /// Length of the longest path.
    pub span: u64,
    /// Work over span.
    pub parallelism: f64,
    /// The assumed cost of moving a task to another processor.
    pub burden: u64,
    /// The longest path with that cost at every creation and join.
    pub burdened_span: u64,
    /// Work over burdened span.
    pub burdened_parallelism: f64,
    /// Call sites; those with the longest local span on the span come first.
    pub sites: Vec<SiteRow>,
    /// Bounds of the speedup by number of processors.
    pub bounds: Vec<Bound>,
    /// Measured speedups, if they were given; there are also bounds for their numbers of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Calling contexts, parents first.
    pub flame: Vec<FlameNode>,
    /// The result with all requested changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// What limits the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The result for a changed program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The change in words.
    pub change: String,
    /// Work of the changed program.
    pub work: u64,
    /// Span of the changed program.
    pub span: u64,
    /// Parallelism of the changed program.
    pub parallelism: f64,
}

impl Options {
    fn burden(&self) -> u64 {
        self.burden.unwrap_or(self.metric.burden())
    }

    fn changes(&self) -> Vec<Change> {
        self.scale.iter().chain(&self.parallel).cloned().collect()
    }
}

impl Analysis for WorkSpan {
    const NAME: &'static str = "workspan";
    const ABOUT: &'static str =
        "Work, span and parallelism of every call site, and which one is the bottleneck";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    type Config = Options;
    type Shard = Walks;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        if graph.summary().blocks == 0 && options.metric != Metric::Time {
            bail!(
                "the graph has no blocks (recorded in sync mode), so operations and accesses are not known; --metric time works"
            );
        }
        if let Some(change) =
            options.changes().iter().find(|change| !change.selector.exists(graph.info()))
        {
            bail!(
                "{}: the program has no such function, and no such line with code; contech-backend workspan without it lists the call sites",
                change.text
            );
        }
        Ok(Self { options, info: Arc::new(graph.info().clone()), shared: false })
    }

    fn shard(&self) -> Walks {
        let options = &self.options;
        let changes = options.changes();
        let facts = BlockFacts::of(&self.info, options.metric).into();
        let machine = |changes| Machine::new(&self.info, &facts, options, changes);
        let mut machines = vec![machine(Vec::new())];
        if !changes.is_empty() {
            machines.push(machine(changes));
        }
        Walks {
            steps: Steps::new(Arc::clone(&facts), options.metric, machines.len() > 1),
            found: self.shared.then(Vec::new),
            machines,
        }
    }

    fn task(&self, walks: &mut Walks, task: &Task<'_>) -> Result<()> {
        walks.steps.begin(task)
    }

    fn piece(&self, walks: &mut Walks, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        walks.steps.piece(piece);
        Ok(())
    }

    fn done(&self, walks: &mut Walks, task: &Task<'_>, _: &BlockCounts) -> Result<()> {
        let steps = walks.steps.end(task);
        match &mut walks.found {
            Some(found) => found.push(steps.to_vec()),
            None => {
                let mut machines = walks.machines.iter_mut();
                machines.try_for_each(|machine| machine.task(task, steps))?;
            }
        }
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Walks>) -> Result<Report> {
        let walks = shards.into_iter().next();
        let mut walks = walks.unwrap_or_else(|| self.shard());
        let options = &self.options;
        let mut report = rows::report(graph, &mut walks.machines[0], options);
        if let Some(changed) = walks.machines.get(1) {
            let words: Vec<String> = options.changes().iter().map(Change::in_words).collect();
            report.what_if = Some(WhatIf {
                change: words.join(", "),
                work: changed.work,
                span: changed.span,
                parallelism: ratio(changed.work, changed.span),
            });
        }
        Ok(report)
    }
}

/// The steps of tasks are computed by whoever has the task, and taken in the order of tasks by one
/// process.
impl Divided for WorkSpan {
    type Found = Found;

    fn only(&mut self) -> Result<()> {
        self.shared = true;
        Ok(())
    }

    fn found(&self, shards: Vec<Walks>) -> Found {
        let found = shards.into_iter().filter_map(|walks| walks.found);
        Found(found.flatten().collect())
    }

    fn join(self, graph: &Graph, parts: Vec<Found>) -> Result<Report> {
        let mut walks = self.shard();
        let mut steps = parts.into_iter().flat_map(|part| part.0);
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            let steps = steps.next().context("the shares have too few tasks")?;
            let mut machines = walks.machines.iter_mut();
            machines.try_for_each(|machine| machine.task(task, &steps))?;
        }
        ensure!(steps.next().is_none(), "the shares have too many tasks");
        self.finish(graph, vec![walks])
    }
}

/// The steps of each task of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found(Vec<Vec<Step>>);

/// What a task executes, and the walk over the program as it was recorded, and that over the
/// changed program, if there are changes.
#[derive(Debug)]
pub struct Walks {
    steps: Steps,
    found: Option<Vec<Vec<Step>>>,
    machines: Vec<Machine>,
}
