//! Rows into a Parquet file: columns are gathered for a number of rows, and encoded by a thread
//! each.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, Type};

use crate::tables::{Column, Gathered, Kind, Rows, Table, Value, Values};

/// Rows that are encoded at a time.
const ROWS: usize = 1 << 17;

/// Encodes the values of a column.
fn encode(
    values: &Values,
    about: ColumnDescPtr,
    properties: &WriterPropertiesPtr,
) -> Result<(bytes::Bytes, ColumnCloseResult)> {
    let optional = about.max_def_level() > 0;
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut writer = get_column_writer(about, Arc::clone(properties), pages);
    match (values, &mut writer) {
        (Values::Int(values), ColumnWriter::Int64ColumnWriter(to)) if optional => {
            let there: Vec<i16> = values.iter().map(|value| i16::from(*value >= 0)).collect();
            let known: Vec<i64> = values.iter().copied().filter(|value| *value >= 0).collect();
            to.write_batch(&known, Some(&there), None)?;
        }
        (Values::Int(values), ColumnWriter::Int64ColumnWriter(to)) => {
            to.write_batch(values, None, None)?;
        }
        (Values::Text(numbers, words), ColumnWriter::ByteArrayColumnWriter(to)) => {
            let words: Vec<_> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
            let there: Vec<i16> = numbers.iter().map(|number| i16::from(*number >= 0)).collect();
            let known = numbers.iter().filter_map(|number| usize::try_from(*number).ok());
            let known: Vec<_> = known.map(|number| words[number].clone()).collect();
            to.write_batch(&known, Some(&there), None)?;
        }
        (Values::Flag(values), ColumnWriter::BoolColumnWriter(to)) => {
            to.write_batch(values, None, None)?;
        }
        _ => bail!("a column is not of its kind"),
    }
    let closed = writer.close()?;
    Ok((sink.into_inner()?.into(), closed))
}

/// A table that is written.
pub(super) struct File {
    writer: SerializedFileWriter<fs::File>,
    properties: WriterPropertiesPtr,
    /// Rows that are not yet encoded.
    rows: Gathered,
    written: u64,
}

impl File {
    pub(super) fn create(path: &Path, table: &'static Table) -> Result<Self> {
        let schema = Arc::new(schema(table)?);
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("contech-backend {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for column in table.columns {
            // Numbers mostly ascend or are small; a dictionary of them costs more than it saves.
            if matches!(column.kind, Kind::Int | Kind::MaybeInt | Kind::Address) {
                properties = properties
                    .set_column_dictionary_enabled(column.name.into(), false)
                    .set_column_encoding(column.name.into(), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let properties = Arc::new(properties.build());
        let file = fs::File::create_new(path).with_context(|| cannot(path))?;
        let writer = SerializedFileWriter::new(file, schema, Arc::clone(&properties));
        Ok(Self {
            writer: writer.with_context(|| cannot(path))?,
            properties,
            rows: Gathered::new(table),
            written: 0,
        })
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows.rows == 0 {
            return Ok(());
        }
        let (schema, properties) = (self.writer.schema_descr(), &self.properties);
        let encoded: Vec<Result<_>> = thread::scope(|scope| {
            let columns = self.rows.columns.iter().zip(schema.columns());
            let threads: Vec<_> = columns
                .map(|(column, about)| scope.spawn(|| encode(column, about.clone(), properties)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let mut group = self.writer.next_row_group()?;
        for column in encoded {
            let (bytes, closed) = column?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        self.written += self.rows.rows as u64;
        self.rows = Gathered::new(self.rows.table);
        Ok(())
    }

    /// Writes what is left and the end of the file, and returns the number of rows.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.writer.finish()?;
        Ok(self.written)
    }
}

fn schema(table: &Table) -> Result<Type> {
    let column = |column: &Column| match column.kind {
        Kind::Int | Kind::Address => format!("REQUIRED INT64 {};", column.name),
        Kind::MaybeInt => format!("OPTIONAL INT64 {};", column.name),
        Kind::Text => format!("OPTIONAL BYTE_ARRAY {} (UTF8);", column.name),
        Kind::Flag => format!("REQUIRED BOOLEAN {};", column.name),
    };
    let columns: String = table.columns.iter().map(column).collect();
    Ok(parse_message_type(&format!("message schema {{ {columns} }}"))?)
}

impl Rows for File {
    #[inline]
    fn row(&mut self, values: &[Value<'_>]) -> Result<()> {
        if self.rows.rows == ROWS {
            self.flush()?;
        }
        self.rows.row(values)
    }
}

/// Says which file cannot be written.
pub(super) fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
