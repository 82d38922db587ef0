//! Tables in Parquet files, for DuckDB, Polars, pandas and Spark: `tasks`, `edges`, `contexts`, `functions`, `blocks`,
//! `waits`, `allocations`, and on request `accesses`. docs/src/guide/export.md has the columns and their units.
//!
//! The folder appears whole or not at all. Memory is that of the rows which are encoded at a time.

mod accesses;
mod file;
mod tables;

use std::path::Path;

use anyhow::Result;

use crate::analysis::Graph;
use crate::output;
use crate::view::say;
use crate::view::units::count;

/// Writes the tables into a folder that is new or empty.
pub(super) fn write(folder: &Path, graph: &Graph, with_accesses: bool) -> Result<()> {
    let mut written = Vec::new();
    output::folder(folder, |inside| {
        let (tables, accesses) = rayon::join(
            || tables::write(inside, graph),
            || {
                let accesses = || accesses::write(&inside.join("accesses"), graph);
                with_accesses.then(accesses).transpose()
            },
        );
        written = tables?;
        written.extend(accesses?.map(|rows| ("accesses", rows)));
        Ok(())
    })?;
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
