//! The page of `contech scale`.

use anyhow::Result;

use crate::scaling::Report;
use crate::view::units::plural;
use contech_show::page::{self, MeasuredPage, Section};

/// The page for a report.
///
/// # Errors
/// When the data cannot be put into JSON.
pub fn render(report: &Report) -> Result<String> {
    let sections = report.sections().into_iter();
    let sections = sections.map(|(id, menu, view)| Section::of(id, menu, &view));
    let runs = report.points.first().map_or(0, |point| point.runs);
    page::measured(&MeasuredPage {
        brand: "Contech scale",
        command: report.command.join(" "),
        measured: format!(
            "{}, {} of each",
            plural(report.cpus.into(), "processor"),
            plural(runs as u64, "run")
        ),
        headline: report.headline(),
        warnings: report.notes.clone(),
        findings: report.findings.clone(),
        tiles: report.tiles(),
        sections: sections.filter(|section| !section.parts.is_empty()).collect(),
    })
}
