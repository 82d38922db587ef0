//! Columns that Python reads where they are.

use std::collections::HashMap;

use contech_backends::tables::{Kind, Rows, Table, Value};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What stands in columns of numbers and of words for what is not known.
const UNKNOWN: i64 = -1;

/// The numbers of a column.
#[derive(Debug)]
pub(crate) enum Numbers {
    Bool(Vec<u8>),
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

/// The rows of a table so far, as columns.
#[derive(Debug)]
pub(crate) struct Gathered {
    table: &'static Table,
    numbers: Vec<Numbers>,
    /// The words of each column, and their numbers.
    words: Vec<HashMap<String, i32>>,
}

impl Gathered {
    pub(crate) fn new(table: &'static Table) -> Self {
        let empty = |kind| match kind {
            Kind::Int | Kind::MaybeInt => Numbers::I64(Vec::new()),
            Kind::Address => Numbers::U64(Vec::new()),
            Kind::Text => Numbers::I32(Vec::new()),
            Kind::Flag => Numbers::Bool(Vec::new()),
        };
        let kinds = table.columns.iter().map(|column| column.kind);
        Self {
            table,
            words: vec![HashMap::new(); table.columns.len()],
            numbers: kinds.map(empty).collect(),
        }
    }

    /// The columns by name, the words of those that have words, and the names of those whose
    /// numbers may be unknown.
    #[allow(clippy::type_complexity, reason = "what the stub says")]
    pub(crate) fn finish(
        self,
        py: Python<'_>,
    ) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>, Vec<&'static str>)> {
        let words = PyDict::new(py);
        let mut unknown = Vec::new();
        for (column, own) in self.table.columns.iter().zip(self.words) {
            match column.kind {
                Kind::Text => {
                    let mut own: Vec<(String, i32)> = own.into_iter().collect();
                    own.sort_unstable_by_key(|(_, number)| *number);
                    let own = own.into_iter().map(|(word, _)| word);
                    words.set_item(column.name, own.collect::<Vec<_>>())?;
                }
                Kind::MaybeInt => unknown.push(column.name),
                Kind::Int | Kind::Address | Kind::Flag => {}
            }
        }
        let names = self.table.columns.iter().map(|column| column.name);
        Ok((columns(py, names.zip(self.numbers))?, words, unknown))
    }
}

impl Rows for Gathered {
    fn row(&mut self, values: &[Value<'_>]) -> anyhow::Result<()> {
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        for ((numbers, words), value) in self.numbers.iter_mut().zip(&mut self.words).zip(values) {
            match (numbers, *value) {
                (Numbers::I64(column), Value::Int(value)) => column.push(whole(value)),
                (Numbers::I64(column), Value::Maybe(value)) => {
                    column.push(value.map_or(UNKNOWN, whole));
                }
                (Numbers::U64(column), Value::Address(value)) => column.push(value),
                (Numbers::Bool(column), Value::Flag(value)) => column.push(value.into()),
                (Numbers::I32(column), Value::Text("")) => column.push(-1),
                (Numbers::I32(column), Value::Text(text)) => {
                    let next = i32::try_from(words.len())?;
                    let number = match words.get(text) {
                        Some(known) => *known,
                        None => *words.entry(text.to_owned()).or_insert(next),
                    };
                    column.push(number);
                }
                (column, value) => debug_assert!(false, "{value:?} in {column:?}"),
            }
        }
        Ok(())
    }
}
