//! `dump`: the raw contents of a graph, streamed line by line.

mod rows;
mod selection;

use std::io::Write;

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches};
use serde::Serialize;
use taskgraph::{Action, ContextId, Reader};

use crate::analysis::locks::each_synchronisation;
use crate::analysis::source::Place;
use crate::analysis::{Graph, Task};
use crate::cli::{Common, output};
use crate::view::Format;

use rows::Rows;
pub use selection::Selection;

/// Options of `dump`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    what: What,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// What to dump: exactly one.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// Every task, in breadth-first order
    #[arg(long)]
    tasks: bool,
    /// Every edge but those of program order
    #[arg(long)]
    edges: bool,
    /// Block executions of a task, or of a whole context with CTX:*
    #[arg(long, value_name = "CTX:SEQ")]
    blocks: Option<Selection>,
    /// Memory accesses of a task, or of a whole context with CTX:*: R or W, address, size
    #[arg(long, value_name = "CTX:SEQ")]
    accesses: Option<Selection>,
    /// Synchronisations of a task, or of a whole context with CTX:*: task, operation, object
    #[arg(long, value_name = "CTX:SEQ")]
    synchronisations: Option<Selection>,
}

#[derive(Serialize)]
struct TaskRow {
    id: String,
    executor: u32,
    kind: &'static str,
    op: &'static str,
    object: u64,
    start_ns: u64,
    end_ns: u64,
    blocks: u64,
    reads: u64,
    writes: u64,
    bytes: u64,
    dependencies: Vec<String>,
}

#[derive(Serialize)]
struct EdgeRow {
    from: String,
    to: String,
}

#[derive(Serialize)]
struct BlockRow {
    block: u32,
    function: String,
    file: String,
    line: u32,
}

#[derive(Serialize)]
struct AccessRow {
    write: bool,
    address: u64,
    size: u64,
}

#[derive(Serialize)]
struct SynchronisationRow {
    task: String,
    op: &'static str,
    object: u64,
}

/// Runs the subcommand.
///
/// # Errors
/// When the graph cannot be read, has no such task or context, or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let graph = options.common.open()?;
    let format = if options.json {
        Format::Json
    } else {
        options.common.to.format
    };
    output::to(options.common.to.output.as_deref(), |out| {
        options.what.write(&graph, format, out)
    })
}

impl What {
    fn write(&self, graph: &Graph, format: Format, out: &mut dyn Write) -> Result<()> {
        if self.tasks {
            tasks(graph, Rows::new(out, format, "tasks"))
        } else if self.edges {
            edges(graph, Rows::new(out, format, "edges"))
        } else if let Some(selection) = self.blocks {
            blocks(graph, selection, Rows::new(out, format, "blocks"))
        } else if let Some(selection) = self.accesses {
            accesses(graph, selection, Rows::new(out, format, "accesses"))
        } else if let Some(selection) = self.synchronisations {
            let rows = Rows::new(out, format, "synchronisations");
            synchronisations(graph, selection, rows)
        } else {
            bail!(
                "nothing chosen: give --tasks, --edges, --blocks, --accesses or --synchronisations"
            )
        }
    }
}

fn tasks(graph: &Graph, mut rows: Rows<'_>) -> Result<()> {
    let columns = [
        "id",
        "executor",
        "kind",
        "op",
        "object",
        "start_ns",
        "end_ns",
        "blocks",
        "reads",
        "writes",
        "bytes",
        "dependencies",
    ];
    rows.header(&columns)?;
    for task in graph.tasks() {
        let task = task?;
        let row = TaskRow {
            id: task.id().to_string(),
            executor: task.executor().get(),
            kind: task.kind().name(),
            op: task.op().name(),
            object: task.object(),
            start_ns: task.start_ns(),
            end_ns: task.end_ns(),
            blocks: task.block_count(),
            reads: task.read_count(),
            writes: task.write_count(),
            bytes: task.bytes_accessed(),
            dependencies: task
                .dependencies()?
                .iter()
                .map(ToString::to_string)
                .collect(),
        };
        rows.row(&row, |out, sep| {
            let TaskRow { id, executor, kind, op, object, start_ns, end_ns, blocks, reads, writes, bytes, dependencies } = &row;
            let dependencies = match (dependencies.is_empty(), sep) {
                (true, ' ') => "-".to_owned(),
                (_, ' ') => dependencies.join(","),
                _ => dependencies.join(" "),
            };
            write!(out, "{id}{sep}{executor}{sep}{kind}{sep}{op}{sep}{object:#x}{sep}{start_ns}{sep}{end_ns}{sep}{blocks}{sep}{reads}{sep}{writes}{sep}{bytes}{sep}{dependencies}")
        })?;
    }
    rows.finish()
}

fn edges(graph: &Graph, mut rows: Rows<'_>) -> Result<()> {
    rows.header(&["from", "to"])?;
    for task in graph.tasks() {
        let task = task?;
        for from in task.dependencies()? {
            let row = EdgeRow {
                from: from.to_string(),
                to: task.id().to_string(),
            };
            rows.row(&row, |out, sep| write!(out, "{}{sep}{}", row.from, row.to))?;
        }
    }
    rows.finish()
}

fn blocks(graph: &Graph, selection: Selection, mut rows: Rows<'_>) -> Result<()> {
    rows.header(&["block", "function", "file", "line"])?;
    each_selected(graph, selection, |task| {
        let mut actions = task.actions()?;
        while let Some(action) = actions.next()? {
            if let Action::Block(block) = action {
                let Place {
                    function,
                    file,
                    line,
                } = Place::of_block(graph.info(), block.id());
                let row = BlockRow {
                    block: block.id().get(),
                    function,
                    file,
                    line,
                };
                let quoted = |text: &str| {
                    if rows.is_csv() {
                        rows::quote(text)
                    } else {
                        contech_plain::line(text).into_owned()
                    }
                };
                let (function, file) = (quoted(&row.function), quoted(&row.file));
                rows.row(&row, |out, sep| {
                    write!(out, "{}{sep}{function}{sep}{file}{sep}{line}", row.block)
                })?;
            }
        }
        Ok(())
    })?;
    rows.finish()
}

fn accesses(graph: &Graph, selection: Selection, mut rows: Rows<'_>) -> Result<()> {
    rows.header(&["access", "address", "size"])?;
    each_selected(graph, selection, |task| {
        let mut actions = task.actions()?;
        while let Some(action) = actions.next()? {
            if let Action::Block(block) = action {
                for access in block.accesses() {
                    let row = AccessRow {
                        write: access.write,
                        address: access.addr,
                        size: access.size,
                    };
                    let letter = if row.write { 'W' } else { 'R' };
                    rows.row(&row, |out, sep| {
                        write!(out, "{letter}{sep}{:#x}{sep}{}", row.address, row.size)
                    })?;
                }
            }
        }
        Ok(())
    })?;
    rows.finish()
}

fn synchronisations(graph: &Graph, selection: Selection, mut rows: Rows<'_>) -> Result<()> {
    rows.header(&["task", "op", "object"])?;
    let mut reader = Reader::new(graph, 1).without_accesses();
    each_selected(graph, selection, |task| {
        each_synchronisation(&mut reader, task, |op, object| {
            let row = SynchronisationRow {
                task: task.id().to_string(),
                op: op.name(),
                object,
            };
            rows.row(&row, |out, sep| {
                write!(out, "{}{sep}{}{sep}{object:#x}", row.task, row.op)
            })
        })
    })?;
    rows.finish()
}

/// Calls `f` with each selected task in program order.
fn each_selected<'g>(
    graph: &'g Graph,
    selection: Selection,
    mut f: impl FnMut(&Task<'g>) -> Result<()>,
) -> Result<()> {
    let context: ContextId = selection.context();
    if graph.context(context).is_none() {
        bail!(
            "the graph has no context {context}; it has {} contexts, counted from 0",
            graph.context_count()
        );
    }
    match selection {
        Selection::Task(id) => f(&graph.task(id)?),
        Selection::Context(context) => graph.tasks_of(context).try_for_each(|task| f(&task?)),
    }
}
