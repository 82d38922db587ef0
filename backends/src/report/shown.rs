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
    pub(super) menu: Option<&'static str>,
    /// Whether its result is a part of the answer that is told before the page is made.
    pub(super) told_first: bool,
    /// Prepares the analysis for a pass over a graph.
    pub(super) begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>,
}

/// An analysis that is ready for a pass, or has taken part in it.
pub(crate) trait Begun: Visitor {
    /// Ends the pass and returns the result, and the view of it if it has a section.
    fn finish(self: Box<Self>, graph: &Graph, section: bool) -> Result<Outcome>;
}

/// The view of a result, and the result, of any type.
pub(crate) type Outcome = (View, Box<dyn Any + Send>);

impl Shown {
    /// An analysis with the options that its command has by default; with a word for the menu, it
    /// has a section, which its own view fills.
    pub(crate) const fn of<A>(menu: Option<&'static str>) -> Self
    where
        A: Analysis + 'static,
        A::Config: Args,
        A::Report: Render + Send + 'static,
    {
        Self::with(menu, |graph, _| begin::<A>(default_config::<A>()?, graph))
    }

    /// An analysis that is prepared by `begin`, which usually calls [`begin`] with other options.
    pub(crate) const fn with(
        menu: Option<&'static str>,
        begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>,
    ) -> Self {
        Self { menu, told_first: false, begin }
    }

    /// Its result is a part of the answer that is told before the page is made, so it should not
    /// take long.
    pub(crate) const fn told_first(self) -> Self {
        Self { told_first: true, ..self }
    }
}

/// Prepares an analysis with these options for a pass over a graph.
pub(crate) fn begin<A>(config: A::Config, graph: &Graph) -> Result<Box<dyn Begun>>
where
    A: Analysis + 'static,
    A::Report: Render + Send + 'static,
{
    Ok(Box::new(Part::new(A::new(config, graph)?)))
}

impl<A> Begun for Part<A>
where
    A: Analysis + 'static,
    A::Report: Render + Send + 'static,
{
    fn finish(self: Box<Self>, graph: &Graph, section: bool) -> Result<Outcome> {
        let report = Part::finish(*self, graph)?;
        let view = if section { report.view() } else { View::default() };
        Ok((view, Box::new(report)))
    }
}
