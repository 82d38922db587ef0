//! `verify`: reads the whole file and checks it against the rules of task graphs.

use anyhow::Result;
use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;

use crate::cli::Common;
use crate::view::units::count;
use crate::view::{Render, Table, View};

/// The numbers of what was checked. A faulty graph has only an error and no report.
#[derive(Serialize)]
struct Report {
    /// Always true.
    valid: bool,
    tasks: u64,
    edges: u64,
    frames: u64,
    blocks: u64,
    accesses: u64,
}

/// Runs the subcommand. Its error is the first fault of the graph, with the place.
pub(crate) fn run(matches: &ArgMatches) -> Result<()> {
    let common = Common::from_arg_matches(matches)?;
    let graph = common.open()?;
    let taskgraph::Verified { tasks, edges, frames, blocks, accesses, .. } = graph.verify()?;
    common.write(&graph, &Report { valid: true, tasks, edges, frames, blocks, accesses })
}

impl Render for Report {
    fn view(&self) -> View {
        let parts = [
            ("tasks", self.tasks),
            ("edges", self.edges),
            ("frames", self.frames),
            ("blocks", self.blocks),
            ("accesses", self.accesses),
        ];
        let words: Vec<String> =
            parts.iter().map(|&(what, number)| format!("{} {what}", count(number))).collect();
        let table =
            Table::of(parts)
                .text("what", "what", |part| part.0)
                .count("count", "count", |part| part.1);
        View::default().csv(table.table()).line(format!("valid: {}", words.join(", ")))
    }
}
