//! A batch of Arrow as rows of a log: text, numbers and moments of its typed columns.

use crate::cells::{Cells, Value};
use crate::values::Moment;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use breakeven::{Error, Result};

/// Texts of a dictionary up to which equal ones are told by their number.
const FEW: usize = 1 << 16;

/// Columns that are read; the others are left out.
pub struct Batch {
    columns: Vec<Option<Typed>>,
    rows: usize,
}

enum Typed {
    Text(StringArray),
    Words(DictionaryArray<Int32Type>, StringArray),
    Number(Float64Array),
    /// Ticks, seconds of one, whether a zone is told.
    Moment(Int64Array, f64, bool),
    /// Ticks, seconds of one.
    Length(Int64Array, f64),
}

impl Batch {
    /// The columns of these places.
    ///
    /// # Errors
    /// `table-read` for a column of a type that is neither text, number nor time.
    pub fn new(batch: &RecordBatch, wanted: impl Iterator<Item = usize>) -> Result<Self> {
        let mut columns: Vec<Option<Typed>> = (0..batch.num_columns()).map(|_| None).collect();
        for at in wanted {
            if let (Some(place), Some(column)) = (columns.get_mut(at), batch.columns().get(at)) {
                *place = Some(typed(column).ok_or_else(|| {
                    let (name, kind) = (batch.schema().field(at).name().clone(), column.data_type().clone());
                    let hint = "text, numbers, timestamps and durations are read";
                    Error::new("table-read", format!("the column `{name}` is of {kind}: that is not read")).hint(hint)
                })?);
            }
        }
        Ok(Self { columns, rows: batch.num_rows() })
    }

    /// Rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// One of them.
    pub fn row(&self, at: usize) -> impl Cells + '_ {
        Row { batch: self, at }
    }
}

fn typed(column: &ArrayRef) -> Option<Typed> {
    let second = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e-3,
        TimeUnit::Microsecond => 1e-6,
        TimeUnit::Nanosecond => 1e-9,
    };
    let to = |kind: &DataType| cast(column, kind).ok();
    let ticks = || to(&DataType::Int64).map(|ticks| ticks.as_primitive::<Int64Type>().clone());
    match column.data_type() {
        DataType::Timestamp(unit, zone) => Some(Typed::Moment(ticks()?, second(unit), zone.is_some())),
        DataType::Date32 | DataType::Date64 => {
            let whole = to(&DataType::Timestamp(TimeUnit::Millisecond, None))?;
            let ticks = cast(&whole, &DataType::Int64).ok()?;
            Some(Typed::Moment(ticks.as_primitive::<Int64Type>().clone(), 1e-3, false))
        }
        DataType::Duration(unit) => Some(Typed::Length(ticks()?, second(unit))),
        DataType::Dictionary(_, values) if !values.is_numeric() => {
            let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            let words = to(&words)?.as_any().downcast_ref::<DictionaryArray<Int32Type>>()?.clone();
            let values = words.values().as_string_opt::<i32>()?.clone();
            Some(Typed::Words(words, values))
        }
        kind if kind.is_numeric() || matches!(kind, DataType::Dictionary(..)) => {
            Some(Typed::Number(to(&DataType::Float64)?.as_primitive::<Float64Type>().clone()))
        }
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => {
            Some(Typed::Text(to(&DataType::Utf8)?.as_string_opt::<i32>()?.clone()))
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            Some(Typed::Text(to(&DataType::Utf8)?.as_string_opt::<i32>()?.clone()))
        }
        _ => None,
    }
}

struct Row<'a> {
    batch: &'a Batch,
    at: usize,
}

impl Cells for Row<'_> {
    fn value(&self, column: usize) -> Value<'_> {
        let at = self.at;
        match self.batch.columns.get(column) {
            Some(Some(Typed::Text(text))) if text.is_valid(at) => Value::Text(text.value(at)),
            Some(Some(Typed::Words(words, values))) => match words.key(at) {
                Some(key) if values.is_valid(key) => Value::Text(values.value(key)),
                _ => Value::Nothing,
            },
            Some(Some(Typed::Number(numbers))) if numbers.is_valid(at) => Value::Number(numbers.value(at)),
            Some(Some(Typed::Moment(ticks, second, zoned))) if ticks.is_valid(at) => {
                Value::Moment(Moment { s: seconds(ticks.value(at), *second), zoned: *zoned })
            }
            Some(Some(Typed::Length(ticks, second))) if ticks.is_valid(at) => {
                Value::Number(seconds(ticks.value(at), *second))
            }
            _ => Value::Nothing,
        }
    }

    fn code(&self, column: usize) -> Option<usize> {
        match self.batch.columns.get(column) {
            Some(Some(Typed::Words(words, values))) if values.len() <= FEW => words.key(self.at),
            _ => None,
        }
    }
}

/// Ticks as seconds; whole ones exactly.
fn seconds(ticks: i64, second: f64) -> f64 {
    let each = (1.0 / second).round() as i64;
    (ticks.div_euclid(each)) as f64 + ticks.rem_euclid(each) as f64 * second
}
