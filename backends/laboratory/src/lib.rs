//! `contech scale`: measures an unmodified program at several numbers of threads, observed by a
//! preloaded library, and explains why it does not scale ([`scaling`]).
//!
//! Nothing here sees a task graph.
#![forbid(unsafe_code)]
// Text leaves through contech_plain and contech_show.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod affinity;
mod checks;
mod command;
mod observer;
mod options;
mod page;
mod places;
mod run;
pub mod scaling;
mod series;

use std::path::Path;

use anyhow::{Result, bail};
use contech_show::{duration, output, view};

pub use options::Options;
pub use page::render;
pub use run::{cannot_start, how_ended};
use scaling::{Measurement, analyse, ascending, document};
use view::say;

/// Runs the command `contech scale`.
///
/// # Errors
/// When a command cannot be run, fails, ends too early to be measured, or prints different output
/// at different numbers of threads; when a file cannot be read or written.
pub fn scale(options: &Options) -> Result<()> {
    let measurement = match &options.from {
        Some(file) => read(file)?,
        None => series::measure(options)?,
    };
    if let Some(file) = &options.save {
        output::to(Some(file), |out| {
            serde_json::to_writer(&mut *out, &measurement)?;
            Ok(writeln!(out)?)
        })?;
    }
    let report = analyse(measurement, options.estimate, options.blocking);
    if let Some(file) = &options.report {
        output::to(Some(file), |out| Ok(out.write_all(render(&report)?.as_bytes())?))?;
    }
    options.to.write(&report, &[], false)?;
    if let Some(file) = &options.report {
        say!("contech: report  {}", file.display());
    }
    Ok(())
}

/// Reads a measurement that `--save` wrote.
fn read(file: &Path) -> Result<Measurement> {
    let measurement: Measurement = document(file, "measurement", "contech scale --save")?;
    if measurement.points.iter().all(|point| point.runs.is_empty()) {
        bail!("{} has no runs; measure again", file.display());
    }
    if !ascending(measurement.points.iter().map(|point| point.threads)) {
        bail!("{}: its points must have ascending numbers of threads, from 1 on", file.display());
    }
    Ok(measurement)
}
