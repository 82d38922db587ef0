//! The form of a result before it is text or CSV: headings, sentences, key/value pairs, and tables
//! of typed cells.
//!
//! An analysis returns plain data and describes it as a [`View`]; it never prints. JSON comes from
//! the data itself.

pub mod chart;
pub mod csv;
pub mod names;
pub mod page;
pub mod screen;
pub mod states;
mod text;
pub mod units;

use std::io;

use anyhow::Result;
use serde::Serialize;

pub use chart::{Axis, Chart, Flame, Series, Unit};
pub use screen::Screen;
pub use screen::{fail, say};

/// A result that can be shown: as JSON by `Serialize`, as text and CSV by a [`View`].
pub trait Render: Serialize {
    /// Describes the result for people.
    fn view(&self) -> View;
}

/// The forms of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned tables for a terminal.
    #[default]
    Text,
    /// One JSON object: the data in full.
    Json,
    /// The main table, raw numbers, comma-separated.
    Csv,
}

/// The parts of a result in reading order.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct View {
    parts: Vec<Part>,
    csv: Option<Table>,
}

#[derive(Clone, Debug)]
enum Part {
    Heading(String),
    Line(String),
    Table(Table),
    /// A line of text that the page shows in another way.
    TextLine(String),
    /// A picture of characters, in several widths, the widest first.
    Drawing(Vec<Vec<String>>),
    /// A table that text shows in another way.
    PageTable(Table),
    Chart(Chart),
}

/// Rows of typed cells under named columns.
#[derive(Clone, Debug)]
#[must_use]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// The most rows that are shown as text; CSV has all.
    text_rows: usize,
}

#[derive(Clone, Debug)]
struct Column {
    /// Header in text.
    title: String,
    /// Header in CSV: the JSON key, with the unit.
    key: String,
}

/// One value and its kind, which decides how text shows it; CSV always has the raw value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Words.
    Text(String),
    /// A function of the program, shown by its short name.
    Function(String),
    /// A count, shown with thousands separators.
    Count(u64),
    /// A number, shown with two decimals.
    Number(f64),
    /// A share of one, shown in percent.
    Share(f64),
    /// A share of one, shown in percent with three decimals: for columns to compare.
    Rate(f64),
    /// Bytes, shown with a binary unit.
    Bytes(u64),
    /// Nanoseconds, shown in a fitting unit.
    Time(u64),
}

impl View {
    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// A title, underlined in text.
    pub fn heading(self, text: impl Into<String>) -> Self {
        self.with(Part::Heading(text.into()))
    }

    /// A sentence or any other line of text.
    pub fn line(self, text: impl Into<String>) -> Self {
        self.with(Part::Line(text.into()))
    }

    /// Sets the CSV form, if it is not the first table of the text.
    pub fn csv(mut self, table: Table) -> Self {
        self.csv = Some(table);
        self
    }

    /// A table; the first one of a view is its CSV form unless [`View::csv`] gives another.
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// A line that only the terminal form has.
    pub fn line_in_text(self, text: impl Into<String>) -> Self {
        self.with(Part::TextLine(text.into()))
    }

    /// A picture of characters that only the terminal form has, in several widths, the widest
    /// first.
    pub fn drawing(self, forms: Vec<Vec<String>>) -> Self {
        self.with(Part::Drawing(forms))
    }

    /// A table that only the report has.
    pub fn table_in_page(self, table: Table) -> Self {
        self.with(Part::PageTable(table))
    }

    /// A picture for the report; text and CSV leave it out.
    pub fn chart(self, chart: Chart) -> Self {
        self.with(Part::Chart(chart))
    }

    /// Writes the terminal form. What a terminal would obey in names is shown instead.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn io::Write, screen: Screen) -> io::Result<()> {
        text::write(&self.parts, out, screen)
    }

    /// Writes the CSV form.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn io::Write) -> Result<()> {
        let first = self.parts.iter().find_map(|part| match part {
            Part::Table(table) => Some(table),
            _ => None,
        });
        self.csv.as_ref().or(first).map_or(Ok(()), |table| csv::write(table, out))
    }
}

/// A table that gets its columns one by one: a title for text and the page, a key for CSV, and a
/// value of each row.
#[derive(Clone, Debug)]
#[must_use]
pub struct Columns<R> {
    of: Vec<R>,
    table: Table,
}

/// Adds a column of one kind of cell.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $value:ty => $cell:ident,)*) => {$(
        $(#[$doc])*
        pub fn $name<T: Into<$value>>(self, title: &str, key: &str, value: impl Fn(&R) -> T) -> Self {
            self.cell(title, key, |row| Cell::$cell(value(row).into()))
        }
    )*};
}

impl<R> Columns<R> {
    columns! {
        /// A column of words.
        text: String => Text,
        /// A column of functions of the program.
        function: String => Function,
        /// A column of counts.
        count: u64 => Count,
        /// A column of numbers.
        number: f64 => Number,
        /// A column of shares of one.
        share: f64 => Share,
        /// A column of numbers of bytes.
        bytes: u64 => Bytes,
        /// A column of times, ns.
        time: u64 => Time,
    }

    /// Adds a column of cells of any kind.
    pub fn cell(
        mut self,
        title: impl Into<String>,
        key: impl Into<String>,
        cell: impl Fn(&R) -> Cell,
    ) -> Self {
        let (title, key) = (title.into(), key.into());
        self.table.columns.push(Column { title, key });
        let rows = self.table.rows.iter_mut().zip(&self.of);
        rows.for_each(|(cells, row)| cells.push(cell(row)));
        self
    }

    /// The table.
    pub fn table(self) -> Table {
        self.table
    }
}

impl Table {
    /// A table of these rows, to which columns are added.
    pub fn of<R>(rows: impl IntoIterator<Item = R>) -> Columns<R> {
        let of: Vec<R> = rows.into_iter().collect();
        let table =
            Self { columns: Vec::new(), rows: vec![Vec::new(); of.len()], text_rows: usize::MAX };
        Columns { of, table }
    }

    /// Shows at most `rows` rows in text and says how many were left out.
    pub fn text_rows(mut self, rows: usize) -> Self {
        self.text_rows = rows;
        self
    }
}
