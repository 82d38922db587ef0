//! Rows gathered as columns: those of a Parquet file that are encoded at a time, or all for Python.

use anyhow::Result;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::{Kind, Rows, Table, Value};

/// The values of a column; where they may be unknown, a negative number is none.
#[derive(Debug)]
pub enum Values {
    /// Numbers, and addresses with the bits that they have.
    Int(Vec<i64>),
    /// Words by number.
    Text(Vec<i32>, Numbered<String>),
    /// Yes or no.
    Flag(Vec<bool>),
}

/// Things by number, in the order in which they came.
pub type Numbered<T> = IndexSet<T, FxBuildHasher>;

/// Rows of a table, as columns.
#[derive(Debug)]
pub struct Gathered {
    /// The table.
    pub table: &'static Table,
    /// In the order of the table's columns.
    pub columns: Vec<Values>,
    /// Number of rows.
    pub rows: usize,
}

impl Gathered {
    /// No rows.
    #[must_use]
    pub fn new(table: &'static Table) -> Self {
        let empty = |column: &super::Column| match column.kind {
            Kind::Int | Kind::MaybeInt | Kind::Address => Values::Int(Vec::new()),
            Kind::Text => Values::Text(Vec::new(), Numbered::default()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Self { table, columns: table.columns.iter().map(empty).collect(), rows: 0 }
    }
}

impl Rows for Gathered {
    #[inline]
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        // A number over 63 bits is the largest of these.
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.rows += 1;
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, *value) {
                (Values::Int(column), Value::Int(value)) => column.push(whole(value)),
                (Values::Int(column), Value::Maybe(value)) => column.push(value.map_or(-1, whole)),
                (Values::Int(column), Value::Address(value)) => column.push(value.cast_signed()),
                (Values::Text(column, words), Value::Text(text)) => {
                    let number = match words.get_index_of(text) {
                        None if !text.is_empty() => Some(words.insert_full(text.to_owned()).0),
                        known => known,
                    };
                    column.push(number.map_or(Ok(-1), i32::try_from)?);
                }
                (Values::Flag(column), Value::Flag(value)) => column.push(value),
                (column, value) => debug_assert!(false, "{value:?} in {column:?}"),
            }
        }
        Ok(())
    }
}
