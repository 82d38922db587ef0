//! The form of a view that the HTML report draws: raw values with their units, which the page's
//! script formats.

use serde::Serialize;
use serde_json::Value;

use super::chart::{Chart, Unit};
use super::{Cell, Part, Table, View, names};

/// The most rows of a table in a page; the page says how many there are.
const ROWS: usize = 200;
/// The most characters of a text in a page, because templates make names of thousands.
const TEXT: usize = 160;

/// One part of a result, in reading order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub enum PagePart {
    /// A title.
    Heading {
        /// Its words.
        text: String,
    },
    /// A sentence.
    Line {
        /// Its words.
        text: String,
    },
    /// A picture.
    Chart {
        /// What to draw.
        chart: Chart,
    },
    /// A table.
    Table {
        /// Its columns.
        columns: Vec<PageColumn>,
        /// Its first rows.
        rows: Vec<Vec<Value>>,
        /// Number of its rows.
        total: usize,
    },
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageColumn {
    /// Its title.
    pub title: String,
    /// Unit of its values; absent for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

impl View {
    /// The form for the report.
    #[must_use]
    pub fn to_page(&self) -> Vec<PagePart> {
        let part = |part: &Part| match part {
            Part::Heading(text) => Some(PagePart::Heading { text: text.clone() }),
            Part::TextLine(_) | Part::Drawing(_) => None,
            Part::Line(text) if text.is_empty() => None,
            Part::Line(text) => Some(PagePart::Line { text: text.clone() }),
            Part::Chart(chart) => Some(PagePart::Chart { chart: chart.clone() }),
            Part::Table(table) | Part::PageTable(table) => Some(to_table(table)),
        };
        self.parts.iter().filter_map(part).collect()
    }
}

fn to_table(table: &Table) -> PagePart {
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        let unit = table.rows.iter().filter_map(|row| row.get(at)).find_map(unit);
        PageColumn { title: column.title.clone(), unit }
    });
    let row = |row: &Vec<Cell>| row.iter().map(value).collect();
    PagePart::Table {
        columns: columns.collect(),
        rows: table.rows.iter().take(ROWS).map(row).collect(),
        total: table.rows.len(),
    }
}

fn unit(cell: &Cell) -> Option<Unit> {
    match cell {
        Cell::Empty | Cell::Text(_) | Cell::Function(_) => None,
        Cell::Count(_) => Some(Unit::Count),
        Cell::Number(_) => Some(Unit::Number),
        Cell::Share(_) | Cell::Rate(_) => Some(Unit::Share),
        Cell::Bytes(_) => Some(Unit::Bytes),
        Cell::Time(_) => Some(Unit::Time),
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => Value::from(cut(text)),
        Cell::Function(name) => Value::from(label(name)),
        Cell::Count(number) | Cell::Bytes(number) | Cell::Time(number) => Value::from(*number),
        Cell::Number(number) | Cell::Share(number) | Cell::Rate(number) => {
            Value::from((number * 1e6).round() / 1e6)
        }
    }
}

/// What the page calls a function, whose name may be long even without arguments of templates.
#[must_use]
pub fn label(function: &str) -> String {
    cut(&names::label(function))
}

/// Shortens the long names that templates make.
#[must_use]
pub fn cut(name: &str) -> String {
    match name.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_units_and_says_how_many_rows_there_are() {
        let table = Table::of(0..1000u64)
            .text("function", "function", |_| "f")
            .time("time", "ns", |i| *i)
            .cell("", "none", |_| Cell::Empty)
            .table();
        let view = View::default().heading("A").line("").table(table);
        let parts = view.to_page();
        assert_eq!(parts.len(), 2, "an empty line is no part");
        let PagePart::Table { columns, rows, total } = &parts[1] else {
            panic!("the table comes last");
        };
        let units: Vec<_> = columns.iter().map(|column| column.unit).collect();
        assert_eq!(units, [None, Some(Unit::Time), None]);
        assert_eq!((rows.len(), *total), (ROWS, 1000));
        assert_eq!(rows[7], [Value::from("f"), Value::from(7), Value::Null]);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = "é".repeat(TEXT + 1);
        assert_eq!(cut(&name), format!("{}…", "é".repeat(TEXT)));
        assert_eq!(cut("short"), "short");
    }
}
