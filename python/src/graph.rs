//! A graph: its tables, its accesses, and what the analyses say of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use contech_backends::analysis::{self, Graph as Mapped};
use contech_backends::cli;
use contech_backends::export::code_of;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taskgraph::{BlockCounts, ContextId, SyncOp, TaskKind};

use crate::accesses::Accesses;
use crate::column::{Numbers, number, table};
use crate::failed;

/// A task graph in a mapped file.
#[pyclass(frozen, module = "contech._contech")]
#[derive(Debug)]
pub(crate) struct Graph {
    mapped: Arc<Mapped>,
    path: PathBuf,
}

#[pymethods]
impl Graph {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let mapped = analysis::open(&path).map_err(|error| failed(&error))?;
        Ok(Self {
            mapped: Arc::new(mapped),
            path,
        })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Facts about the run, and the totals, as JSON.
    fn about(&self) -> PyResult<String> {
        let about = (self.mapped.meta(), self.mapped.summary());
        serde_json::to_string(&about).map_err(|error| failed(&error.into()))
    }

    /// Remarks for who reads any result.
    fn warnings(&self) -> Vec<String> {
        analysis::warnings(&self.mapped)
    }

    /// Every task, by context.
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = py.detach(|| tasks(&self.mapped));
        table(py, columns.map_err(|error| failed(&error.into()))?)
    }

    /// Every edge but those of program order.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = py.detach(|| edges(&self.mapped));
        table(py, columns.map_err(|error| failed(&error.into()))?)
    }

    /// The functions of the program: name, file, line.
    fn functions(&self) -> Vec<(String, String, u32)> {
        let info = self.mapped.info();
        let file = |at: u32| info.files.get(at as usize).cloned().unwrap_or_default();
        let functions = info.functions.iter();
        functions
            .map(|function| (function.name.clone(), file(function.file), function.line))
            .collect()
    }

    /// The contexts: number, name, tasks, first and last time, creating task.
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn contexts(&self) -> Vec<(u32, String, u32, u64, u64, Option<i64>)> {
        let row = |context: taskgraph::Context| {
            (
                context.id.get(),
                context.name,
                context.task_count,
                context.first_ns,
                context.last_ns,
                context.creator.map(number),
            )
        };
        self.mapped.contexts().map(row).collect()
    }

    /// Batches of the accesses of a context, or of all.
    #[pyo3(signature = (context=None, rows=1 << 18))]
    fn accesses(&self, context: Option<u32>, rows: usize) -> PyResult<Accesses> {
        let contexts: Vec<ContextId> = match context.map(ContextId::new) {
            None => self.mapped.contexts().map(|context| context.id).collect(),
            Some(id) if self.mapped.context(id).is_some() => vec![id],
            Some(id) => {
                return Err(PyValueError::new_err(format!(
                    "the graph has no context {id}"
                )));
            }
        };
        Ok(Accesses::new(
            Arc::clone(&self.mapped),
            contexts,
            rows.max(1),
        ))
    }

    /// What an analysis says, as JSON; the options are those of its command.
    fn analyse(&self, py: Python<'_>, name: &str, options: Vec<String>) -> PyResult<String> {
        let said = py.detach(|| cli::registry::answer(name, &options, &self.mapped));
        said.map_err(|error| failed(&error))
    }

    /// Writes the graph for other programs; the options are those of the command `export`.
    fn export(&self, py: Python<'_>, options: Vec<OsString>) -> PyResult<()> {
        let command = [
            "contech-backend".into(),
            "export".into(),
            self.path.clone().into(),
        ];
        let words = command.into_iter().chain(options);
        py.detach(|| cli::run(words))
            .map_err(|error| failed(&error))
    }
}

/// The columns of the tasks; a function that is not known is -1, and a line 0.
fn tasks(graph: &Mapped) -> taskgraph::Result<Vec<(&'static str, Numbers)>> {
    let (mut id, mut object, mut function) = (Vec::new(), Vec::new(), Vec::new());
    let (mut context, mut seq, mut executor) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kind, mut operation, mut line) = (Vec::new(), Vec::new(), Vec::new());
    let mut counts: [Vec<u64>; 7] = Default::default();
    let mut blocks = BlockCounts::new();
    for own in graph.contexts() {
        for task in graph.tasks_of(own.id) {
            let task = task?;
            id.push(number(task.id()));
            context.push(task.id().context.get());
            seq.push(task.id().seq);
            executor.push(task.executor().get());
            kind.push(task.kind() as u8);
            operation.push(task.op() as u8);
            object.push(task.object());
            let values = [
                task.start_ns(),
                task.end_ns(),
                task.block_count(),
                task.read_count(),
                task.write_count(),
                task.bytes_accessed(),
                task.action_count(),
            ];
            counts
                .iter_mut()
                .zip(values)
                .for_each(|(column, value)| column.push(value));
            blocks.clear();
            if !task.spans().is_empty() {
                task.count_blocks(&mut blocks)?;
            }
            let code = code_of(graph.info(), &blocks);
            function.push(code.map_or(-1, |code| i64::from(code.0.get())));
            line.push(code.map_or(0, |code| code.1));
        }
    }
    let names = [
        "start_ns", "end_ns", "blocks", "reads", "writes", "bytes", "actions",
    ];
    let mut columns = vec![
        ("task", Numbers::I64(id)),
        ("context", Numbers::U32(context)),
        ("seq", Numbers::U32(seq)),
        ("executor", Numbers::U32(executor)),
        ("kind", Numbers::U8(kind)),
        ("operation", Numbers::U8(operation)),
        ("object", Numbers::U64(object)),
    ];
    columns.extend(names.into_iter().zip(counts.map(Numbers::U64)));
    columns.push(("function", Numbers::I64(function)));
    columns.push(("line", Numbers::U32(line)));
    Ok(columns)
}

fn edges(graph: &Mapped) -> taskgraph::Result<Vec<(&'static str, Numbers)>> {
    let (mut tasks, mut contexts, mut kinds) = <([Vec<_>; 2], [Vec<_>; 2], [Vec<_>; 2])>::default();
    for own in graph.contexts() {
        for task in graph.tasks_of(own.id) {
            let task = task?;
            for &before in task.stored_dependencies() {
                let ends = [
                    (before, task.other(before)?.kind()),
                    (task.id(), task.kind()),
                ];
                for (end, (id, kind)) in ends.into_iter().enumerate() {
                    tasks[end].push(number(id));
                    contexts[end].push(id.context.get());
                    kinds[end].push(kind as u8);
                }
            }
        }
    }
    let names = ["from_task", "to_task"].into_iter();
    let mut columns: Vec<_> = names.zip(tasks.map(Numbers::I64)).collect();
    columns.extend(
        ["from_context", "to_context"]
            .into_iter()
            .zip(contexts.map(Numbers::U32)),
    );
    columns.extend(
        ["from_kind", "to_kind"]
            .into_iter()
            .zip(kinds.map(Numbers::U8)),
    );
    Ok(columns)
}

/// The names of kinds and operations by number.
#[pyfunction]
pub(crate) fn names() -> (Vec<String>, Vec<String>) {
    let of = |named: Vec<(usize, &'static str)>| {
        let most = named
            .iter()
            .map(|named| named.0)
            .max()
            .map_or(0, |most| most + 1);
        // Categories of pandas must differ.
        let mut names: Vec<String> = (0..most).map(|at| format!("unknown {at}")).collect();
        for (at, name) in named {
            name.clone_into(&mut names[at]);
        }
        names
    };
    let kinds = TaskKind::ALL
        .iter()
        .map(|kind| (*kind as usize, kind.name()));
    let operations = SyncOp::ALL.iter().map(|op| (*op as usize, op.name()));
    (of(kinds.collect()), of(operations.collect()))
}

/// Names of the analyses, and a line about each.
#[pyfunction]
pub(crate) fn analyses() -> Vec<(&'static str, &'static str)> {
    let entries = cli::registry::ENTRIES.iter();
    entries.map(|entry| (entry.name, entry.about)).collect()
}
