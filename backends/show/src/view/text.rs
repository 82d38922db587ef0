//! The terminal form of a view: columns are aligned, with numbers to the right.

use std::io::{self, Write};

use contech_plain::line;

use super::screen::{HEADING, Screen, TITLE, broken, paragraph, pieces, width};
use super::{Cell, Part, Table, names, units};

/// Space between columns.
const GAP: &str = "  ";

/// Columns of a word that is never broken for a table's sake.
const WORD: usize = 32;

pub(super) fn write(parts: &[Part], out: &mut dyn Write, screen: Screen) -> io::Result<()> {
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Heading(text) => {
                if at > 0 {
                    writeln!(out)?;
                }
                let text = line(text);
                for line in paragraph("", &text, screen.width) {
                    writeln!(out, "{}", screen.styled(HEADING, &line))?;
                }
                writeln!(out, "{}", "─".repeat(width(&text).min(screen.width)))?;
            }
            Part::Line(text) | Part::TextLine(text) => {
                write_lines(&paragraph("", &line(text), screen.width), out)?;
            }
            Part::Drawing(forms) => {
                let fits =
                    |form: &&Vec<String>| form.iter().all(|line| width(line) <= screen.width);
                write_lines(
                    forms.iter().find(fits).or(forms.last()).map_or(&[], |form| form),
                    out,
                )?;
            }
            Part::Table(table) => write_table(table, out, screen)?,
            Part::PageTable(_) | Part::Chart(_) => {}
        }
    }
    Ok(())
}

fn write_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A column as text.
struct Shown<'a> {
    title: &'a str,
    cells: Vec<String>,
    /// Whether it has numbers, which end below each other.
    right: bool,
}

impl Shown<'_> {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(String::as_str).chain([self.title])
    }

    /// Whether it has bars or shades.
    fn is_picture(&self) -> bool {
        let drawn = |c: char| matches!(c, '█' | '▓' | '▒' | '░' | '·' | ' ');
        self.cells.iter().any(|cell| !cell.is_empty())
            && self.cells.iter().all(|cell| cell.chars().all(drawn))
    }

    /// The columns of the widest cell.
    fn widest(&self) -> usize {
        self.all().map(width).max().unwrap_or(0)
    }

    /// The columns of the widest part that stays in one line. Numbers stay whole.
    fn narrowest(&self) -> usize {
        let words =
            |text: &str| text.split(' ').flat_map(|word| pieces(word, WORD)).map(width).max();
        let whole = |text: &str| Some(width(text));
        let cells =
            self.cells.iter().filter_map(|cell| if self.right { whole(cell) } else { words(cell) });
        cells.chain(words(self.title)).max().unwrap_or(0)
    }
}

fn write_table(table: &Table, out: &mut dyn Write, screen: Screen) -> io::Result<()> {
    let rows = &table.rows[..table.rows.len().min(table.text_rows)];
    let mut columns: Vec<Shown<'_>> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells = || rows.iter().filter_map(|row| row.get(at));
            let words =
                |cell: &Cell| matches!(cell, Cell::Text(_) | Cell::Function(_) | Cell::Empty);
            Shown {
                title: &column.title,
                // What stands for a control character is as wide as it is long, and nothing of a
                // table is two lines.
                cells: cells().map(|cell| line(&show(cell)).into_owned()).collect(),
                right: !cells().all(words),
            }
        })
        .collect();
    if too_wide(&columns, screen.width) {
        // A picture says what the numbers beside it say.
        columns.retain(|column| !column.is_picture());
    }
    match widths(&columns, screen.width) {
        Some(widths) => write_rows(&columns, &widths, out, screen)?,
        None => write_records(&columns, out, screen)?,
    }
    let hidden = table.rows.len() - rows.len();
    if hidden > 0 {
        let more = units::count(hidden as u64);
        let more = format!("... {more} more (all of them: --format csv or json)");
        write_lines(&paragraph("", &more, screen.width), out)?;
    }
    Ok(())
}

fn too_wide(columns: &[Shown<'_>], most: usize) -> bool {
    let gaps = columns.len().saturating_sub(1) * GAP.len();
    columns.iter().map(Shown::widest).sum::<usize>() + gaps > most
}

/// The widths of columns that together take at most `most`: the widest ones become narrower. `None`
/// if there are none.
fn widths(columns: &[Shown<'_>], most: usize) -> Option<Vec<usize>> {
    let room = most.checked_sub(columns.len().saturating_sub(1) * GAP.len())?;
    let mut widths: Vec<usize> = columns.iter().map(Shown::widest).collect();
    if widths.iter().sum::<usize>() <= room {
        return Some(widths);
    }
    let narrowest: Vec<usize> = columns.iter().map(Shown::narrowest).collect();
    if narrowest.iter().sum::<usize>() > room {
        return None;
    }
    // One column less each time. A name of megabytes does not make that long.
    widths.iter_mut().for_each(|width| *width = (*width).min(room));
    while widths.iter().sum::<usize>() > room {
        let can = |at: &usize| widths[*at] > narrowest[*at];
        let at = (0..widths.len()).filter(can).max_by_key(|&at| widths[at])?;
        widths[at] -= 1;
    }
    Some(widths)
}

/// Writes the titles and the rows. Each takes as many lines as its longest cell.
fn write_rows(
    columns: &[Shown<'_>],
    widths: &[usize],
    out: &mut dyn Write,
    screen: Screen,
) -> io::Result<()> {
    let titles = columns.iter().any(|column| !column.title.is_empty()).then_some(None);
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in titles.into_iter().chain((0..rows).map(Some)) {
        let cell = |column: &Shown<'_>, width| match row {
            Some(row) => broken(&column.cells[row], width, 0),
            None => broken(column.title, width, 0),
        };
        let cells: Vec<_> =
            columns.iter().zip(widths).map(|(column, &width)| cell(column, width)).collect();
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for ((column, cell), &columns) in columns.iter().zip(&cells).zip(widths) {
                let text = cell.get(at).map_or("", String::as_str);
                let padding = " ".repeat(columns.saturating_sub(width(text)));
                let text = match row {
                    None if !text.is_empty() => screen.styled(TITLE, text),
                    _ => text.to_owned(),
                };
                line += &if column.right { padding + &text } else { text + &padding };
                line += GAP;
            }
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(())
}

/// Writes each row as a paragraph of titles and values, where the columns do not fit beside each
/// other.
fn write_records(columns: &[Shown<'_>], out: &mut dyn Write, screen: Screen) -> io::Result<()> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells = columns.iter().map(|column| (column.title, column.cells[row].as_str()));
        let values = cells.filter(|(_, cell)| !cell.is_empty());
        let values = values.map(|(title, cell)| format!("{title} {cell}").trim_start().to_owned());
        let values: Vec<String> = values.collect();
        for (at, line) in broken(&values.join(", "), screen.width - 2, 0).iter().enumerate() {
            let indent = if at == 0 { "" } else { "  " };
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(())
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
    use crate::view::{Screen, Table, View};

    fn text(view: &View, width: usize, colour: bool) -> String {
        let mut out = Vec::new();
        view.write_text(&mut out, Screen { width, colour }).expect("memory");
        String::from_utf8(out).expect("utf-8")
    }

    #[test]
    fn words_align_left_and_numbers_right() {
        let table = Table::of([("main", 7u64), ("work", 1_234_567), ("left out", 1)])
            .text("function", "function", |row| row.0)
            .count("executions", "executions", |row| row.1)
            .table()
            .text_rows(2);
        let view = View::default().heading("Blocks").table(table);
        let expected = "Blocks\n──────\nfunction  executions\nmain               7\nwork       1,234,567\n... 1 more (all of them: --format csv or json)\n";
        assert_eq!(text(&view, 80, false), expected);
        let coloured = text(&view, 80, true);
        assert!(coloured.starts_with("\u{1b}[1mBlocks\u{1b}[0m\n"), "{coloured:?}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), expected);
    }

    #[test]
    fn a_table_that_is_too_wide_has_cells_of_several_lines_and_then_records() {
        let rows = [("ns::first<int>", "waits for second", 12u64), ("b", "c", 3)];
        let table = Table::of(rows)
            .text("function", "function", |row| row.0)
            .text("what it does", "what", |row| row.1)
            .count("executions", "executions", |row| row.2)
            .table();
        let view = View::default().table(table);
        let expected = "function        what it    executions\n                does\nns::first<int>  waits for          12\n                second\nb               c                   3\n";
        assert_eq!(text(&view, 37, false), expected);
        let expected = "function ns::first<int>,\n  what it does waits for\n  second, executions 12\nfunction b, what it does c,\n  executions 3\n";
        assert_eq!(text(&view, 30, false), expected);
    }

    #[test]
    fn what_is_in_a_name_neither_colours_nor_breaks_a_line() {
        let table = Table::of([("a\u{1b}[31m\nb", 1u64)])
            .text("function", "function", |row| row.0)
            .count("n", "n", |row| row.1)
            .table();
        let shown = text(&View::default().table(table).line("x\u{1b}y"), 80, true);
        assert!(shown.contains("a\\u001b[31m\\u000ab  1\n"), "{shown:?}");
        assert!(shown.ends_with("x\\u001by\n"), "{shown:?}");
    }

    #[test]
    fn the_widest_drawing_that_fits_is_shown() {
        let forms = vec![vec!["─".repeat(60)], vec!["─".repeat(30)]];
        let view = View::default().drawing(forms);
        assert_eq!(text(&view, 60, false).trim_end(), "─".repeat(60));
        assert_eq!(text(&view, 59, false).trim_end(), "─".repeat(30));
    }
}
