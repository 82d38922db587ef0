//! `report`: one self-contained, offline HTML page with the findings and every analysis, with interactive plots, or
//! the data of the page as JSON.

mod budget;
mod data;
mod findings;
mod outcomes;
mod page;
mod section;
mod shown;
mod source;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches, ValueEnum};
use contech_plain::say;

use crate::analysis::{self, Graph, Windows};
use crate::cache::{self, Sample};
use crate::cli::{output, progress};
use crate::hierarchy::{self, Hierarchy};
use crate::memuse::{self, MemUse};
use crate::misses::{self, Misses};
use crate::races::{self, Races};
use crate::scaling::Measured;
use crate::sharing::{self, Sharing};
use crate::size::Sizes;

pub use budget::Budget;
pub use data::{BlocksPlot, PageData, ParallelismPlot};
pub use findings::{Finding, Results, find};
pub use page::{MeasuredPage, render, render_measured};
pub use section::Section;
pub use shown::{Begun, Outcome, Shown, begin};

pub use crate::analysis::default_config;

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

/// What analyses of the page are told.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Choices {
    /// Options of the miss curves.
    #[command(flatten)]
    pub cache: cache::Options,
    /// What of a long run the models of the page look at
    #[command(flatten)]
    pub budget: Budget,
    /// Speedups measured by `contech scale --format json`, to set beside the bounds of work and span
    #[arg(long, value_name = "FILE", value_parser = Measured::argument())]
    pub measured: Option<Measured>,
}

impl From<cache::Options> for Choices {
    fn from(cache: cache::Options) -> Self {
        Self {
            cache,
            ..Self::default()
        }
    }
}

impl Choices {
    /// The share of the lines that misses are estimated from; `None` for all of them.
    fn sample(&self, graph: &Graph) -> Option<f64> {
        let within = |most| Sample::within(graph.summary().accesses, most).rate();
        let budget = || self.budget.lines().and_then(within);
        self.cache.sample.or_else(budget)
    }

    /// What of the run is looked at by models that need all lines and all contexts; `None` for all of it.
    pub(crate) fn windows(&self, graph: &Graph) -> Option<Windows> {
        Windows::within(graph.summary().accesses, self.budget.all_lines()?)
    }

    pub(crate) fn hierarchy(&self, graph: &Graph) -> Result<hierarchy::Options> {
        Ok(hierarchy::Options {
            windows: self.windows(graph),
            ..default_config::<Hierarchy>()?
        })
    }

    pub(crate) fn sharing(&self, graph: &Graph) -> Result<sharing::Options> {
        Ok(sharing::Options {
            windows: self.windows(graph),
            ..default_config::<Sharing>()?
        })
    }

    pub(crate) fn races(&self, graph: &Graph) -> Result<races::Options> {
        Ok(races::Options {
            windows: self.windows(graph),
            ..default_config::<Races>()?
        })
    }

    /// The options of the miss curves. With a sample that nobody asked for, sizes that are modelled roughly are left
    /// out, and caches that were asked for are exact.
    pub(crate) fn cache(&self, graph: &Graph) -> Result<cache::Options> {
        let (mut options, usual) = (self.cache.clone(), cache::Options::default());
        let Some(rate) = self.sample(graph).filter(|_| options.sample.is_none()) else {
            return Ok(options);
        };
        if (&options.ways, &options.sizes) != (&usual.ways, &usual.sizes) {
            return Ok(options);
        }
        let least = Sample::new(rate)
            .rough()
            .saturating_mul(options.line.bytes());
        let sizes = options.sizes.as_slice().iter();
        let fine = sizes.filter(|size| size.bytes() >= least).copied();
        options.sizes = Sizes::of(fine).unwrap_or(usual.sizes);
        options.sample = Some(rate);
        Ok(options)
    }

    pub(crate) fn misses(&self, graph: &Graph) -> Result<misses::Options> {
        Ok(misses::Options {
            sample: self.sample(graph),
            ..default_config::<Misses>()?
        })
    }

    /// Of a run whose misses are estimated, memory is followed in the same pass as sharing.
    pub(crate) fn memuse(&self, graph: &Graph) -> Result<memuse::Options> {
        Ok(memuse::Options {
            slice_ns: self.sample(graph).map(|_| sharing::SLICE),
            ..default_config::<MemUse>()?
        })
    }
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

/// Runs the command `report`.
///
/// # Errors
/// When the graph cannot be read or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    if options.output.is_none() && options.format == Form::Html && std::io::stdout().is_terminal() {
        bail!("the report is a page for a browser; give -o report.html");
    }
    let graph = analysis::open(&options.graph)?;
    analysis::warnings(&graph)
        .iter()
        .for_each(|warning| say!("warning: {}: {warning}", options.graph.display()));
    // The output is opened first, so that an output that cannot be written is reported before minutes of work.
    output::to(options.output.as_deref(), |out| {
        let bar = progress::spinner("report");
        let data = PageData::collect(&graph, options.choices, |step| bar.set_message(step))?;
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
