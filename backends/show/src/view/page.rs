//! The form of a view that the HTML report draws: raw values with their units, which the page's
//! script formats.

use serde_json::{Value, json};

use super::chart::Unit;
use super::{Cell, Column, Part, Table, View, names};

/// The most rows of a table in a page; the page says how many there are.
const ROWS: usize = 200;
/// The most characters of a text in a page, because templates make names of thousands.
const TEXT: usize = 160;

impl View {
    /// The form for the report: its parts in reading order. A table has its first rows, and the
    /// number of all.
    #[must_use]
    pub fn to_page(&self) -> Vec<Value> {
        let part = |part: &Part| match part {
            Part::Heading(text) => Some(json!({"part": "heading", "text": text})),
            Part::TextLine(_) | Part::Drawing(_) => None,
            Part::Line(text) if text.is_empty() => None,
            Part::Line(text) => Some(json!({"part": "line", "text": text})),
            Part::Chart(chart) => Some(json!({"part": "chart", "chart": chart})),
            Part::Table(table) | Part::PageTable(table) => Some(to_table(table)),
        };
        self.parts.iter().filter_map(part).collect()
    }
}

fn to_table(table: &Table) -> Value {
    let column = |(at, column): (usize, &Column)| {
        let unit = table.rows.iter().filter_map(|row| row.get(at)).find_map(unit);
        // Words have no unit.
        match unit {
            Some(unit) => json!({"title": column.title, "unit": unit}),
            None => json!({"title": column.title}),
        }
    };
    let columns: Vec<Value> = table.columns.iter().enumerate().map(column).collect();
    let rows = table.rows.iter().take(ROWS);
    let rows: Vec<Vec<Value>> = rows.map(|row| row.iter().map(value).collect()).collect();
    json!({"part": "table", "columns": columns, "rows": rows, "total": table.rows.len()})
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
        let table = &parts[1];
        let units = [0, 1, 2].map(|at| table["columns"][at].get("unit"));
        assert_eq!(units, [None, Some(&json!("time")), None]);
        assert_eq!(table["rows"].as_array().map(Vec::len), Some(ROWS));
        assert_eq!(table["total"], 1000);
        assert_eq!(table["rows"][7], json!(["f", 7, null]));
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = "é".repeat(TEXT + 1);
        assert_eq!(cut(&name), format!("{}…", "é".repeat(TEXT)));
        assert_eq!(cut("short"), "short");
    }
}
