//! `verify`: reads the whole file and checks it against the rules of task graphs.

use anyhow::Result;
use clap::{ArgMatches, FromArgMatches};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::cli::Common;
use crate::view::units::count;
use crate::view::{Render, Table, View};

/// The numbers of what was checked. A faulty graph has only an error and no report.
struct Report([(&'static str, u64); 5]);

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let counts = self.0.map(|(what, number)| (what, Value::from(number)));
        to.collect_map([("valid", Value::Bool(true))].into_iter().chain(counts))
    }
}

/// Runs the subcommand. Its error is the first fault of the graph, with the place.
pub(crate) fn run(matches: &ArgMatches) -> Result<()> {
    let common = Common::from_arg_matches(matches)?;
    let graph = common.open()?;
    let taskgraph::Verified { tasks, edges, frames, blocks, accesses, .. } = graph.verify()?;
    let counts = [tasks, edges, frames, blocks, accesses];
    let names = ["tasks", "edges", "frames", "blocks", "accesses"];
    common.write(&graph, &Report(std::array::from_fn(|at| (names[at], counts[at]))))
}

impl Render for Report {
    fn view(&self) -> View {
        let words = self.0.map(|(what, number)| format!("{} {what}", count(number)));
        let table =
            Table::of(self.0)
                .text("what", "what", |part| part.0)
                .count("count", "count", |part| part.1);
        View::default().csv(table.table()).line(format!("valid: {}", words.join(", ")))
    }
}
