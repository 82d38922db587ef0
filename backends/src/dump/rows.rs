//! Rows streamed as text, CSV or one JSON object with one array.

use std::io::Write;

use anyhow::Result;
use contech_plain::line;

use crate::view::Format;
use crate::view::csv::words;

/// A value of a row.
pub(super) enum Value<'v> {
    /// A word of ours, or the number of a task.
    Word(&'v str),
    /// A name of the program, which may have any characters.
    Name(&'v str),
    Number(u64),
    /// A number that people know as a hexadecimal one.
    Address(u64),
    /// A write, not a read. JSON says so as a flag.
    Write(bool),
    Words(&'v [String]),
}

/// A stream of rows of one kind.
pub(super) struct Rows<'a> {
    out: &'a mut dyn Write,
    format: Format,
    columns: Vec<&'static str>,
    written: u64,
}

impl<'a> Rows<'a> {
    /// Writes what comes before the rows, which have the columns that the words name and which JSON
    /// lists under `name`.
    pub(super) fn new(
        out: &'a mut dyn Write,
        format: Format,
        name: &str,
        columns: &'static str,
    ) -> Result<Self> {
        let columns: Vec<&str> = columns.split(' ').collect();
        match format {
            Format::Text => {}
            Format::Csv => writeln!(out, "{}", columns.join(","))?,
            Format::Json => write!(out, "{{\"{name}\":[")?,
        }
        Ok(Self { out, format, columns, written: 0 })
    }

    /// Writes one row.
    pub(super) fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        let (begin, between, end) = match self.format {
            Format::Text => ("", " ", "\n"),
            Format::Csv => ("", ",", "\n"),
            Format::Json if self.written == 0 => ("{", ",", "}"),
            Format::Json => (",{", ",", "}"),
        };
        self.out.write_all(begin.as_bytes())?;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.out.write_all(between.as_bytes())?;
            }
            if self.format == Format::Json {
                let flag = matches!(value, Value::Write(_));
                let key = if flag { "write" } else { self.columns[at] };
                write!(self.out, "\"{key}\":")?;
            }
            self.value(value)?;
        }
        self.out.write_all(end.as_bytes())?;
        self.written += 1;
        Ok(())
    }

    fn value(&mut self, value: &Value<'_>) -> Result<()> {
        let out = &mut *self.out;
        match (value, self.format) {
            (Value::Word(text) | Value::Name(text), Format::Json) => {
                serde_json::to_writer(out, text)?;
            }
            (Value::Word(text), _) => out.write_all(text.as_bytes())?,
            (Value::Name(text), Format::Text) => out.write_all(line(text).as_bytes())?,
            // In quotes, with inner quotes doubled.
            (Value::Name(text), Format::Csv) => {
                write!(out, "\"{}\"", words(text).replace('"', "\"\""))?;
            }
            (Value::Number(number), _) | (Value::Address(number), Format::Json) => {
                write!(out, "{number}")?;
            }
            (Value::Address(number), _) => write!(out, "{number:#x}")?,
            (Value::Write(write), Format::Json) => write!(out, "{write}")?,
            (Value::Write(write), _) => out.write_all(if *write { b"W" } else { b"R" })?,
            (Value::Words(all), Format::Json) => serde_json::to_writer(out, all)?,
            (Value::Words([]), Format::Text) => out.write_all(b"-")?,
            (Value::Words(all), Format::Text) => out.write_all(all.join(",").as_bytes())?,
            (Value::Words(all), Format::Csv) => out.write_all(all.join(" ").as_bytes())?,
        }
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
