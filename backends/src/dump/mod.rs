//! `dump`: the raw contents of a graph, streamed line by line.

mod rows;
mod selection;

use std::io;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use clap::{ArgMatches, FromArgMatches};
use taskgraph::{Access, Action, BlockExec, Reader, TaskId};

use crate::analysis::locks::each_synchronisation;
use crate::analysis::source::Place;
use crate::analysis::{Graph, Task};
use crate::cli::Common;
use crate::output;
use crate::view::Format;

use rows::Rows;
use rows::Value::{Address, Name, Number, Word, Words, Write};
use selection::Selection;

/// Options of `dump`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
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

/// Runs the subcommand.
pub(crate) fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let graph = options.common.open()?;
    let format = if options.json { Format::Json } else { options.common.to.format };
    output::to(options.common.to.output.as_deref(), |out| options.what.write(&graph, format, out))
}

impl What {
    fn write(&self, graph: &Graph, format: Format, out: &mut dyn io::Write) -> Result<()> {
        let begin = |out, name, columns| Rows::new(out, format, name, columns);
        let mut rows;
        if self.tasks {
            let columns =
                "id executor kind op object start_ns end_ns blocks reads writes bytes dependencies";
            rows = begin(out, "tasks", columns)?;
            tasks(graph, &mut rows)?;
        } else if self.edges {
            rows = begin(out, "edges", "from to")?;
            edges(graph, &mut rows)?;
        } else if let Some(selection) = self.blocks {
            rows = begin(out, "blocks", "block function file line")?;
            blocks(graph, selection, &mut rows)?;
        } else if let Some(selection) = self.accesses {
            rows = begin(out, "accesses", "access address size")?;
            accesses(graph, selection, &mut rows)?;
        } else if let Some(selection) = self.synchronisations {
            rows = begin(out, "synchronisations", "task op object")?;
            synchronisations(graph, selection, &mut rows)?;
        } else {
            bail!(
                "nothing chosen: give --tasks, --edges, --blocks, --accesses or --synchronisations"
            )
        }
        rows.finish()
    }
}

fn tasks(graph: &Graph, rows: &mut Rows<'_>) -> Result<()> {
    for task in graph.tasks() {
        let task = task?;
        let dependencies: Vec<String> =
            task.dependencies()?.iter().map(ToString::to_string).collect();
        rows.row(&[
            Word(&task.id().to_string()),
            Number(task.executor().get().into()),
            Word(task.kind().name()),
            Word(task.op().name()),
            Address(task.object()),
            Number(task.start_ns()),
            Number(task.end_ns()),
            Number(task.block_count()),
            Number(task.read_count()),
            Number(task.write_count()),
            Number(task.bytes_accessed()),
            Words(&dependencies),
        ])?;
    }
    Ok(())
}

fn edges(graph: &Graph, rows: &mut Rows<'_>) -> Result<()> {
    for task in graph.tasks() {
        let task = task?;
        for from in task.dependencies()? {
            rows.row(&[Word(&from.to_string()), Word(&task.id().to_string())])?;
        }
    }
    Ok(())
}

fn blocks(graph: &Graph, selection: Selection, rows: &mut Rows<'_>) -> Result<()> {
    each_block(graph, selection, |block| {
        let place = Place::of_block(graph.info(), block.id());
        rows.row(&[
            Number(block.id().get().into()),
            Name(&place.function),
            Name(&place.file),
            Number(place.line.into()),
        ])
    })
}

fn accesses(graph: &Graph, selection: Selection, rows: &mut Rows<'_>) -> Result<()> {
    each_block(graph, selection, |block| {
        let row = |access: Access| [Write(access.write), Address(access.addr), Number(access.size)];
        block.accesses().try_for_each(|access| rows.row(&row(access)))
    })
}

fn synchronisations(graph: &Graph, selection: Selection, rows: &mut Rows<'_>) -> Result<()> {
    let mut reader = Reader::new(graph, 1).without_accesses();
    each_selected(graph, selection, |task| {
        let id = task.id().to_string();
        each_synchronisation(&mut reader, task, |op, object| {
            rows.row(&[Word(&id), Word(op.name()), Address(object)])
        })
    })
}

/// Calls `f` with each block execution of the selected tasks in program order.
fn each_block(
    graph: &Graph,
    selection: Selection,
    mut f: impl FnMut(&BlockExec<'_>) -> Result<()>,
) -> Result<()> {
    each_selected(graph, selection, |task| {
        let mut done = Ok(());
        task.try_for_each_action(|action| {
            if let Action::Block(block) = action {
                done = f(&block);
            }
            match done {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        done
    })
}

/// Calls `f` with each selected task in program order.
fn each_selected<'g>(
    graph: &'g Graph,
    selection: Selection,
    mut f: impl FnMut(&Task<'g>) -> Result<()>,
) -> Result<()> {
    let (Selection::Task(TaskId { context, .. }) | Selection::Context(context)) = selection;
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
