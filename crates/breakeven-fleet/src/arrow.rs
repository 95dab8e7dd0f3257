//! A batch of Arrow in, a batch with one row a job out: what other programs call, batch by batch.

use crate::batch::Batch;
use crate::field::{Field, Layout};
use crate::fleet::Fleet;
use crate::mapping::Mapping;
use crate::models::{Given, Models};
use crate::names::Names;
use crate::part::{Context, part};
use crate::recordings::Recordings;
use crate::rows::{Builder, schema};
use crate::table::{Block, Table};
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use breakeven::hardware::Catalogue;
use breakeven::{Error, Result};
use std::collections::HashMap;

/// Which columns of a table are read.
pub(crate) fn wanted(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    Field::all()
        .filter_map(|field| layout.columns[field as usize].as_ref())
        .flat_map(|column| column.at.iter().copied())
}

/// The table that a schema is the header of.
///
/// # Errors
/// `no-job-log` for one that has no columns of jobs; `mapping` for a mapping that does not fit.
pub(crate) fn table(name: &str, schema: &SchemaRef, mapping: Option<&Mapping>) -> Result<Table> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mapping = mapping.cloned().unwrap_or_default();
    let layout = mapping.layout(&names)?;
    if !layout.is_log() {
        return Err(no_log(name, &names));
    }
    Ok(Table { name: name.to_owned(), layout, mapping, delimiter: ',' })
}

/// What is said of a table without the columns of a job log.
pub(crate) fn no_log(name: &str, columns: &[&str]) -> Error {
    let have = breakeven::report::words::printable(&columns.join(", "), 200);
    let message = format!("{name} is no job log as it stands: it has the columns {have}");
    Error::new("no-job-log", message).hint(
        "a job has an id or a user, and an elapsed time, start and end, or a state; --mapping FILE says which columns \
         these are",
    )
}

/// Judges the jobs of an Arrow stream (IPC), all of whose batches are one table, and gives a stream with one row a job.
///
/// # Errors
/// What is no stream, no job log, or does not fit the mapping; a GPU or price that cannot be.
pub fn batch(stream: &[u8], mapping: Option<&str>, given: Given) -> Result<Vec<u8>> {
    let broken = |e: &dyn std::fmt::Display| Error::new("table-read", format!("the batch is no stream of Arrow: {e}"));
    let reader = StreamReader::try_new(stream, None).map_err(|e| broken(&e))?;
    let mapping = mapping.map(Mapping::read).transpose()?;
    let table = table("the batch", &reader.schema(), mapping.as_ref())?;
    let read = |batch: std::result::Result<RecordBatch, _>| {
        Batch::new(&batch.map_err(|e: arrow_schema::ArrowError| broken(&e))?, wanted(&table.layout)).map(Block::Batch)
    };
    let blocks = reader.map(read).collect::<Result<Vec<_>>>()?;
    let jobs = judged(&blocks, &table, given)?;
    let unwritten = |e: arrow_schema::ArrowError| Error::new("table-write", format!("cannot write the batch: {e}"));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema()).map_err(unwritten)?;
    writer.write(&jobs).and_then(|()| writer.finish()).map_err(unwritten)?;
    writer.into_inner().map_err(unwritten)
}

/// One row for each job of the blocks. Steps that lie apart from their job are found first.
fn judged(blocks: &[Block], table: &Table, given: Given) -> Result<RecordBatch> {
    let mut usage = HashMap::new();
    loop {
        let models = Models::new(Catalogue::embedded(), given.clone())?;
        let first = usage.is_empty();
        let context = Context {
            names: Names::default(),
            models,
            recordings: Recordings::default(),
            usage: std::mem::take(&mut usage),
        };
        let mut fleet = Fleet::new(context);
        let mut rows = Vec::new();
        let mut take = |row: &crate::part::Row, id: &dyn Fn() -> String| {
            rows.push((row.clone(), id()));
            Ok(())
        };
        for block in blocks {
            let part = part(block, table, &fleet.context);
            fleet.fold(part, block, table, &mut take)?;
        }
        fleet.finish(&mut take)?;
        if first && !fleet.apart.is_empty() {
            usage = std::mem::take(&mut fleet.apart).into_iter().collect();
            continue;
        }
        let mut builder = Builder::default();
        rows.iter().for_each(|(row, id)| builder.push(row, id, &fleet.context));
        return builder.batch();
    }
}
