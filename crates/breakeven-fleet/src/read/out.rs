//! One row a job to a Parquet file, or nowhere.

use crate::part::{Context, Row};
use crate::rows::{Builder, schema};
use breakeven::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;

/// Rows of a row group: few, so that writing needs little memory.
const GROUP: usize = 1 << 17;
/// Rows that are written at a time.
const ROWS: usize = 8192;

/// Where rows go.
pub struct Out(Option<(Builder, ArrowWriter<Box<dyn Write + Send>>)>);

impl Out {
    /// Nowhere.
    pub fn nowhere() -> Self {
        Self(None)
    }

    /// To a file, packed with zstd.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn parquet(to: Box<dyn Write + Send>) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP))
            .build();
        let writer = ArrowWriter::try_new(to, schema(), Some(properties)).map_err(|e| unwritten(&e))?;
        Ok(Self(Some((Builder::default(), writer))))
    }

    pub(super) fn push(&mut self, row: &Row, id: &dyn Fn() -> String, context: &Context<'_>) -> Result<()> {
        let Some((builder, writer)) = &mut self.0 else { return Ok(()) };
        builder.push(row, &id(), context);
        if builder.len() >= ROWS {
            writer.write(&builder.batch()?).map_err(|e| unwritten(&e))?;
        }
        Ok(())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn finish(self) -> Result<()> {
        let Some((mut builder, mut writer)) = self.0 else { return Ok(()) };
        if !builder.is_empty() {
            writer.write(&builder.batch()?).map_err(|e| unwritten(&e))?;
        }
        writer.close().map(drop).map_err(|e| unwritten(&e))
    }
}

fn unwritten(error: &dyn std::fmt::Display) -> Error {
    Error::new("table-write", format!("cannot write the jobs: {error}")).hint("make room, or choose another place")
}
