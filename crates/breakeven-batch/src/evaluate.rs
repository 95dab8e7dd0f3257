//! Rows to times: each chunk is read in parallel, and what has not been seen before is evaluated in parallel.

use crate::read::{Chunk, Table};
use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use breakeven::table::{Cell, Clock, Columns, Devices, RESULTS, Row, Timed, timed};
use breakeven::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Distinct kernels that are remembered; then all are forgotten, so that memory does not grow with the table.
const REMEMBERED: usize = 1 << 17;
/// Rows that one thread reads in a go.
const RUN: usize = 512;

/// What has been evaluated already.
#[derive(Default)]
pub(crate) struct Memo {
    places: HashMap<(Row, u32), u32>,
    times: Vec<std::result::Result<Timed, String>>,
}

/// A chunk with its results.
pub(crate) struct Done {
    pub(crate) batch: RecordBatch,
    /// Bad rows, by place in the chunk.
    pub(crate) bad: Vec<(usize, String)>,
    pub(crate) timed: u64,
}

/// The columns of the answer.
pub(crate) fn schema(table: &Table, devices: &Devices<'_>) -> SchemaRef {
    let mut fields: Vec<Field> = table.schema.fields().iter().map(|f| f.as_ref().clone()).collect();
    fields.extend((!devices.by_column()).then(|| Field::new("gpu", DataType::Utf8, true)));
    fields.extend(RESULTS[..3].iter().map(|name| Field::new(*name, DataType::Float64, true)));
    fields.extend(RESULTS[3..].iter().map(|name| Field::new(*name, DataType::Utf8, true)));
    Arc::new(Schema::new(fields))
}

/// Evaluates a chunk.
pub(crate) fn evaluate(
    columns: &Columns,
    chunk: &Chunk,
    devices: &mut Devices<'_>,
    clock: Clock,
    memo: &mut Memo,
) -> Result<Done> {
    let cells = Cells::new(columns, &chunk.batch)?;
    let n = chunk.batch.num_rows();
    let mut rows: Vec<std::result::Result<Row, String>> =
        (0..n).into_par_iter().with_min_len(RUN).map(|i| Row::read(columns, |column| cells.get(column, i))).collect();
    for (row, why) in &chunk.bad {
        rows[*row] = Err(why.clone());
    }
    let each = if devices.by_column() { 1 } else { devices.known().len() };
    let mut bad = Vec::new();
    // Where the time of each result is found, or why there is none.
    let mut results: Vec<std::result::Result<u32, String>> = Vec::with_capacity(n * each);
    let mut fresh: Vec<(Row, u32)> = Vec::new();
    if memo.times.len() > REMEMBERED {
        *memo = Memo::default();
    }
    for (i, row) in rows.into_iter().enumerate() {
        let row = row.and_then(|row| match columns.gpu {
            None => Ok((row, 0)),
            Some(column) => match cells.get(column, i) {
                Cell::Text(name) if !name.trim().is_empty() => devices.find(name.trim()).map(|device| (row, device)),
                _ => Err("gpu is empty".into()),
            },
        });
        match row {
            Ok((row, first)) => results.extend((0..each as u32).map(|device| {
                let key = (row, first + device);
                let next = (memo.times.len() + fresh.len()) as u32;
                Ok(*memo.places.entry(key).or_insert_with(|| {
                    fresh.push(key);
                    next
                }))
            })),
            Err(why) => {
                bad.push((i, why.clone()));
                results.extend(std::iter::repeat_n(Err(why), each));
            }
        }
    }
    let known = devices.known();
    let times: Vec<_> =
        fresh.par_iter().with_min_len(64).map(|(row, device)| timed(row, &known[*device as usize], clock)).collect();
    memo.times.extend(times);
    let mut timed = 0;
    for (at, result) in results.iter().enumerate() {
        match result.as_ref().map(|place| &memo.times[*place as usize]) {
            Ok(Ok(_)) => timed += 1,
            Ok(Err(why)) => bad.push((at / each, why.clone())),
            Err(_) => {}
        }
    }
    bad.sort_by_key(|(row, _)| *row);
    let batch = with_results(chunk, devices, each, &results, &memo.times)?;
    Ok(Done { batch, bad, timed })
}

/// The chunk's columns, each row repeated for each device, and the results behind them.
fn with_results(
    chunk: &Chunk,
    devices: &Devices<'_>,
    each: usize,
    results: &[std::result::Result<u32, String>],
    times: &[std::result::Result<Timed, String>],
) -> Result<RecordBatch> {
    let repeated = (each > 1).then(|| UInt32Array::from_iter_values((0..results.len()).map(|at| (at / each) as u32)));
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut fields: Vec<Field> = Vec::new();
    for (column, field) in chunk.batch.columns().iter().zip(chunk.batch.schema().fields()) {
        columns.push(match &repeated {
            Some(places) => arrow_select::take::take(column, places, None).map_err(|e| internal(&e))?,
            None => Arc::clone(column),
        });
        fields.push(field.as_ref().clone());
    }
    if !devices.by_column() {
        let names = (0..results.len()).map(|at| Some(devices.known()[at % each].id.as_str()));
        columns.push(Arc::new(StringArray::from_iter(names)));
        fields.push(Field::new("gpu", DataType::Utf8, true));
    }
    let of = |result: &std::result::Result<u32, String>| {
        result.as_ref().ok().and_then(|at| times[*at as usize].as_ref().ok())
    };
    for (i, name) in RESULTS[..3].iter().enumerate() {
        let us = results.iter().map(|r| of(r).map(|t| [t.time_us.p10, t.time_us.p50, t.time_us.p90][i]));
        columns.push(Arc::new(Float64Array::from_iter(us)));
        fields.push(Field::new(*name, DataType::Float64, true));
    }
    columns.push(Arc::new(StringArray::from_iter(results.iter().map(|r| of(r).map(|t| t.bound.name())))));
    let mut notes = StringBuilder::new();
    for result in results {
        match result.as_ref().map(|place| times[*place as usize].as_ref()) {
            Ok(Ok(timed)) => notes.append_option(timed.note.as_deref()),
            Ok(Err(why)) | Err(why) => notes.append_value(format!("error: {why}")),
        }
    }
    columns.push(Arc::new(notes.finish()));
    fields.extend(RESULTS[3..].iter().map(|name| Field::new(*name, DataType::Utf8, true)));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|e| internal(&e))
}

fn internal(error: &dyn std::fmt::Display) -> Error {
    Error::new("table-read", format!("the table cannot be read on: {error}"))
}

/// The columns that say what a row is, as text or as floats.
struct Cells(Vec<Option<Kind>>);

enum Kind {
    Text(StringArray),
    Number(Float64Array),
}

impl Cells {
    fn new(columns: &Columns, batch: &RecordBatch) -> Result<Self> {
        let mut kinds: Vec<Option<Kind>> = (0..batch.num_columns()).map(|_| None).collect();
        let wanted = [Some(columns.op), columns.dtype, columns.gpu].into_iter().chain(columns.dims).flatten();
        for i in wanted {
            let column = batch.column(i);
            let number = column.data_type().is_numeric();
            let to = if number { DataType::Float64 } else { DataType::Utf8 };
            let column = cast(column, &to).map_err(|_| {
                let (name, kind) = (batch.schema().field(i).name().clone(), column.data_type().clone());
                Error::new("table-header", format!("the column `{name}` holds {kind}: text or numbers are allowed"))
            })?;
            let any = column.as_any();
            kinds[i] = match (any.downcast_ref::<Float64Array>(), any.downcast_ref::<StringArray>()) {
                (Some(numbers), _) => Some(Kind::Number(numbers.clone())),
                (_, Some(text)) => Some(Kind::Text(text.clone())),
                _ => None,
            };
        }
        Ok(Self(kinds))
    }

    fn get(&self, column: usize, row: usize) -> Cell<'_> {
        match &self.0[column] {
            Some(Kind::Text(text)) if text.is_valid(row) => Cell::Text(text.value(row)),
            Some(Kind::Number(numbers)) if numbers.is_valid(row) => Cell::Number(numbers.value(row)),
            _ => Cell::Empty,
        }
    }
}
