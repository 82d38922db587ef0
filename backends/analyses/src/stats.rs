//! `stats`: how much of everything a graph holds.

use anyhow::Result;
use serde::Serialize;
use taskgraph::Summary;

use crate::analysis::{Analysis, Graph, Order};
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
    /// Those that the graph has of itself.
    #[serde(flatten)]
    pub summary: Summary,
    /// Size of the trace the graph was made from.
    pub trace_bytes: u64,
    /// Size of the graph file.
    pub graph_bytes: u64,
    /// Whether the trace was whole.
    pub complete: bool,
    /// Which blocks and accesses are missing because the user or a limit wanted so; `null` if none
    /// are.
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

    fn shard(&self) {}

    fn finish(self, graph: &Graph, _: Vec<()>) -> Result<Report> {
        let meta = graph.meta();
        Ok(Report {
            summary: *graph.summary(),
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
        let sum = &self.summary;
        let rows = [
            ("contexts", Cell::Count(sum.contexts)),
            ("tasks", Cell::Count(sum.tasks.total())),
            ("  work", Cell::Count(sum.tasks.work)),
            ("  create", Cell::Count(sum.tasks.create)),
            ("  join", Cell::Count(sum.tasks.join)),
            ("  sync", Cell::Count(sum.tasks.sync)),
            ("  barrier", Cell::Count(sum.tasks.barrier)),
            ("edges", Cell::Count(sum.edges)),
            ("functions", Cell::Count(sum.functions)),
            ("block executions", Cell::Count(sum.blocks)),
            ("accesses", Cell::Count(sum.accesses)),
            ("  reads", Cell::Count(sum.reads)),
            ("  writes", Cell::Count(sum.writes)),
            ("bytes accessed", Cell::Bytes(sum.bytes_accessed)),
            ("duration", Cell::Time(sum.duration_ns)),
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
