//! Rows streamed as text, CSV or one JSON object with one array.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

use crate::view::Format;
use crate::view::csv::words;

/// A stream of rows of one kind.
pub(super) struct Rows<'a> {
    out: &'a mut dyn Write,
    format: Format,
    name: &'static str,
    written: u64,
}

impl<'a> Rows<'a> {
    /// Rows that JSON lists under `name`.
    pub(super) fn new(out: &'a mut dyn Write, format: Format, name: &'static str) -> Self {
        Self {
            out,
            format,
            name,
            written: 0,
        }
    }

    pub(super) fn is_csv(&self) -> bool {
        self.format == Format::Csv
    }

    /// Writes what comes before the rows.
    pub(super) fn header(&mut self, columns: &[&str]) -> Result<()> {
        match self.format {
            Format::Text => {}
            Format::Csv => writeln!(self.out, "{}", columns.join(","))?,
            Format::Json => write!(self.out, "{{\"{}\":[", self.name)?,
        }
        Ok(())
    }

    /// Writes one row: JSON from `value`; text and CSV from `line`, which gets the separator.
    pub(super) fn row(
        &mut self,
        value: &impl Serialize,
        line: impl FnOnce(&mut dyn Write, char) -> io::Result<()>,
    ) -> Result<()> {
        match self.format {
            Format::Text => line(self.out, ' ')?,
            Format::Csv => line(self.out, ',')?,
            Format::Json => {
                if self.written > 0 {
                    self.out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *self.out, value)?;
            }
        }
        if self.format != Format::Json {
            self.out.write_all(b"\n")?;
        }
        self.written += 1;
        Ok(())
    }

    /// Writes what comes after the rows.
    pub(super) fn finish(self) -> Result<()> {
        if self.format == Format::Json {
            self.out.write_all(b"]}\n")?;
        }
        Ok(())
    }
}

/// A CSV field: in quotes, with inner quotes doubled.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", words(text).replace('"', "\"\""))
}
