//! Tables in Parquet files, for DuckDB, Polars, pandas and Spark: `tasks`, `edges`, `contexts`, `functions`, `blocks`,
//! `waits`, `allocations`, and on request `accesses`. docs/src/guide/export.md has the columns and their units.
//!
//! The folder appears whole or not at all. Memory is that of the rows which are encoded at a time.

mod accesses;
mod file;
mod tables;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::analysis::Graph;
use crate::view::say;
use crate::view::units::count;
use file::cannot;

/// Writes the tables into a folder that is new or empty.
pub(super) fn write(folder: &Path, graph: &Graph, with_accesses: bool) -> Result<()> {
    let used = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    if used || folder.exists() && !folder.is_dir() {
        bail!(
            "{} exists and is not an empty folder; remove it or name another",
            folder.display()
        );
    }
    let parent = match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".contech-")
        .suffix(".tmp")
        .permissions(fs::Permissions::from_mode(0o777)) // as `mkdir` would, umask applies
        .tempdir_in(parent)
        .with_context(|| cannot(folder))?;
    let inside = temporary.path();
    let (tables, accesses) = rayon::join(
        || tables::write(inside, graph),
        || {
            let accesses = || accesses::write(&inside.join("accesses"), graph);
            with_accesses.then(accesses).transpose()
        },
    );
    let written = tables.and_then(|mut written| {
        written.extend(accesses?.map(|rows| ("accesses", rows)));
        Ok(written)
    });
    let written = written.map_err(|error| match error.is::<taskgraph::Error>() {
        true => error,
        false => error.context(cannot(folder)),
    })?;
    fs::rename(inside, folder).with_context(|| cannot(folder))?;
    // The folder has another name now: there is nothing left to remove.
    let _ = temporary.keep();
    let rows = written
        .iter()
        .map(|(name, rows)| format!("{} {name}", count(*rows)));
    say!(
        "{}: {}",
        folder.display(),
        rows.collect::<Vec<_>>().join(", ")
    );
    Ok(())
}
