//! `stats`: how much of everything a graph holds.

use anyhow::Result;
use serde::Serialize;
use taskgraph::{ContextId, TaskCounts};

use crate::analysis::{Analysis, Graph, Order, Task};
use crate::view::{Cell, Render, Table, View};

/// Options of `stats`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {}

/// Counts of a whole graph.
#[derive(Clone, Copy, Debug)]
pub struct Stats;

/// The counts, named as in the summary of `contech-middle`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Contexts.
    pub contexts: u64,
    /// Tasks by kind.
    pub tasks: TaskCounts,
    /// Edges between tasks, program order not counted.
    pub edges: u64,
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Reads and writes.
    pub accesses: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes_accessed: u64,
    /// Length of the run in nanoseconds.
    pub duration_ns: u64,
    /// Functions in the static tables.
    pub functions: u64,
    /// Size of the trace the graph was made from.
    pub trace_bytes: u64,
    /// Size of the graph file.
    pub graph_bytes: u64,
    /// Whether the trace was whole.
    pub complete: bool,
    /// Which blocks and accesses are missing because the user or a limit wanted so; `null` if none are.
    pub unrecorded: Option<taskgraph::Unrecorded>,
    /// Bytes of the trace that could not be used.
    pub lost_bytes: u64,
    /// What the recording and the conversion had to say.
    pub notes: Vec<taskgraph::Note>,
}

impl Analysis for Stats {
    const NAME: &'static str = "stats";
    const ABOUT: &'static str = "Counts: contexts, tasks, edges, blocks, accesses, bytes, duration";
    const ORDER: Order = Order::Tables;
    type Config = Options;
    type Shard = ();
    type Report = Report;

    fn new(_: Options, _: &Graph) -> Result<Self> {
        Ok(Self)
    }

    fn shard(&self, _: Option<ContextId>) {}

    fn task(&self, (): &mut (), _: &Task<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(self, graph: &Graph, _: Vec<()>) -> Result<Report> {
        let (summary, meta) = (graph.summary(), graph.meta());
        Ok(Report {
            contexts: summary.contexts,
            tasks: summary.tasks,
            edges: summary.edges,
            blocks: summary.blocks,
            accesses: summary.accesses,
            reads: summary.reads,
            writes: summary.writes,
            bytes_accessed: summary.bytes_accessed,
            duration_ns: summary.duration_ns,
            functions: summary.functions,
            trace_bytes: meta.trace_bytes,
            graph_bytes: graph.bytes().len() as u64,
            complete: meta.complete,
            unrecorded: meta.unrecorded,
            lost_bytes: meta.lost_bytes,
            notes: meta.notes.clone(),
        })
    }
}

impl Render for Report {
    fn view(&self) -> View {
        let rows = [
            ("contexts", Cell::Count(self.contexts)),
            ("tasks", Cell::Count(self.tasks.total())),
            ("  work", Cell::Count(self.tasks.work)),
            ("  create", Cell::Count(self.tasks.create)),
            ("  join", Cell::Count(self.tasks.join)),
            ("  sync", Cell::Count(self.tasks.sync)),
            ("  barrier", Cell::Count(self.tasks.barrier)),
            ("edges", Cell::Count(self.edges)),
            ("functions", Cell::Count(self.functions)),
            ("block executions", Cell::Count(self.blocks)),
            ("accesses", Cell::Count(self.accesses)),
            ("  reads", Cell::Count(self.reads)),
            ("  writes", Cell::Count(self.writes)),
            ("bytes accessed", Cell::Bytes(self.bytes_accessed)),
            ("duration", Cell::Time(self.duration_ns)),
            ("trace size", Cell::Bytes(self.trace_bytes)),
            ("graph size", Cell::Bytes(self.graph_bytes)),
        ];
        let table = Table::of(rows)
            .text("", "what", |row| row.0)
            .cell("", "value", |row| row.1.clone())
            .table();
        View::default().heading("Task graph").table(table)
    }
}
