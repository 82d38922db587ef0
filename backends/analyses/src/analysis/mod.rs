//! The framework: what an analysis is, and the driver that feeds it a graph.
//!
//! A new analysis is one file with one `impl Analysis` and one line in `cli::registry` of
//! `contech-backends`:
//!
//! ```
//! use anyhow::Result;
//! use contech_analyses::analysis::{Analysis, Graph, Order, Task};
//! use contech_show::view::{Render, View};
//!
//! #[derive(clap::Args)]
//! struct Options {}
//!
//! struct Longest;
//!
//! #[derive(serde::Serialize)]
//! struct Report { longest_ns: u64 }
//!
//! impl Analysis for Longest {
//!     const NAME: &'static str = "longest";
//!     const ABOUT: &'static str = "Duration of the longest task";
//!     const ORDER: Order = Order::PerContext;
//!     type Config = Options;
//!     type Shard = u64;
//!     type Report = Report;
//!
//!     fn new(_: Options, _: &Graph) -> Result<Self> { Ok(Self) }
//!     fn shard(&self) -> u64 { 0 }
//!     fn task(&self, longest: &mut u64, task: &Task<'_>) -> Result<()> {
//!         *longest = (*longest).max(task.duration_ns());
//!         Ok(())
//!     }
//!     fn finish(self, _: &Graph, shards: Vec<u64>) -> Result<Report> {
//!         Ok(Report { longest_ns: shards.into_iter().max().unwrap_or(0) })
//!     }
//! }
//!
//! impl Render for Report {
//!     fn view(&self) -> View { View::default().line(format!("longest task: {} ns", self.longest_ns)) }
//! }
//! ```

mod blocked;
mod by_time;
pub(crate) mod calls;
mod changes;
mod config;
mod divided;
mod driver;
mod executors;
mod graph;
pub mod locks;
mod moment;
mod pieces;
mod reading;
mod segments;
mod share;
pub mod source;
mod state;
mod strides;
mod visitor;
mod windows;

use anyhow::Result;
use taskgraph::{BlockCounts, Piece};

pub use blocked::LongCall;
pub(crate) use blocked::{LEAST_NS, calls_others, is_operation, long_call, turns};
pub(crate) use changes::begin_of;
pub use changes::{Change, end_of, sweep};
pub use config::default_config;
pub use divided::{Divided, run_share};
pub use driver::{Part, run, run_all};
pub(crate) use graph::full_recording;
pub use graph::{DEFAULT_GRAPH, Graph, Task, accesses_of, open, something_to_analyse, warnings};
pub use moment::Moment;
pub(crate) use reading::count_spans;
pub use segments::{Segment, Segments};
pub(crate) use segments::{TURN_BLOCKS, gap_cause, has_failed, state_in, state_of};
pub use share::Share;
pub use state::{CAUSES, Cause, State, block_before};
pub(crate) use state::{by_name, cause_of};
pub use strides::always_accesses;
pub(crate) use strides::{Accesses, Moving, Strides, lines, lines_of};
pub use visitor::Visitor;
pub use windows::Windows;

/// The order in which an analysis sees tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It sees none: the answer is in the tables of the graph or in the changes of its contexts,
    /// and no shard is made.
    Tables,
    /// As they come, in one shard or several.
    Any,
    /// Each context's tasks in program order; one shard per context.
    PerContext,
    /// Each executor's tasks in the order in which it executed them; one shard per executor.
    PerExecutor,
    /// Breadth-first, predecessors first, in one shard.
    Topological,
    /// Not task by task: what all executors do, in the order of time ([`Analysis::piece`]), in one
    /// shard. What one executor does comes in the order in which it did so, whichever contexts it
    /// executes.
    ByTime {
        /// An executor keeps its turn for so long after another one would be due.
        slice_ns: u64,
    },
    /// As [`Order::ByTime`] without slices, but what contexts execute and access within each
    /// stretch of the run comes in any order. That is much faster if they run at the same time.
    Stretches {
        /// The length of a stretch; the first one begins at 0.
        ns: u64,
    },
}

/// What an analysis reads of tasks; the less, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Kinds, times, edges, totals.
    Tasks,
    /// How often each block is executed, too ([`Analysis::done`]).
    Counts,
    /// What is executed, in order ([`Analysis::piece`]). Accesses come if another analysis reads
    /// them.
    Executions,
    /// What is executed and accessed, in order.
    Pieces,
}

impl Reads {
    /// Whether it is asked for what is executed, in order.
    pub(crate) fn in_order(self) -> bool {
        matches!(self, Self::Executions | Self::Pieces)
    }
}

/// A question asked of a task graph.
///
/// The driver calls `new` and `prepare`, then `shard`, `task` / `piece`... / `done` for each task, and
/// `seal` for each shard, then `finish`. Others take part in the same pass ([`run_all`]). Shards are never shared between threads, so an
/// analysis needs no locks; `self` is shared and read-only meanwhile.
pub trait Analysis: Sized + Send + Sync {
    /// The word on the command line.
    const NAME: &'static str;
    /// One line for `--list` and `--help`.
    const ABOUT: &'static str;
    /// The order of tasks, unless the configuration decides ([`Analysis::order`]).
    const ORDER: Order;
    /// What it reads of tasks.
    const READS: Reads = Reads::Tasks;
    /// Whether synchronisation that is no task comes among the pieces (`Action::Sync`). It cuts
    /// executions into many pieces. It also comes if it is wanted by another analysis of the pass,
    /// or if actions are counted to know their time.
    const SYNCHRONISATION: bool = false;
    /// Whether nests of loops whose blocks access memory come as one piece; otherwise they come as
    /// runs.
    const NESTS: bool = false;
    /// Whether it says nothing of a graph without blocks and accesses: its command then refuses
    /// such a graph.
    const NEEDS_ACCESSES: bool = false;
    /// Options, as a `clap::Args` for the command line.
    type Config;
    /// Private state of one shard.
    type Shard: Send;
    /// The result: plain data.
    type Report;

    /// Begins the analysis; may read tables or make a pass of its own over the graph.
    ///
    /// # Errors
    /// When the options make no sense, or the graph cannot be read.
    fn new(config: Self::Config, graph: &Graph) -> Result<Self>;

    /// Prepares for the tasks, beside other analyses. The place to follow what contexts do over
    /// time ([`sweep`]).
    ///
    /// # Errors
    /// When the graph cannot be read, or there is nothing to say of it.
    fn prepare(&mut self, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// The order this configuration needs.
    fn order(&self) -> Order {
        Self::ORDER
    }

    /// The part of what is executed that comes as pieces; `None` for all of it. Other actions
    /// always come. The result must say so.
    fn windows(&self) -> Option<Windows> {
        None
    }

    /// Empty state, for one context, for one executor, or for all.
    fn shard(&self) -> Self::Shard;

    /// A task begins.
    ///
    /// # Errors
    /// When the task cannot be read.
    fn task(&self, _shard: &mut Self::Shard, _task: &Task<'_>) -> Result<()> {
        Ok(())
    }

    /// A part of what the task does ([`Reads::Pieces`]), the first action of it at a moment.
    ///
    /// # Errors
    /// What makes going on useless.
    fn piece(&self, _shard: &mut Self::Shard, _at: &Moment, _piece: &Piece<'_>) -> Result<()> {
        Ok(())
    }

    /// The context at this position executed what is in no window ([`Analysis::windows`]): what it
    /// calls may be seen.
    fn passed(&self, _shard: &mut Self::Shard, _context: u32, _piece: &Piece<'_>) {}

    /// The executor has no more actions, in a pass by time. The place to drop what is known of it.
    fn ended(&self, _shard: &mut Self::Shard, _executor: u32) {}

    /// Whether the blocks of a task are counted for [`Reads::Counts`]. An analysis may count parts
    /// of it by itself.
    fn counts(&self, _task: &Task<'_>) -> bool {
        true
    }

    /// The task is over; its blocks are counted for [`Reads::Counts`] only.
    ///
    /// # Errors
    /// When the task cannot be read.
    fn done(
        &self,
        _shard: &mut Self::Shard,
        _task: &Task<'_>,
        _counts: &BlockCounts,
    ) -> Result<()> {
        Ok(())
    }

    /// Called after the last task of a shard: the place to drop what `finish` does not need.
    fn seal(&self, _shard: &mut Self::Shard) {}

    /// Adds to the result what other analyses know, for the command of this one alone: the report
    /// has theirs.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn complete(_report: &mut Self::Report, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// Puts the shards together.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn finish(self, graph: &Graph, shards: Vec<Self::Shard>) -> Result<Self::Report>;
}
