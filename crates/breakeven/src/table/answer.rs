//! A table of kernels as one JSON object, for faces that have rows in memory: times come back as `breakeven.kernels/1`.

use super::columns::{Columns, RESULTS};
use super::devices::Devices;
use super::row::{Cell, Row, short};
use super::time::{Clock, Timed, timed};
use crate::answer::read;
use crate::hardware::Catalogue;
use crate::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Times that one request may ask for: rows × GPUs. `breakeven kernels` streams tables of any size.
pub const MOST_TIMES: usize = 100_000;

/// What is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Devices for every row, where the rows do not name them.
    #[serde(default)]
    gpu: Vec<String>,
    #[serde(default)]
    as_measured: Clock,
    /// Catalogue text that adds or overrides devices.
    #[serde(default)]
    catalogue: Option<String>,
    rows: Vec<Map<String, Value>>,
}

/// Answers `{"gpu": ["l4"], "rows": [{"op": "matmul", "m": 512, "n": 512, "k": 512}]}`: each row comes back, once for
/// each GPU, with `time_us_p10`, `time_us_p50`, `time_us_p90` (µs), `bound_by` and `note`. A row that cannot be read
/// stays in its place without a time, the reason in `note`.
///
/// ```
/// let request = r#"{"gpu": ["l4"], "rows": [{"op": "add", "h": 1e6}, {"op": "add", "h": -1}]}"#;
/// let answer: serde_json::Value = serde_json::from_str(&breakeven::table::answer(request)?).unwrap();
/// assert_eq!((&answer["timed"], &answer["bad"]), (&1.into(), &1.into()));
/// assert_eq!(answer["rows"][0]["bound_by"], "memory");
/// assert_eq!(answer["rows"][1]["note"], "error: h is -1; allowed is 1 to 10¹¹");
/// # Ok::<(), breakeven::Error>(())
/// ```
///
/// # Errors
/// `bad-request` for what is no such object; `table-header`, `table-gpu`, `unknown-gpu`, `too-many-rows`.
pub fn answer(request_json: &str) -> Result<String> {
    let Question { gpu, as_measured, catalogue, rows } = read(request_json)?;
    let catalogue = Catalogue::embedded().and(catalogue.as_deref())?;
    let keys: Vec<&str> =
        rows.iter().flat_map(Map::keys).map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect();
    let columns = Columns::read(keys.iter().copied())?;
    if let Some(taken) = keys.iter().find(|key| key.trim().to_ascii_lowercase() == RESULTS[4]) {
        let message = format!("the rows have a `{}` already, and that is what is to be added", short(taken));
        return Err(Error::new("table-header", message).hint("rename it or leave it out"));
    }
    let mut devices = Devices::new(&columns, &catalogue, &gpu).map_err(|error| match error.code {
        "table-gpu" => error.hint("name them in each row or for all of them, not both: `\"gpu\": [\"l4\"]`"),
        _ => error,
    })?;
    let each = if devices.by_column() { 1 } else { devices.known().len() };
    if rows.len().saturating_mul(each) > MOST_TIMES {
        let message = format!("{} rows on {each} GPUs are more than {MOST_TIMES} times", rows.len());
        return Err(
            Error::new("too-many-rows", message).hint("ask in parts; `breakeven kernels` takes tables of any size")
        );
    }
    let mut answered = Vec::with_capacity(rows.len() * each);
    let (mut done, mut bad) = (0_u64, 0_u64);
    for row in &rows {
        let read = Row::read(&columns, |column| cell(row.get(keys[column]))).and_then(|op| {
            let first = columns.gpu.map_or(Ok(0), |column| match cell(row.get(keys[column])) {
                Cell::Text(name) if !name.trim().is_empty() => devices.find(name.trim()),
                _ => Err("gpu is empty".into()),
            });
            first.map(|first| (op, first as usize))
        });
        for i in 0..each {
            let device = read.as_ref().ok().map(|(_, first)| &devices.known()[first + i]);
            let time = read.clone().and_then(|(op, first)| timed(&op, &devices.known()[first + i], as_measured));
            done += u64::from(time.is_ok());
            bad += u64::from(time.is_err() && (read.is_ok() || i == 0));
            let named = (!devices.by_column()).then(|| device.map_or(&devices.known()[i].id, |device| &device.id));
            answered.push(with_result(row, named, time));
        }
    }
    let answer = json!({ "schema": "breakeven.kernels/1", "rows": answered, "rows_read": rows.len(), "timed": done,
                         "bad": bad });
    Ok(answer.to_string() + "\n")
}

/// A row as it was given, and what came of it.
fn with_result(row: &Map<String, Value>, gpu: Option<&String>, result: std::result::Result<Timed, String>) -> Value {
    let mut row = row.clone();
    if let Some(gpu) = gpu {
        row.insert("gpu".into(), json!(gpu));
    }
    let (time_us, bound, note) = match result {
        Ok(Timed { time_us, bound, note }) => (Some(time_us), Some(bound.name()), note.map(String::from)),
        Err(why) => (None, None, Some(format!("error: {why}"))),
    };
    let parts = [time_us.map(|t| t.p10), time_us.map(|t| t.p50), time_us.map(|t| t.p90)];
    let values = parts.iter().map(|us| json!(us)).chain([json!(bound), json!(note)]);
    row.extend(RESULTS.iter().map(|name| (*name).to_owned()).zip(values));
    Value::Object(row)
}

/// JSON as a cell; what is neither number nor text reads as the text that it is written with.
fn cell(value: Option<&Value>) -> Cell<'_> {
    match value {
        None | Some(Value::Null) => Cell::Empty,
        Some(Value::Number(number)) => Cell::Number(number.as_f64().unwrap_or(f64::INFINITY)),
        Some(Value::String(text)) => Cell::Text(text),
        Some(Value::Bool(true)) => Cell::Text("true"),
        Some(Value::Bool(false)) => Cell::Text("false"),
        Some(Value::Array(_)) => Cell::Text("[…]"),
        Some(Value::Object(_)) => Cell::Text("{…}"),
    }
}
