//! `export`: the graph in forms that other programs read. So far there is only `--dot`: a picture of a small graph in
//! the notation of contech.txt, Figures 2 to 4 (ovals with the task id for work, black squares with a letter for the
//! others).

mod dot;
mod phases;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches};

use crate::analysis;
use crate::cli::output;

pub use dot::{Arrow, Drawing, Node, Shape};

/// Options of `export`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Task graph, as written by contech-middle
    #[arg(value_name = "GRAPH", default_value = analysis::DEFAULT_GRAPH)]
    pub graph: PathBuf,
    /// Graphviz: `contech-backend export --dot graph.tg | dot -Tsvg > graph.svg`
    #[arg(long)]
    pub dot: bool,
    /// One oval per phase of a context: its tasks between creates, joins and barriers
    #[arg(long)]
    pub phases: bool,
    /// Most nodes drawn; a larger graph is an error
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub max: u32,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// When no form was chosen, the graph has too many tasks or cannot be read, or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    if !options.dot {
        bail!("say which form: --dot");
    }
    let graph = analysis::open(&options.graph)?;
    for warning in analysis::warnings(&graph) {
        eprintln!("warning: {}: {warning}", options.graph.display());
    }
    let most = options.max as usize;
    let drawing = if options.phases {
        phases::draw(&graph, most)?
    } else {
        dot::draw(&graph, most)?
    };
    output::to(options.output.as_deref(), |out| Ok(drawing.write(out)?))
}

/// The graph as a drawing of at most `most` nodes.
///
/// # Errors
/// When there are more, or the graph cannot be read.
pub fn draw(graph: &analysis::Graph, phases: bool, most: usize) -> Result<Drawing> {
    if phases {
        phases::draw(graph, most)
    } else {
        dot::draw(graph, most)
    }
}
