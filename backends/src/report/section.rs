//! Sections of the page that an analysis' own view fills: a new analysis needs no script to be shown.

use anyhow::Result;
use clap::{Args, Command, FromArgMatches};
use serde::Serialize;

use crate::analysis::{Analysis, Graph, run};
use crate::view::{PagePart, Render};

/// A section.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The word on the command line; the anchor in the page.
    pub id: &'static str,
    /// The word in the page's menu.
    pub menu: &'static str,
    /// What is in it, in reading order; the first heading is its title.
    pub parts: Vec<PagePart>,
}

/// Runs an analysis as its command does without options.
///
/// # Errors
/// What the analysis or the graph reports first.
pub fn run_default<A>(graph: &Graph) -> Result<A::Report>
where
    A: Analysis,
    A::Config: Args,
{
    run::<A>(default_config::<A>()?, graph)
}

/// The options of an analysis that a command line without options has.
///
/// # Errors
/// When it has options that must be given.
pub(super) fn default_config<A>() -> Result<A::Config>
where
    A: Analysis,
    A::Config: Args,
{
    let command = A::Config::augment_args(Command::new(A::NAME));
    let matches = command.try_get_matches_from([A::NAME])?;
    Ok(A::Config::from_arg_matches(&matches)?)
}

/// The same where the graph may hold too little for it: a graph without accesses gives the reason instead.
///
/// # Errors
/// What the analysis or the graph reports first, for a graph with accesses.
pub(super) fn run_if_recorded<A>(graph: &Graph) -> Result<Result<A::Report, String>>
where
    A: Analysis,
    A::Config: Args,
{
    match run_default::<A>(graph) {
        Ok(report) => Ok(Ok(report)),
        Err(error) if graph.summary().accesses == 0 => Ok(Err(format!("{error:#}"))),
        Err(error) => Err(error),
    }
}

impl Section {
    /// The section of a result, or of the reason why there is none.
    #[must_use]
    pub fn of_either<A: Analysis>(
        menu: &'static str,
        report: &Result<impl Render, String>,
    ) -> Self {
        match report {
            Ok(report) => Self::of::<A>(menu, report),
            Err(reason) => Self {
                id: A::NAME,
                menu,
                parts: vec![PagePart::Line {
                    text: reason.clone(),
                }],
            },
        }
    }

    /// The section of a result.
    #[must_use]
    pub fn of<A: Analysis>(menu: &'static str, report: &impl Render) -> Self {
        Self {
            id: A::NAME,
            menu,
            parts: report.view().to_page(),
        }
    }
}
