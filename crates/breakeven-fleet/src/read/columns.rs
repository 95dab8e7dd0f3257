//! Parquet as blocks of rows: the columns that are asked for, names as dictionaries.

use crate::arrow::{table, wanted};
use crate::batch::Batch;
use crate::field::{Field, Kind};
use crate::read::Options;
use crate::table::{Block, Table};
use arrow_schema::{DataType, Field as Column, Schema};
use breakeven::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use std::fs::File;
use std::sync::Arc;

/// Rows of a block.
const ROWS: usize = 16_384;

/// A Parquet file that is read block by block.
pub(super) struct Columns {
    /// Which column holds what.
    pub(super) table: Table,
    reader: ParquetRecordBatchReader,
    /// Places of the columns that are read, in a block.
    places: Vec<usize>,
    name: String,
}

impl Columns {
    /// Opens a file.
    ///
    /// # Errors
    /// `log-read` for what is no whole Parquet file, `no-job-log` for one without columns of jobs.
    pub(super) fn open(file: File, name: &str, options: &Options) -> Result<Self> {
        let broken = |e: parquet::errors::ParquetError| {
            Error::new("log-read", format!("{name} is not a whole Parquet file: {e}"))
                .hint("write it again; a copy that was cut short cannot be read")
        };
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(broken)?;
        let schema = metadata.schema();
        let mut table = table(name, schema, options.mapping.as_ref())?;
        let mut kept: Vec<usize> = wanted(&table.layout).collect();
        kept.sort_unstable();
        kept.dedup();
        // Few names are many rows': as a dictionary each is looked up once a block. Ids are as many as rows.
        let words = |at: usize| {
            let of = |field: Field| table.layout.columns[field as usize].as_ref().is_some_and(|c| c.at == [at]);
            Field::all().any(|field| field.kind() == Kind::Text && field != Field::Id && of(field))
        };
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields: Vec<Column> = schema
            .fields()
            .iter()
            .enumerate()
            .map(|(at, field)| match field.data_type() {
                DataType::Utf8 | DataType::LargeUtf8 if words(at) => {
                    field.as_ref().clone().with_data_type(dictionary.clone())
                }
                _ => field.as_ref().clone(),
            })
            .collect();
        let hinted = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
        let metadata = ArrowReaderMetadata::load(&file, hinted).unwrap_or(metadata);
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let mask = ProjectionMask::roots(builder.parquet_schema(), kept.iter().copied());
        let reader = builder.with_projection(mask).with_batch_size(ROWS).build().map_err(broken)?;
        // Only what is read is in a block.
        for column in table.layout.columns.iter_mut().flatten() {
            column.at.iter_mut().for_each(|at| *at = kept.binary_search(at).unwrap_or_default());
        }
        table.layout.width = kept.len();
        Ok(Self { table, reader, places: (0..kept.len()).collect(), name: name.to_owned() })
    }

    /// The next rows, or nothing at the end.
    ///
    /// # Errors
    /// `log-cut` for a file that cannot be read on.
    pub(super) fn next(&mut self) -> Result<Option<Block>> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(|e| Error::new("log-cut", format!("{} cannot be read on: {e}", self.name)))?;
        Ok(Some(Block::Batch(Batch::new(&batch, self.places.iter().copied())?)))
    }
}
