//! `report`: one self-contained, offline HTML page with the findings and every analysis, with
//! interactive plots, or the data of the page as JSON.

mod budget;
mod choices;
mod data;
mod findings;
mod lanes;
mod outcomes;
mod shown;
mod source;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches, ValueEnum};

use crate::analysis;
use crate::cli::open;
use crate::output::{self, progress};
use crate::page;

pub use budget::Budget;
pub use choices::Choices;
pub use data::PageData;
pub use findings::Finding;
pub(crate) use shown::{Begin, Shown, begin, usual};

/// Options of `report`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Task graph, as written by contech-middle
    #[arg(value_name = "GRAPH", default_value = analysis::DEFAULT_GRAPH)]
    graph: PathBuf,
    /// The page, or its data
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// One HTML page.
    #[default]
    Html,
    /// The findings and the data of the page.
    Json,
}

/// The page for `data`.
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn render(data: &PageData) -> Result<String> {
    page::recorded(&data.run.command.join(" "), &data.sections, data)
}

/// Runs the command `report`.
///
/// # Errors
/// When the graph cannot be read or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    if options.output.is_none() && options.format == Form::Html && std::io::stdout().is_terminal() {
        bail!("the report is a page for a browser; give -o report.html");
    }
    let graph = open(&options.graph, usize::MAX)?;
    // The output is opened first, so that an output that cannot be written is reported before
    // minutes of work.
    output::to(options.output.as_deref(), |out| {
        let bar = progress::spinner("report");
        let data = PageData::collect(&graph, &options.choices, |step| bar.set_message(step))?;
        bar.finish_and_clear();
        match options.format {
            Form::Html => Ok(out.write_all(render(&data)?.as_bytes())?),
            Form::Json => {
                serde_json::to_writer(&mut *out, &data)?;
                Ok(writeln!(out)?)
            }
        }
    })
}
