//! How an analysis takes part in the report: one line in the registry.

use std::any::Any;

use anyhow::Result;
use clap::Args;

use super::Choices;
use crate::analysis::{Analysis, Graph, Part, Reads, Visitor, default_config};
use crate::view::{PagePart, Render};

/// What the report knows of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The word in the page's menu for its section; none where the page draws its result itself.
    pub menu: Option<&'static str>,
    /// What it reads of tasks.
    pub(super) reads: Reads,
    /// Gets it ready for a pass over a graph.
    pub(super) begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>,
}

/// An analysis that is ready for a pass, or has taken part in it.
pub trait Begun: Send {
    /// For the driver.
    fn visitor(&mut self) -> &mut dyn Visitor;
    /// The result.
    ///
    /// # Errors
    /// When the graph cannot be read.
    fn finish(self: Box<Self>, graph: &Graph) -> Result<Box<dyn Outcome>>;
}

/// A result.
pub trait Outcome: Any + Send {
    /// What is in its section.
    fn parts(&self) -> Vec<PagePart>;
    /// For those who know what it is.
    fn as_any(self: Box<Self>) -> Box<dyn Any>;
}

impl Shown {
    /// With the options that its command has without any.
    #[must_use]
    pub const fn of<A>() -> Self
    where
        A: Analysis + 'static,
        A::Config: Args,
        A::Report: Render + Send + 'static,
    {
        Self {
            menu: None,
            reads: A::READS,
            begin: |graph, _| begin::<A>(default_config::<A>()?, graph),
        }
    }

    /// Got ready in a way of its own: [`begin`] with other options.
    #[must_use]
    pub const fn with<A: Analysis>(begin: fn(&Graph, &Choices) -> Result<Box<dyn Begun>>) -> Self {
        Self {
            menu: None,
            reads: A::READS,
            begin,
        }
    }

    /// With a section of its own, filled by its view.
    #[must_use]
    pub const fn section(self, menu: &'static str) -> Self {
        Self {
            menu: Some(menu),
            ..self
        }
    }
}

/// An analysis with these options, ready for a pass over a graph.
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
    fn visitor(&mut self) -> &mut dyn Visitor {
        self
    }

    fn finish(self: Box<Self>, graph: &Graph) -> Result<Box<dyn Outcome>> {
        Ok(Box::new(Part::finish(*self, graph)?))
    }
}

impl<R: Render + Send + 'static> Outcome for R {
    fn parts(&self) -> Vec<PagePart> {
        self.view().to_page()
    }

    fn as_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
