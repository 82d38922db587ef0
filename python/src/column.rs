//! Columns of numbers that Python reads where they are.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use taskgraph::TaskId;

/// A task's number in tables: its context in front of its place in the context.
pub(crate) fn number(id: TaskId) -> i64 {
    (u64::from(id.context.get()) << 32 | u64::from(id.seq)).cast_signed()
}

/// The numbers of a column.
#[derive(Debug)]
pub(crate) enum Numbers {
    U8(Vec<u8>),
    Bool(Vec<u8>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
}

/// Numbers that never change: NumPy reads them through `__array_interface__`, without a copy, and keeps the column for as
/// long as it does.
#[pyclass(frozen, module = "contech._contech")]
#[derive(Debug)]
pub(crate) struct Column(pub(crate) Numbers);

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.place().1
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, length, kind) = self.place();
        let about = PyDict::new(py);
        about.set_item("version", 3)?;
        about.set_item("shape", (length,))?;
        about.set_item("typestr", kind)?;
        about.set_item("data", (address, true))?; // read only
        Ok(about)
    }
}

impl Column {
    /// The address of the first number, how many there are, and their type as NumPy calls it.
    fn place(&self) -> (usize, usize, &'static str) {
        match &self.0 {
            Numbers::U8(values) => (values.as_ptr().addr(), values.len(), "|u1"),
            Numbers::Bool(values) => (values.as_ptr().addr(), values.len(), "|b1"),
            Numbers::U32(values) => (values.as_ptr().addr(), values.len(), "<u4"),
            Numbers::I64(values) => (values.as_ptr().addr(), values.len(), "<i8"),
            Numbers::U64(values) => (values.as_ptr().addr(), values.len(), "<u8"),
        }
    }
}

/// Columns by name.
pub(crate) fn table<'py>(
    py: Python<'py>,
    columns: Vec<(&'static str, Numbers)>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, numbers) in columns {
        table.set_item(name, Column(numbers).into_pyobject(py)?)?;
    }
    Ok(table)
}
