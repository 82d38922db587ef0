//! Sections of the page that an analysis' own view fills, so that a new analysis needs no script.

use serde::Serialize;

use crate::view::{PagePart, Render};

/// A section.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The word on the command line, which is also the anchor in the page.
    pub id: &'static str,
    /// The title of a section without a heading of its own.
    pub menu: &'static str,
    /// The contents in reading order; the first heading is the title.
    pub parts: Vec<PagePart>,
}

impl Section {
    /// The section of a result of the analysis `id`.
    #[must_use]
    pub fn of(id: &'static str, menu: &'static str, report: &impl Render) -> Self {
        Self { id, menu, parts: report.view().to_page() }
    }

    /// The section of an analysis that has no result, with the reason.
    #[must_use]
    pub fn without(id: &'static str, menu: &'static str, reason: &str) -> Self {
        let text = reason.to_owned();
        Self { id, menu, parts: vec![PagePart::Line { text }] }
    }
}
