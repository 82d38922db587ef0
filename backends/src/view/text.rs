//! The terminal form of a view: columns are aligned, with numbers to the right.

use std::io::{self, Write};

use contech_plain::line;

use super::{Cell, Part, Table, units};
use crate::analysis::names;

/// Space between columns.
const GAP: &str = "  ";

pub(super) fn write(parts: &[Part], out: &mut dyn Write) -> io::Result<()> {
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Heading(text) => {
                let (blank, text) = (if at == 0 { "" } else { "\n" }, line(text));
                writeln!(out, "{blank}{text}\n{}", "─".repeat(text.chars().count()))?;
            }
            Part::Line(text) | Part::TextLine(text) => writeln!(out, "{}", line(text))?,
            Part::Table(table) => write_table(table, out)?,
            Part::PageTable(_) | Part::Chart(_) => {}
        }
    }
    Ok(())
}

fn write_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = &table.rows[..table.rows.len().min(table.text_rows)];
    let rows: Vec<Vec<String>> = shown
        .iter()
        // What stands for a control character is as wide as it is long, and nothing of a table is two lines.
        .map(|row| row.iter().map(|cell| line(&show(cell)).into_owned()))
        .map(Iterator::collect)
        .collect();
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|column| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| width(cell));
            cells
                .chain([width(&table.columns[column].title)])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let right: Vec<bool> = (0..widths.len())
        .map(|column| {
            shown
                .iter()
                .filter_map(|row| row.get(column))
                .any(|cell| !matches!(cell, Cell::Text(_) | Cell::Function(_) | Cell::Empty))
        })
        .collect();
    if table.columns.iter().any(|column| !column.title.is_empty()) {
        let titles: Vec<String> = table
            .columns
            .iter()
            .map(|column| column.title.clone())
            .collect();
        write_row(&titles, &widths, &right, out)?;
    }
    for row in &rows {
        write_row(row, &widths, &right, out)?;
    }
    let hidden = table.rows.len() - shown.len();
    if hidden > 0 {
        writeln!(
            out,
            "... {} more (all of them: --format csv or json)",
            units::count(hidden as u64)
        )?;
    }
    Ok(())
}

fn write_row(
    cells: &[String],
    widths: &[usize],
    right: &[bool],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut line = String::new();
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            line.push_str(GAP);
        }
        let padding = " ".repeat(widths[at].saturating_sub(width(cell)));
        if right[at] {
            line.push_str(&padding);
            line.push_str(cell);
        } else {
            line.push_str(cell);
            line.push_str(&padding);
        }
    }
    writeln!(out, "{}", line.trim_end())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn show(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Function(name) => names::label(name),
        Cell::Count(number) => units::count(*number),
        Cell::Number(number) => format!("{number:.2}"),
        Cell::Share(share) => units::share(*share),
        Cell::Rate(share) => format!("{:.3}%", share * 100.0),
        Cell::Bytes(number) => units::bytes(*number),
        Cell::Time(ns) => units::time(*ns),
    }
}

#[cfg(test)]
mod tests {
    use crate::view::{Table, View};

    #[test]
    fn words_align_left_and_numbers_right() {
        let table = Table::of([("main", 7u64), ("work", 1_234_567), ("left out", 1)])
            .text("function", "function", |row| row.0)
            .count("executions", "executions", |row| row.1)
            .table()
            .text_rows(2);
        let mut out = Vec::new();
        View::default()
            .heading("Blocks")
            .table(table)
            .write_text(&mut out)
            .expect("memory");
        let expected = "Blocks\n──────\nfunction  executions\nmain               7\nwork       1,234,567\n... 1 more (all of them: --format csv or json)\n";
        assert_eq!(String::from_utf8(out).expect("utf-8"), expected);
    }
}
