//! How an analysis takes part in the report, which takes one line in the registry.

use std::any::Any;

use anyhow::Result;
use clap::Args;

use super::Choices;
use crate::analysis::{Analysis, Graph, Part, Visitor, default_config};
use crate::view::{Render, View};

/// What the report knows about an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The word for its section in the page's menu; `None` if the page draws the analysis' result
    /// itself.
    pub menu: Option<&'static str>,
    /// Whether its result is a part of the answer that is told before the page is made.
    pub(super) told_first: bool,
    /// Prepares the analysis for a pass over a graph.
    pub(super) begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>,
}

/// An analysis that is ready for a pass, or has taken part in it.
pub trait Begun: Visitor {
    /// Ends the pass and returns the result, and the view of it if it has a section.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn finish(self: Box<Self>, graph: &Graph, section: bool) -> Result<Outcome>;
}

/// The view of a result, and the result, of any type.
pub type Outcome = (View, Box<dyn Any + Send>);

impl Shown {
    /// An analysis with the options that its command has by default; with a word for the menu, it
    /// has a section, which its own view fills.
    #[must_use]
    pub const fn of<A>(menu: Option<&'static str>) -> Self
    where
        A: Analysis + 'static,
        A::Config: Args,
        A::Report: Render + Send + 'static,
    {
        Self::with(menu, |graph, _| begin::<A>(default_config::<A>()?, graph))
    }

    /// An analysis that is prepared by `begin`, which usually calls [`begin`] with other options.
    #[must_use]
    pub const fn with(
        menu: Option<&'static str>,
        begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>,
    ) -> Self {
        Self { menu, told_first: false, begin }
    }

    /// Its result is a part of the answer that is told before the page is made, so it should not
    /// take long.
    #[must_use]
    pub const fn told_first(self) -> Self {
        Self { told_first: true, ..self }
    }
}

/// Prepares an analysis with these options for a pass over a graph.
///
/// # Errors
/// When the options make no sense, or the graph holds too little for them.
pub fn begin<A>(config: A::Config, graph: &Graph) -> Result<Box<dyn Begun>>
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
