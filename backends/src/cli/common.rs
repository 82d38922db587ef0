//! The arguments that every analysis takes.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::analysis::{self, Graph};
use crate::output::Destination;
use crate::view::{Render, say};

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

/// Opens a graph, and says at most so many warnings on standard error.
pub(crate) fn open(path: &Path, most: usize) -> Result<Graph> {
    let graph = analysis::open(path)?;
    let warnings = analysis::warnings(&graph);
    for warning in warnings.iter().take(most) {
        say!("warning: {}: {warning}", path.display());
    }
    if let Some(more) = warnings.len().checked_sub(most).filter(|n| *n > 0) {
        say!("warning: ... and {more} more (all of them in --format json and the report)");
    }
    Ok(graph)
}

impl Common {
    /// Opens the graph, and says on standard error if it is incomplete.
    ///
    /// # Errors
    /// When the file is not a readable task graph.
    pub fn open(&self) -> Result<Graph> {
        open(&self.graph, MOST_WARNINGS)
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
