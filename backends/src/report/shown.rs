//! How an analysis takes part in the report, which takes one line in the registry.

use std::any::Any;

use anyhow::Result;
use clap::Args;

use super::Choices;
use crate::analysis::{Analysis, Graph, Part, Visitor, default_config};
use crate::page::Section;
use crate::view::Render;

/// What the report knows about an analysis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// The word for its section in the page's menu; `None` if the page draws the analysis' result
    /// itself.
    pub(crate) menu: Option<&'static str>,
    pub(crate) begin: Begin,
}

/// Prepares an analysis for a pass over a graph.
pub(crate) type Begin = fn(&Graph, &Choices) -> Result<Box<dyn Begun>>;

/// A section, and the result of an analysis, of any type.
pub(crate) type Outcome = (Option<Section>, Box<dyn Any + Send>);

/// An analysis that is ready for a pass, or has taken part in it.
pub(crate) trait Begun: Visitor {
    /// Ends the pass and returns the result, with a section if there is a word for the menu.
    fn finish(self: Box<Self>, graph: &Graph, menu: Option<&'static str>) -> Result<Outcome>;
}

/// [`begin`], with the options that the analysis' command has by default.
pub(crate) fn usual<A>(graph: &Graph, _: &Choices) -> Result<Box<dyn Begun>>
where
    A: Analysis<Config: Args, Report: Render + Send> + 'static,
{
    begin::<A>(default_config::<A>()?, graph)
}

/// Prepares an analysis with these options for a pass over a graph.
pub(crate) fn begin<A>(config: A::Config, graph: &Graph) -> Result<Box<dyn Begun>>
where
    A: Analysis<Report: Render + Send> + 'static,
{
    Ok(Box::new(Part::new(A::new(config, graph)?)))
}

impl<A: Analysis<Report: Render + Send> + 'static> Begun for Part<A> {
    fn finish(self: Box<Self>, graph: &Graph, menu: Option<&'static str>) -> Result<Outcome> {
        let report = Part::finish(*self, graph)?;
        let section = menu.map(|menu| Section::of(A::NAME, menu, &report.view()));
        Ok((section, Box::new(report)))
    }
}
