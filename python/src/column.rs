//! Columns that Python reads where they are.

use contech_backends::tables::{Gathered, Kind, Values};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The numbers of a column.
#[derive(Debug)]
pub(crate) enum Numbers {
    Bool(Vec<bool>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
}

/// Numbers that never change: NumPy reads them through `__array_interface__`, without a copy, and
/// keeps the column for as long as it does.
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
            Numbers::Bool(values) => (values.as_ptr().addr(), values.len(), "|b1"),
            Numbers::I32(values) => (values.as_ptr().addr(), values.len(), "<i4"),
            Numbers::U32(values) => (values.as_ptr().addr(), values.len(), "<u4"),
            Numbers::I64(values) => (values.as_ptr().addr(), values.len(), "<i8"),
            Numbers::U64(values) => (values.as_ptr().addr(), values.len(), "<u8"),
        }
    }
}

/// Columns by name.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    columns: impl IntoIterator<Item = (&'static str, Numbers)>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, numbers) in columns {
        table.set_item(name, Column(numbers).into_pyobject(py)?)?;
    }
    Ok(table)
}

/// The columns of a table by name, the words of those that have words, and the names of those whose
/// numbers may be unknown.
#[allow(clippy::type_complexity, reason = "what the stub says")]
pub(crate) fn table(
    py: Python<'_>,
    gathered: Gathered,
) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>, Vec<&'static str>)> {
    let words = PyDict::new(py);
    let (mut all, mut unknown) = (Vec::new(), Vec::new());
    for (column, values) in gathered.table.columns.iter().zip(gathered.columns) {
        let numbers = match values {
            Values::Int(values) if column.kind == Kind::Address => {
                Numbers::U64(values.into_iter().map(i64::cast_unsigned).collect())
            }
            Values::Int(values) => Numbers::I64(values),
            Values::Text(values, own) => {
                words.set_item(column.name, own.into_iter().collect::<Vec<_>>())?;
                Numbers::I32(values)
            }
            Values::Flag(values) => Numbers::Bool(values),
        };
        unknown.extend((column.kind == Kind::MaybeInt).then_some(column.name));
        all.push((column.name, numbers));
    }
    Ok((columns(py, all)?, words, unknown))
}
