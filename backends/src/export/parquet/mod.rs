//! [`tables`] in Parquet files, for DuckDB, Polars, pandas and Spark, and on request the accesses.
//!
//! The folder appears whole or not at all. Memory is that of the rows which are encoded at a time.

mod accesses;
mod file;

use std::path::Path;

use anyhow::Result;

use file::File;

use crate::analysis::Graph;
use crate::output;
use crate::tables;
use crate::view::say;
use crate::view::units::count;

/// Writes the tables into a folder that is new or empty.
pub(super) fn write(folder: &Path, graph: &Graph, with_accesses: bool) -> Result<()> {
    let mut written = Vec::new();
    output::folder(folder, |inside| {
        let (tables, accesses) = rayon::join(
            || of_tables(inside, graph),
            || {
                let accesses = || accesses::write(&inside.join("accesses"), graph);
                with_accesses.then(accesses).transpose()
            },
        );
        written = tables?;
        written.extend(accesses?.map(|rows| ("accesses", rows)));
        Ok(())
    })?;
    let rows = written.iter().map(|(name, rows)| format!("{} {name}", count(*rows)));
    say!("{}: {}", folder.display(), rows.collect::<Vec<_>>().join(", "));
    Ok(())
}

/// Writes all tables but that of the accesses, and returns how many rows each has.
fn of_tables(folder: &Path, graph: &Graph) -> Result<Vec<(&'static str, u64)>> {
    let create = |table: &'static tables::Table| {
        let name = format!("{}.parquet", table.name);
        File::create(&folder.join(name), table).map(Some)
    };
    let written = tables::write(graph, create)?.into_iter();
    written.map(|(table, file)| Ok((table.name, file.finish()?))).collect()
}
