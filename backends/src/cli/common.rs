//! The arguments that every analysis takes.

use std::path::PathBuf;

use anyhow::Result;

use crate::analysis::{self, Graph};
use crate::output::Destination;
use crate::view::Render;
use crate::view::say;

/// Arguments of every analysis.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Task graph, as written by contech-middle
    #[arg(value_name = "GRAPH", default_value = analysis::DEFAULT_GRAPH)]
    pub graph: PathBuf,
    /// Where the result goes.
    #[command(flatten)]
    pub to: Destination,
}

/// The most warnings that are shown on a terminal.
const MOST_WARNINGS: usize = 3;

impl Common {
    /// Opens the graph, and says on standard error if it is incomplete.
    ///
    /// # Errors
    /// When the file is not a readable task graph.
    pub fn open(&self) -> Result<Graph> {
        let graph = analysis::open(&self.graph)?;
        let warnings = analysis::warnings(&graph);
        for warning in warnings.iter().take(MOST_WARNINGS) {
            say!("warning: {}: {warning}", self.graph.display());
        }
        if let Some(more) = warnings.len().checked_sub(MOST_WARNINGS).filter(|n| *n > 0) {
            say!("warning: ... and {more} more (all of them in --format json and the report)");
        }
        Ok(graph)
    }

    /// Writes a result in the requested form to the requested place.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write<R: Render>(&self, graph: &Graph, report: &R) -> Result<()> {
        // Standard error has just shown the remarks. A file, and the results of an incomplete
        // recording, must contain them.
        let say = self.to.output.is_some() || !graph.meta().complete;
        self.to.write(report, &analysis::warnings(graph), say)
    }
}
