//! Tables as streams of record batches: CSV (plain or gzip) as text, Parquet as typed.

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use breakeven::table::Columns;
use breakeven::{Error, Result};
use flate2::read::MultiGzDecoder;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are worked on at once, and bytes of CSV that they may have.
pub(crate) const ROWS: usize = 16_384;
const CHUNK_BYTES: usize = 16 << 20;
/// No row is longer, bytes: a quote that is never closed would swallow the rest of the file.
const LONGEST_ROW: usize = 16 << 20;

/// A table whose header has been read.
pub struct Table {
    /// Which column holds what.
    pub columns: Columns,
    pub(crate) schema: SchemaRef,
    rows: Rows,
}

enum Rows {
    Csv(Csv),
    Parquet(ParquetRecordBatchReader),
}

/// Some rows, and what was wrong with the reading of some of them, by place.
pub(crate) struct Chunk {
    pub(crate) batch: RecordBatch,
    pub(crate) bad: Vec<(usize, String)>,
}

impl Chunk {
    /// The same in pieces of `most` rows.
    pub(crate) fn pieces(&self, most: usize) -> impl Iterator<Item = Self> {
        let rows = self.batch.num_rows();
        (0..rows).step_by(most).map(move |from| {
            let to = (from + most).min(rows);
            let here = self.bad.iter().filter(|(row, _)| (from..to).contains(row));
            let bad = here.map(|(row, why)| (row - from, why.clone())).collect();
            Self { batch: self.batch.slice(from, to - from), bad }
        })
    }
}

impl Table {
    /// Opens a table; `-` is stdin. Parquet and gzip are known by their first bytes.
    ///
    /// # Errors
    /// `table-read` for what cannot be opened or is no table; `table-header` for columns that do not do.
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Self::from_csv(Box::new(io::stdin()));
        }
        let unreadable = |e: io::Error| {
            let words = e.to_string();
            let words = words.split(" (os error").next().unwrap_or_default().to_lowercase();
            Error::new("table-read", format!("cannot read {}: {words}", path.display())).hint("check the path")
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut head = Vec::new();
        Read::by_ref(&mut file).take(4).read_to_end(&mut head).map_err(unreadable)?;
        match head.as_slice() {
            b"PAR1" => Self::from_parquet(file, path),
            [0x1f, 0x8b, ..] => {
                Self::from_csv(Box::new(MultiGzDecoder::new(BufReader::new(io::Cursor::new(head).chain(file)))))
            }
            _ => Self::from_csv(Box::new(io::Cursor::new(head).chain(file))),
        }
    }

    /// A table in CSV from anything that can be read.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn from_csv(from: Box<dyn Read + Send>) -> Result<Self> {
        let since = Arc::new(AtomicUsize::new(0));
        let guarded = Guard { from, since: Arc::clone(&since) };
        let mut reader = csv::ReaderBuilder::new().flexible(true).buffer_capacity(1 << 16).from_reader(guarded);
        let header = reader.byte_headers().map_err(|e| csv_error(&e, 0))?;
        let names: Vec<String> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        if names.iter().all(String::is_empty) {
            let message = "the table is empty: its first line has to name the columns";
            return Err(Error::new("table-read", message).hint("op,b,m,n,k"));
        }
        let columns = Columns::read(names.iter().map(String::as_str))?;
        // Columns without a name of their own still have one in Parquet.
        let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let rows = Rows::Csv(Csv { reader, since, schema: Arc::clone(&schema), row: 0 });
        Ok(Self { columns, schema, rows })
    }

    fn from_parquet(file: File, path: &Path) -> Result<Self> {
        let bad = |e: &dyn std::fmt::Display| {
            Error::new("table-read", format!("{} is not a whole Parquet file: {e}", path.display()))
                .hint("write it again; a copy that was cut short cannot be read")
        };
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| bad(&e))?;
        let schema = Arc::new(Schema::new(builder.schema().fields().clone()));
        let columns = Columns::read(schema.fields().iter().map(|f| f.name().as_str()))?;
        let reader = builder.with_batch_size(ROWS).build().map_err(|e| bad(&e))?;
        Ok(Self { columns, schema, rows: Rows::Parquet(reader) })
    }

    /// The next rows, or nothing at the end.
    pub(crate) fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        match &mut self.rows {
            Rows::Csv(csv) => csv.next_chunk(),
            Rows::Parquet(reader) => match reader.next() {
                None => Ok(None),
                Some(Ok(batch)) => {
                    let batch = RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec());
                    let batch = batch.map_err(|e| Error::new("table-read", e.to_string()))?;
                    Ok(Some(Chunk { batch, bad: Vec::new() }))
                }
                Some(Err(e)) => Err(Error::new("table-read", format!("the table cannot be read on: {e}"))
                    .hint("write it again; a copy that was cut short cannot be read")),
            },
        }
    }
}

/// CSV row by row; rows of a wrong length and bytes that are no text make bad rows.
struct Csv {
    reader: csv::Reader<Guard>,
    since: Arc<AtomicUsize>,
    schema: SchemaRef,
    row: u64,
}

impl Csv {
    fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        let width = self.schema.fields().len();
        let mut columns: Vec<Vec<Option<String>>> = vec![Vec::new(); width];
        let mut bad = Vec::new();
        let mut record = csv::ByteRecord::new();
        let (mut bytes, mut rows) = (0, 0);
        while rows < ROWS && bytes < CHUNK_BYTES {
            self.since.store(0, Ordering::Relaxed);
            if !self.reader.read_byte_record(&mut record).map_err(|e| csv_error(&e, self.row + 1))? {
                break;
            }
            if record.len() != width {
                bad.push((rows, format!("has {} cells, the header {width}", record.len())));
            } else if std::str::from_utf8(record.as_slice()).is_err() {
                bad.push((rows, "is not UTF-8 text".to_owned()));
            }
            for (i, column) in columns.iter_mut().enumerate() {
                column.push(record.get(i).map(|cell| String::from_utf8_lossy(cell).into_owned()));
            }
            bytes += record.as_slice().len();
            rows += 1;
            self.row += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = columns.into_iter().map(|column| Arc::new(StringArray::from(column)) as ArrayRef).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        Ok(Some(Chunk { batch: batch.map_err(|e| Error::new("table-read", e.to_string()))?, bad }))
    }
}

/// Refuses to read on when one row does not end.
struct Guard {
    from: Box<dyn Read + Send>,
    since: Arc<AtomicUsize>,
}

impl Read for Guard {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        if self.since.fetch_add(n, Ordering::Relaxed) > LONGEST_ROW {
            return Err(io::Error::other("it has more than 16 MiB: is a quote left open?"));
        }
        Ok(n)
    }
}

fn csv_error(error: &csv::Error, row: u64) -> Error {
    let message = match row {
        0 => format!("the header cannot be read: {error}"),
        row => format!("the table cannot be read on at row {row}: {error}"),
    };
    Error::new("table-read", message)
        .hint("a table is CSV (plain or gzip) or Parquet, its columns named in the first line")
}
