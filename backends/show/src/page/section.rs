//! Sections of the page that an analysis' own view fills, so that a new analysis needs no script.

use serde::Serialize;
use serde_json::Value;

use crate::view::View;

/// A section.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The word on the command line, which is also the anchor in the page.
    pub id: &'static str,
    /// The title of a section without a heading of its own.
    pub menu: &'static str,
    /// The contents in reading order; the first heading is the title.
    pub parts: Vec<Value>,
}

impl Section {
    /// The section that a view fills.
    #[must_use]
    pub fn of(id: &'static str, menu: &'static str, view: &View) -> Self {
        Self { id, menu, parts: view.to_page() }
    }
}
