//! The form of a result, and where it goes.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use super::{bytes_to, to};
use crate::view::{Format, Render, Screen, View};

/// Options of every command that has a result.
#[derive(Clone, Debug, clap::Args)]
pub struct Destination {
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A result, with what its reader must know about its source.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

impl Destination {
    /// Writes a result in the requested form to the requested place. JSON always has the warnings,
    /// and a text begins with them if `in_text` says so.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn write<R: Render>(&self, report: &R, warnings: &[String], in_text: bool) -> Result<()> {
        let path = self.output.as_deref();
        match self.format {
            Format::Json => to(path, |out| {
                serde_json::to_writer(&mut *out, &Document { report, warnings })?;
                Ok(writeln!(out)?)
            }),
            Format::Csv => to(path, |out| report.view().write_csv(out)),
            // The view shows what a terminal would obey, and has styles, which the terminal is to
            // obey.
            Format::Text => bytes_to(path, |out| {
                let screen = path.map_or_else(Screen::stdout, |_| Screen::file());
                let mut before = View::default();
                if in_text && !warnings.is_empty() {
                    for warning in warnings {
                        before = before.line(format!("Warning: {warning}"));
                    }
                    before = before.line("");
                }
                before.write_text(out, screen)?;
                Ok(report.view().write_text(out, screen)?)
            }),
        }
    }
}

/// A result as JSON, with the warnings.
///
/// # Errors
/// When the result is not JSON.
pub fn json<R: Serialize>(report: &R, warnings: &[String]) -> Result<String> {
    Ok(serde_json::to_string(&Document { report, warnings })?)
}
