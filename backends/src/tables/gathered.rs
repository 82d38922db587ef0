//! Rows gathered as columns: those of a Parquet file that are encoded at a time, or all for Python.

use anyhow::Result;
use rustc_hash::FxHashMap;

use super::{Kind, Rows, Table, Value};

/// The values of a column; where they may be unknown, a negative number is none.
#[derive(Debug)]
pub enum Values {
    /// Numbers, and addresses with the bits that they have.
    Int(Vec<i64>),
    /// Words by number.
    Text(Vec<i32>, Words),
    /// Yes or no.
    Flag(Vec<bool>),
}

/// The words of a column, each once.
#[derive(Debug, Default)]
pub struct Words {
    numbers: FxHashMap<String, i32>,
}

impl Words {
    /// The words in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> Vec<&str> {
        let mut all = vec![""; self.numbers.len()];
        for (word, number) in &self.numbers {
            all[number.cast_unsigned() as usize] = word;
        }
        all
    }

    fn number(&mut self, word: &str) -> Result<i32> {
        Ok(match self.numbers.get(word) {
            Some(known) => *known,
            None if word.is_empty() => -1,
            None => {
                let next = i32::try_from(self.numbers.len())?;
                *self.numbers.entry(word.to_owned()).or_insert(next)
            }
        })
    }
}

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
            Kind::Text => Values::Text(Vec::new(), Words::default()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Self { table, columns: table.columns.iter().map(empty).collect(), rows: 0 }
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            match column {
                Values::Int(values) => values.clear(),
                Values::Text(values, words) => {
                    values.clear();
                    words.numbers.clear();
                }
                Values::Flag(values) => values.clear(),
            }
        }
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
                    column.push(words.number(text)?);
                }
                (Values::Flag(column), Value::Flag(value)) => column.push(value),
                (column, value) => debug_assert!(false, "{value:?} in {column:?}"),
            }
        }
        Ok(())
    }
}
