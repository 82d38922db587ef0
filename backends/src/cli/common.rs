//! The arguments every analysis takes, and how a result becomes output.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use super::output;
use crate::analysis::{self, Graph};
use crate::view::{Format, Render};

/// Arguments of every analysis.
#[derive(Clone, Debug, clap::Args)]
pub struct Common {
    /// Task graph, as written by contech-middle
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A result with what its reader must know about the recording.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

/// Warnings shown on a terminal.
const MOST_WARNINGS: usize = 3;

impl Common {
    /// Opens the graph and says on standard error if it is not whole.
    ///
    /// # Errors
    /// When the file is not a readable task graph.
    pub fn open(&self) -> Result<Graph> {
        let graph = analysis::open(&self.graph)?;
        let warnings = analysis::warnings(&graph);
        for warning in warnings.iter().take(MOST_WARNINGS) {
            eprintln!("warning: {}: {warning}", self.graph.display());
        }
        if let Some(more) = warnings.len().checked_sub(MOST_WARNINGS).filter(|n| *n > 0) {
            eprintln!("warning: ... and {more} more (all of them in --format json and the report)");
        }
        Ok(graph)
    }

    /// Writes a result in the form and to the place asked for.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write<R: Render>(&self, graph: &Graph, report: &R) -> Result<()> {
        let warnings = analysis::warnings(graph);
        output::to(self.output.as_deref(), |out| match self.format {
            Format::Json => {
                serde_json::to_writer(
                    &mut *out,
                    &Document {
                        report,
                        warnings: &warnings,
                    },
                )?;
                Ok(writeln!(out)?)
            }
            Format::Csv => report.view().write_csv(out),
            Format::Text => {
                // Remarks have just been said on standard error; a file, and the results of an
                // incomplete recording, must say them themselves.
                let say = self.output.is_some() || !graph.meta().complete;
                if say && !warnings.is_empty() {
                    for warning in &warnings {
                        writeln!(out, "Warning: {warning}")?;
                    }
                    writeln!(out)?;
                }
                Ok(report.view().write_text(out)?)
            }
        })
    }
}
