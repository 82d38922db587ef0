//! How an analysis takes part in the report, which takes one line in the registry.

use std::any::Any;

use anyhow::Result;
use clap::Args;

use super::Choices;
use crate::analysis::{Analysis, Graph, Part, Visitor, default_config};
use crate::view::{Render, View};

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

/// An analysis that is ready for a pass, or has taken part in it.
pub(crate) trait Begun: Visitor {
    /// Ends the pass and returns the result, of any type, and the view of it if it has a section.
    fn finish(self: Box<Self>, graph: &Graph, section: bool)
    -> Result<(View, Box<dyn Any + Send>)>;
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
    fn finish(
        self: Box<Self>,
        graph: &Graph,
        section: bool,
    ) -> Result<(View, Box<dyn Any + Send>)> {
        let report = Part::finish(*self, graph)?;
        let view = if section { report.view() } else { View::default() };
        Ok((view, Box::new(report)))
    }
}
