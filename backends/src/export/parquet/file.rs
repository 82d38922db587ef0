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
use rustc_hash::FxHashMap;

use crate::tables::{Column, Kind, Rows, Table, Value};

/// Rows that are encoded at a time.
const ROWS: usize = 1 << 17;

/// Values of a column that are not yet encoded.
#[derive(Debug)]
enum Values {
    Int(Vec<i64>),
    Text(Vec<ByteArray>),
    Flag(Vec<bool>),
}

/// The same, and of a column whose values may be unknown, for each row whether there is one.
#[derive(Debug)]
struct Gathered(Values, Option<Vec<i16>>);

impl Gathered {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Int | Kind::Address => Self(Values::Int(Vec::new()), None),
            Kind::MaybeInt => Self(Values::Int(Vec::new()), Some(Vec::new())),
            Kind::Text => Self(Values::Text(Vec::new()), Some(Vec::new())),
            Kind::Flag => Self(Values::Flag(Vec::new()), None),
        }
    }

    fn push(&mut self, value: Value<'_>, texts: &mut FxHashMap<String, ByteArray>) {
        // A number over 63 bits is the largest of these.
        let whole = |value: u64| value.try_into().unwrap_or(i64::MAX);
        match (&mut self.0, &mut self.1, value) {
            (Values::Int(values), None, Value::Int(value)) => values.push(whole(value)),
            (Values::Int(values), None, Value::Address(value)) => values.push(value.cast_signed()),
            (Values::Int(values), Some(there), Value::Maybe(value)) => {
                values.extend(value.map(whole));
                there.push(value.is_some().into());
            }
            (Values::Text(values), Some(there), Value::Text(text)) => {
                there.push((!text.is_empty()).into());
                if let Some(known) = texts.get(text) {
                    values.push(known.clone());
                } else if !text.is_empty() {
                    let bytes = ByteArray::from(text);
                    texts.insert(text.to_owned(), bytes.clone());
                    values.push(bytes);
                }
            }
            (Values::Flag(values), None, Value::Flag(value)) => values.push(value),
            (column, _, value) => debug_assert!(false, "{value:?} in {column:?}"),
        }
    }

    fn encode(
        &self,
        about: ColumnDescPtr,
        properties: &WriterPropertiesPtr,
    ) -> Result<(bytes::Bytes, ColumnCloseResult)> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = get_column_writer(about, Arc::clone(properties), pages);
        let there = self.1.as_deref();
        match (&self.0, &mut writer) {
            (Values::Int(values), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(values, there, None)?;
            }
            (Values::Text(values), ColumnWriter::ByteArrayColumnWriter(to)) => {
                to.write_batch(values, there, None)?;
            }
            (Values::Flag(values), ColumnWriter::BoolColumnWriter(to)) => {
                to.write_batch(values, there, None)?;
            }
            _ => bail!("a column is not of its kind"),
        }
        let closed = writer.close()?;
        Ok((sink.into_inner()?.into(), closed))
    }

    fn clear(&mut self) {
        match &mut self.0 {
            Values::Int(values) => values.clear(),
            Values::Text(values) => values.clear(),
            Values::Flag(values) => values.clear(),
        }
        self.1.iter_mut().for_each(Vec::clear);
    }
}

/// A table that is written.
pub(super) struct File {
    writer: SerializedFileWriter<fs::File>,
    properties: WriterPropertiesPtr,
    columns: Vec<Gathered>,
    /// Texts that are used again and again.
    texts: FxHashMap<String, ByteArray>,
    rows: usize,
    written: u64,
}

impl File {
    pub(super) fn create(path: &Path, table: &Table) -> Result<Self> {
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
            columns: table.columns.iter().map(|column| Gathered::new(column.kind)).collect(),
            texts: FxHashMap::default(),
            rows: 0,
            written: 0,
        })
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let (schema, properties) = (self.writer.schema_descr(), &self.properties);
        let encoded: Vec<Result<_>> = thread::scope(|scope| {
            let columns = self.columns.iter().zip(schema.columns());
            let threads: Vec<_> = columns
                .map(|(column, about)| scope.spawn(|| column.encode(about.clone(), properties)))
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
        self.columns.iter_mut().for_each(Gathered::clear);
        self.written += self.rows as u64;
        self.rows = 0;
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
        if self.rows == ROWS {
            self.flush()?;
        }
        self.rows += 1;
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value, &mut self.texts);
        }
        Ok(())
    }
}

/// Says which file cannot be written.
pub(super) fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
