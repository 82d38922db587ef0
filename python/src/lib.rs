//! The part of the Python package `contech` that is not Python: the graph and its analyses. What a
//! user sees is in `contech/__init__.py`.

mod accesses;
mod column;
mod graph;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use taskgraph::ErrorKind;

/// What went wrong, as an exception.
fn failed(error: &anyhow::Error) -> PyErr {
    let text = format!("{error:#}");
    let of_the_system = |cause: &(dyn std::error::Error + 'static)| {
        let graph = cause.downcast_ref::<taskgraph::Error>();
        let io = |error: &taskgraph::Error| matches!(error.kind(), ErrorKind::Io { .. });
        cause.is::<std::io::Error>() || graph.is_some_and(io)
    };
    match error.chain().any(of_the_system) {
        true => PyOSError::new_err(text),
        false => PyValueError::new_err(text),
    }
}

/// The module.
#[pymodule]
fn _contech(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<accesses::Accesses>()?;
    module.add_class::<column::Column>()?;
    module.add_function(wrap_pyfunction!(graph::tables, module)?)?;
    module.add_function(wrap_pyfunction!(graph::analyses, module)?)
}
