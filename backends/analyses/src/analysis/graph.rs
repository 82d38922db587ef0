//! The graph that an analysis reads: a mapped file.

use std::path::Path;

use anyhow::{Result, bail};
use taskgraph::Mmap;

/// A task graph in a mapped file.
pub type Graph = taskgraph::TaskGraph<Mmap>;

/// A task of [`Graph`].
pub type Task<'g> = taskgraph::Task<'g, Mmap>;

/// The graph that a command reads when none is named.
pub const DEFAULT_GRAPH: &str = "graph.tg";

/// Opens a graph file.
///
/// # Errors
/// When the file cannot be read or is not a whole task graph; the message names the file.
pub fn open(path: &Path) -> Result<Graph> {
    if path.is_dir() {
        bail!(
            "{} is a folder; a task graph, as written by contech-middle, was expected (contech run makes contech-out/graph.tg)",
            path.display()
        );
    }
    if !path.exists() && path == Path::new(DEFAULT_GRAPH) {
        bail!(
            "there is no {DEFAULT_GRAPH} in this folder: name a task graph (contech run makes contech-out/graph.tg, contech-middle makes one of trace.bin)"
        );
    }
    Ok(taskgraph::map(path)?)
}

/// How often the run accesses a line or a word of so many bytes, about: once for each access, and
/// once for each line or word that a copy or a fill goes over.
#[must_use]
pub fn accesses_of(graph: &Graph, bytes: u64) -> u64 {
    let summary = graph.summary();
    summary.accesses.max(summary.bytes_accessed / bytes)
}

/// For analyses of accesses: refuses a graph that has none because only synchronisation was
/// recorded. `who` begins the last part of the message, as in `races need`.
///
/// # Errors
/// When the graph has tasks but no blocks.
pub(crate) fn full_recording(graph: &Graph, who: &str) -> Result<()> {
    let summary = graph.summary();
    if summary.blocks == 0 && summary.tasks.total() > 0 {
        bail!(
            "the graph has no blocks and no accesses (recorded in sync mode?): {who} a full recording"
        );
    }
    Ok(())
}

/// For commands that have nothing to show of a graph without accesses: says why it has none. `name`
/// is the analysis.
///
/// # Errors
/// When the graph is empty, or only synchronisation was recorded.
pub fn something_to_analyse(graph: &Graph, name: &str) -> Result<()> {
    if graph.summary().tasks.total() == 0 {
        bail!(
            "the graph has no tasks: nothing was recorded, so there is nothing for {name} to say (was the program built with contech-cc, and not run with CONTECH_OFF?)"
        );
    }
    full_recording(graph, &format!("{name} needs"))
}

/// What a reader of any result must know about the recording, one sentence each; empty for a
/// complete recording.
#[must_use]
pub fn warnings(graph: &Graph) -> Vec<String> {
    let meta = graph.meta();
    let mut warnings = Vec::new();
    if !meta.complete {
        let lost = match meta.lost_bytes {
            0 => String::new(),
            bytes => format!(" {} of the trace are lost.", crate::view::units::bytes(bytes)),
        };
        warnings.push(format!(
            "The recording is incomplete: results cover only what was recovered.{lost}"
        ));
    }
    let unrecorded: u64 = graph
        .info()
        .modules
        .iter()
        .flat_map(|module| &module.unrecorded)
        .map(|(_, places)| places)
        .sum();
    // The converter's own note says more, if there is one.
    let noted = meta.notes.iter().any(|note| note.starts_with("not recorded"));
    if unrecorded > 0 && !noted {
        warnings.push(format!("{} places of the program could not be instrumented: what they access is not in the graph.", crate::view::units::count(unrecorded)));
    }
    warnings.extend(meta.notes.iter().map(ToString::to_string));
    warnings
}
