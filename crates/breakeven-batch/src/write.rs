//! Results as CSV, Parquet or JSON, chunk by chunk.

use crate::Summary;
use crate::read::Table;
use arrow_array::{Array, Float64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use breakeven::quantity::significant;
use breakeven::table::RESULTS;
use breakeven::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// How the table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text, a line a row.
    Csv,
    /// Columns, packed with zstd.
    Parquet,
    /// `breakeven.kernels/1`: an object with `rows`.
    Json,
}

/// Significant digits of a computed time in CSV; nobody knows more of it. What was read is written as it was.
const DIGITS: usize = 6;
/// Rows of a row group: small, so that writing needs little memory.
const GROUP: usize = 1 << 17;

pub(crate) struct Sink<W: Write + Send> {
    to: To<W>,
    /// Text columns that hold the dims of a CSV table: numbers in Parquet and JSON.
    numeric: Vec<bool>,
}

enum To<W: Write + Send> {
    Csv(Box<csv::Writer<W>>),
    Json { out: std::io::BufWriter<W>, first: bool },
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> Sink<W> {
    pub(crate) fn new(format: Format, out: W, schema: &SchemaRef, table: &Table) -> Result<Self> {
        let dims = &table.columns.dims;
        let text = |i: usize| matches!(schema.field(i).data_type(), DataType::Utf8);
        let numeric: Vec<bool> = (0..schema.fields().len()).map(|i| dims.contains(&Some(i)) && text(i)).collect();
        let to = match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(out);
                writer.write_record(schema.fields().iter().map(|f| f.name())).map_err(|e| unwritten(&e))?;
                To::Csv(Box::new(writer))
            }
            Format::Json => {
                let mut out = std::io::BufWriter::new(out);
                out.write_all(b"{\"schema\":\"breakeven.kernels/1\",\"rows\":[").map_err(|e| unwritten(&e))?;
                To::Json { out, first: true }
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(GROUP))
                    .build();
                let schema = Arc::new(numbers(schema, &numeric));
                To::Parquet(Box::new(ArrowWriter::try_new(out, schema, Some(properties)).map_err(|e| unwritten(&e))?))
            }
        };
        Ok(Self { to, numeric })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.to {
            To::Csv(writer) => {
                let columns = columns(batch)?;
                let computed = columns.len().saturating_sub(RESULTS.len());
                let mut cell = String::new();
                for row in 0..batch.num_rows() {
                    for (i, column) in columns.iter().enumerate() {
                        cell.clear();
                        match column {
                            Column::Number(times) if i >= computed && !column.is_nothing(row) => {
                                cell += &significant(times.value(row), DIGITS).to_string();
                            }
                            _ => column.write(row, &mut cell),
                        }
                        writer.write_field(&cell).map_err(|e| unwritten(&e))?;
                    }
                    writer.write_record(None::<&[u8]>).map_err(|e| unwritten(&e))?;
                }
                Ok(())
            }
            To::Json { out, first } => json(batch, &self.numeric, out, first),
            To::Parquet(writer) => {
                let schema = Arc::new(numbers(&batch.schema(), &self.numeric));
                let columns: std::result::Result<Vec<_>, _> = batch
                    .columns()
                    .iter()
                    .zip(&self.numeric)
                    .map(
                        |(column, numeric)| {
                            if *numeric { cast(column, &DataType::Float64) } else { Ok(Arc::clone(column)) }
                        },
                    )
                    .collect();
                let batch =
                    columns.and_then(|columns| RecordBatch::try_new(schema, columns)).map_err(|e| unwritten(&e))?;
                writer.write(&batch).map_err(|e| unwritten(&e))
            }
        }
    }

    pub(crate) fn finish(self, summary: &Summary) -> Result<()> {
        match self.to {
            To::Csv(mut writer) => writer.flush().map_err(|e| unwritten(&e)),
            To::Json { mut out, .. } => {
                let Summary { rows, timed, bad } = summary;
                let end = writeln!(out, "],\"rows_read\":{rows},\"timed\":{timed},\"bad\":{bad}}}");
                end.and_then(|()| out.flush()).map_err(|e| unwritten(&e))
            }
            To::Parquet(writer) => writer.close().map(drop).map_err(|e| unwritten(&e)),
        }
    }
}

/// The schema with the text of numeric columns as floats.
fn numbers(schema: &Schema, numeric: &[bool]) -> Schema {
    let field = |(field, numeric): (&Arc<Field>, &bool)| match numeric {
        true => Field::new(field.name(), DataType::Float64, true),
        false => field.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().zip(numeric).map(field).collect::<Vec<_>>())
}

/// Rows as objects; what is empty is null.
fn json<W: Write>(batch: &RecordBatch, numeric: &[bool], out: &mut W, first: &mut bool) -> Result<()> {
    let columns = columns(batch)?;
    let schema = batch.schema();
    let keys: Vec<String> = schema.fields().iter().map(|f| format!("{}:", serde_json::json!(f.name()))).collect();
    let mut cell = String::new();
    for row in 0..batch.num_rows() {
        let mut text = String::from(if std::mem::take(first) { "\n{" } else { ",\n{" });
        for (i, column) in columns.iter().enumerate() {
            cell.clear();
            column.write(row, &mut cell);
            if i > 0 {
                text.push(',');
            }
            text.push_str(&keys[i]);
            let number = || cell.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            match column {
                _ if cell.is_empty() => text.push_str("null"),
                Column::Number(numbers) if numbers.value(row).is_infinite() => text.push_str("null"),
                Column::Number(_) | Column::Plain(..) => text.push_str(&cell),
                Column::Text(_) if numeric[i] && number().is_some() => {
                    text.push_str(&number().unwrap_or_default().to_string());
                }
                _ => text.push_str(&serde_json::json!(cell).to_string()),
            }
        }
        text.push('}');
        out.write_all(text.as_bytes()).map_err(|e| unwritten(&e))?;
    }
    Ok(())
}

/// A column as text.
enum Column<'a> {
    Text(&'a StringArray),
    /// Floats: shortest digits that read back the same; NaN is nothing, as pandas means it.
    Number(&'a Float64Array),
    /// Whole numbers and truth values.
    Plain(&'a dyn Array, ArrayFormatter<'a>),
    Other(&'a dyn Array, ArrayFormatter<'a>),
}

impl Column<'_> {
    fn is_nothing(&self, row: usize) -> bool {
        match self {
            Self::Text(text) => text.is_null(row),
            Self::Number(numbers) => numbers.is_null(row) || numbers.value(row).is_nan(),
            Self::Plain(array, _) | Self::Other(array, _) => array.is_null(row),
        }
    }

    fn write(&self, row: usize, into: &mut String) {
        use std::fmt::Write;
        let written = match self {
            _ if self.is_nothing(row) => Ok(()),
            Self::Text(text) => {
                into.push_str(text.value(row));
                Ok(())
            }
            Self::Number(numbers) => write!(into, "{}", numbers.value(row)),
            Self::Plain(_, shown) | Self::Other(_, shown) => write!(into, "{}", shown.value(row)),
        };
        // Writing to a string cannot fail; a value that cannot be shown stays empty.
        let _ = written;
    }
}

/// Every column of a batch as text.
fn columns(batch: &RecordBatch) -> Result<Vec<Column<'_>>> {
    batch.columns().iter().map(column).collect()
}

fn unwritten(error: &dyn std::fmt::Display) -> Error {
    Error::new("table-write", format!("cannot write the table: {error}")).hint("make room, or choose another place")
}

fn column(array: &Arc<dyn Array>) -> Result<Column<'_>> {
    if let Some(text) = array.as_any().downcast_ref() {
        return Ok(Column::Text(text));
    }
    if let Some(numbers) = array.as_any().downcast_ref() {
        return Ok(Column::Number(numbers));
    }
    let plain = array.data_type().is_integer() || matches!(array.data_type(), DataType::Boolean);
    let shown = ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default()).map_err(|e| unwritten(&e))?;
    Ok(if plain { Column::Plain(array, shown) } else { Column::Other(array, shown) })
}
