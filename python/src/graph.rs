//! A graph: its tables, its accesses, and what the analyses say of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use contech_backends::analysis::{self, Graph as Mapped};
use contech_backends::cli;
use contech_backends::tables::{self as declared, Gathered, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taskgraph::ContextId;

use crate::accesses::Accesses;
use crate::column;
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
        Ok(Self { mapped: Arc::new(mapped), path })
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

    /// A table: its columns, the words of those that have words, and which of them may be unknown.
    #[allow(clippy::type_complexity, reason = "what the stub says")]
    fn table<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Vec<&'static str>)> {
        let only = |table: &'static Table| Ok((table.name == name).then(|| Gathered::new(table)));
        let written = py.detach(|| declared::write(&self.mapped, only));
        let written = written.map_err(|error| failed(&error))?.pop();
        let none = || PyValueError::new_err(format!("a graph has no table {name}"));
        column::table(py, written.ok_or_else(none)?.1)
    }

    /// Batches of the accesses of a context, or of all.
    #[pyo3(signature = (context=None, rows=1 << 18))]
    fn accesses(&self, context: Option<u32>, rows: usize) -> PyResult<Accesses> {
        let contexts: Vec<ContextId> = match context.map(ContextId::new) {
            None => self.mapped.contexts().map(|context| context.id).collect(),
            Some(id) if self.mapped.context(id).is_some() => vec![id],
            Some(id) => {
                return Err(PyValueError::new_err(format!("the graph has no context {id}")));
            }
        };
        Ok(Accesses::new(Arc::clone(&self.mapped), contexts, rows.max(1)))
    }

    /// What an analysis says, as JSON; the options are those of its command.
    fn analyse(&self, py: Python<'_>, name: &str, options: Vec<String>) -> PyResult<String> {
        let said = py.detach(|| cli::registry::answer(name, &options, &self.mapped));
        said.map_err(|error| failed(&error))
    }

    /// Writes the graph for other programs; the options are those of the command `export`.
    fn export(&self, py: Python<'_>, options: Vec<OsString>) -> PyResult<()> {
        let command = ["contech-backend".into(), "export".into(), self.path.clone().into()];
        let words = command.into_iter().chain(options);
        py.detach(|| cli::run(words)).map_err(|error| failed(&error))
    }
}

/// Names of the analyses, and a line about each.
#[pyfunction]
pub(crate) fn analyses() -> Vec<(&'static str, &'static str)> {
    let entries = cli::registry::ENTRIES.iter();
    entries.map(|entry| (entry.name, entry.about)).collect()
}

/// Names of the tables, a line about each, and names of their columns with a line about each.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "what the stub says")]
pub(crate) fn tables() -> Vec<(&'static str, &'static str, Vec<(&'static str, &'static str)>)> {
    let row = |table: &&'static Table| {
        let columns = table.columns.iter().map(|column| (column.name, column.about));
        (table.name, table.about, columns.collect())
    };
    declared::TABLES.iter().map(row).collect()
}
