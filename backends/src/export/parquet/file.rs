//! Rows into a Parquet file: columns are gathered for a number of rows, and encoded by a thread each.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, bail};
use parquet::basic::{
    Compression, ConvertedType, Encoding, Repetition, Type as Physical, ZstdLevel,
};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, Type};

/// Rows that are encoded at a time.
const ROWS: usize = 1 << 17;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// BIGINT.
    Int,
    /// BIGINT or NULL.
    MaybeInt,
    /// VARCHAR; NULL when empty.
    Text,
    /// BOOLEAN.
    Flag,
}

/// A column: its name and what it holds.
pub(super) type Field = (&'static str, Kind);

#[derive(Debug)]
enum Column {
    Int(Vec<i64>),
    MaybeInt(Vec<i64>, Vec<i16>),
    Text(Vec<ByteArray>, Vec<i16>),
    Flag(Vec<bool>),
}

impl Column {
    fn new(field: &Field) -> Self {
        match field.1 {
            Kind::Int => Self::Int(Vec::new()),
            Kind::MaybeInt => Self::MaybeInt(Vec::new(), Vec::new()),
            Kind::Text => Self::Text(Vec::new(), Vec::new()),
            Kind::Flag => Self::Flag(Vec::new()),
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
        match (self, &mut writer) {
            (Self::Int(values), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(values, None, None)?;
            }
            (Self::MaybeInt(values, there), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(values, Some(there), None)?;
            }
            (Self::Text(values, there), ColumnWriter::ByteArrayColumnWriter(to)) => {
                to.write_batch(values, Some(there), None)?;
            }
            (Self::Flag(values), ColumnWriter::BoolColumnWriter(to)) => {
                to.write_batch(values, None, None)?;
            }
            _ => bail!("a column is not of its kind"),
        }
        let closed = writer.close()?;
        Ok((sink.into_inner()?.into(), closed))
    }

    fn clear(&mut self) {
        match self {
            Self::Int(values) => values.clear(),
            Self::MaybeInt(values, there) => {
                values.clear();
                there.clear();
            }
            Self::Text(values, there) => {
                values.clear();
                there.clear();
            }
            Self::Flag(values) => values.clear(),
        }
    }
}

/// A table that is written.
pub(super) struct Table {
    writer: SerializedFileWriter<File>,
    properties: WriterPropertiesPtr,
    columns: Vec<Column>,
    rows: usize,
    written: u64,
}

impl Table {
    pub(super) fn create(path: &Path, fields: &[Field]) -> Result<Self> {
        let leaf = |(name, kind): &Field| -> Result<Arc<Type>> {
            let (physical, converted, repetition) = match kind {
                Kind::Int => (Physical::INT64, ConvertedType::NONE, Repetition::REQUIRED),
                Kind::MaybeInt => (Physical::INT64, ConvertedType::NONE, Repetition::OPTIONAL),
                Kind::Text => (
                    Physical::BYTE_ARRAY,
                    ConvertedType::UTF8,
                    Repetition::OPTIONAL,
                ),
                Kind::Flag => (Physical::BOOLEAN, ConvertedType::NONE, Repetition::REQUIRED),
            };
            let leaf = Type::primitive_type_builder(name, physical);
            let leaf = leaf.with_converted_type(converted);
            Ok(Arc::new(leaf.with_repetition(repetition).build()?))
        };
        let leaves = fields.iter().map(leaf).collect::<Result<_>>()?;
        let schema = Type::group_type_builder("schema").with_fields(leaves);
        let schema = Arc::new(schema.build()?);
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("contech-backend {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for (name, kind) in fields {
            // Numbers mostly ascend or are small; a dictionary of them costs more than it saves.
            if matches!(kind, Kind::Int | Kind::MaybeInt) {
                properties = properties
                    .set_column_dictionary_enabled((*name).into(), false)
                    .set_column_encoding((*name).into(), Encoding::DELTA_BINARY_PACKED);
            }
        }
        let properties = Arc::new(properties.build());
        let file = File::create_new(path).with_context(|| cannot(path))?;
        let writer = SerializedFileWriter::new(file, schema, Arc::clone(&properties));
        Ok(Self {
            writer: writer.with_context(|| cannot(path))?,
            properties,
            columns: fields.iter().map(Column::new).collect(),
            rows: 0,
            written: 0,
        })
    }

    /// The next row; it is filled from the first column to the last.
    #[inline]
    pub(super) fn row(&mut self) -> Result<Row<'_>> {
        if self.rows == ROWS {
            self.flush()?;
        }
        self.rows += 1;
        Ok(Row(&mut self.columns))
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
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let mut group = self.writer.next_row_group()?;
        for column in encoded {
            let (bytes, closed) = column?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
        self.columns.iter_mut().for_each(Column::clear);
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

/// The columns that are left of a row.
pub(super) struct Row<'t>(&'t mut [Column]);

impl<'t> Row<'t> {
    #[inline]
    fn next(&mut self) -> Option<&'t mut Column> {
        let (first, rest) = std::mem::take(&mut self.0).split_first_mut()?;
        self.0 = rest;
        Some(first)
    }

    /// A number; one over 63 bits is the largest of these.
    #[inline]
    pub(super) fn int(mut self, value: u64) -> Self {
        if let Some(Column::Int(values)) = self.next() {
            values.push(value.try_into().unwrap_or(i64::MAX));
        }
        self
    }

    /// An address, whose highest bit may be set.
    #[inline]
    pub(super) fn bits(mut self, value: u64) -> Self {
        if let Some(Column::Int(values)) = self.next() {
            values.push(value.cast_signed());
        }
        self
    }

    #[inline]
    pub(super) fn maybe(mut self, value: Option<u64>) -> Self {
        if let Some(Column::MaybeInt(values, there)) = self.next() {
            values.extend(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
            there.push(value.is_some().into());
        }
        self
    }

    #[inline]
    pub(super) fn text(mut self, value: &ByteArray) -> Self {
        if let Some(Column::Text(values, there)) = self.next() {
            let known = !value.is_empty();
            values.extend(known.then(|| value.clone()));
            there.push(known.into());
        }
        self
    }

    #[inline]
    pub(super) fn flag(mut self, value: bool) -> Self {
        if let Some(Column::Flag(values)) = self.next() {
            values.push(value);
        }
        self
    }
}

/// Says which file cannot be written.
pub(super) fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
