//! A row of any table, and its cells as the fields of a job.

use crate::field::{Column, Field, Layout};
use crate::mapping::Mapping;
use crate::values::{self, Moment, State, is_nothing};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Empty.
    Nothing,
    /// Text, to be read.
    Text(&'a str),
    /// A number of a typed column.
    Number(f64),
    /// A moment of a typed column.
    Moment(Moment),
}

/// A row.
pub trait Cells {
    /// The cell of a column.
    fn value(&self, column: usize) -> Value<'_>;
    /// Where equal texts of a column have equal numbers below some thousand: that of this cell.
    fn code(&self, _column: usize) -> Option<usize> {
        None
    }
}

impl Cells for [&str] {
    fn value(&self, column: usize) -> Value<'_> {
        self.get(column).map_or(Value::Nothing, |text| Value::Text(text))
    }
}

/// Cells that could not be read, by field: how many, and one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unread(pub BTreeMap<Field, (u64, String)>);

impl Unread {
    fn add(&mut self, field: Field, text: &str) {
        let entry = self.0.entry(field).or_insert_with(|| (0, text.chars().take(60).collect()));
        entry.0 += 1;
    }

    /// Those of another part of the log too.
    pub fn merge(&mut self, other: Self) {
        for (field, (count, example)) in other.0 {
            self.0.entry(field).or_insert((0, example)).0 += count;
        }
    }
}

/// A row, read by field.
pub struct Fields<'a, C: Cells + ?Sized> {
    pub(crate) cells: &'a C,
    pub(crate) layout: &'a Layout,
    pub(crate) mapping: &'a Mapping,
    pub(crate) unread: &'a mut Unread,
}

impl<'a, C: Cells + ?Sized> Fields<'a, C> {
    fn column(&self, field: Field) -> Option<&'a Column> {
        self.layout.columns[field as usize].as_ref()
    }

    /// The cell of a field with one column.
    pub(crate) fn value(&self, field: Field) -> Value<'a> {
        self.column(field).map_or(Value::Nothing, |column| self.cells.value(column.at[0]))
    }

    /// The number of a field's text, where equal texts have equal numbers.
    pub(crate) fn code(&self, field: Field) -> Option<usize> {
        self.cells.code(self.column(field)?.at[0])
    }

    /// Text as it stands; nothing where it is empty.
    pub(crate) fn text(&self, field: Field) -> Option<Cow<'a, str>> {
        match self.value(field) {
            Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(Cow::Borrowed),
            Value::Number(number) => Some(Cow::Owned(number.to_string())),
            Value::Moment(_) | Value::Nothing => None,
        }
    }

    /// A number, by how its text is read; of several columns their product.
    fn number(&mut self, field: Field, read: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let column = self.column(field)?;
        let mut product = column.scale;
        for at in &column.at {
            product *= match self.cells.value(*at) {
                Value::Nothing | Value::Moment(_) => return None,
                Value::Number(number) if number.is_finite() => number,
                Value::Number(_) => return None,
                Value::Text(text) if is_nothing(text.trim()) => return None,
                Value::Text(text) => match read(text) {
                    Some(number) => number,
                    None => {
                        self.unread.add(field, text);
                        return None;
                    }
                },
            };
        }
        Some(product)
    }

    /// A count; what is negative is not one.
    pub(crate) fn count(&mut self, field: Field) -> Option<f64> {
        let number = self.number(field, |text| values::amount(text, 1000.0))?;
        if number < 0.0 {
            self.unread.add(field, &number.to_string());
            return None;
        }
        Some(number)
    }

    /// Seconds; negative ones are told as they are.
    pub(crate) fn length(&mut self, field: Field) -> Option<f64> {
        self.number(field, values::length)
    }

    /// A share.
    pub(crate) fn share(&mut self, field: Field) -> Option<f64> {
        self.number(field, values::share).filter(|share| *share >= 0.0)
    }

    /// Bytes.
    pub(crate) fn bytes(&mut self, field: Field) -> Option<f64> {
        self.number(field, |text| values::bytes(text).map(|(bytes, _)| bytes)).filter(|bytes| *bytes >= 0.0)
    }

    /// Joules.
    pub(crate) fn joules(&mut self, field: Field) -> Option<f64> {
        self.number(field, |text| values::amount(text, 1000.0)).filter(|joules| *joules >= 0.0)
    }

    /// A moment.
    pub(crate) fn moment(&mut self, field: Field) -> Option<Moment> {
        let scale = self.column(field)?.scale;
        match self.value(field) {
            Value::Moment(moment) => Some(moment),
            Value::Number(s) if s.is_finite() => Some(Moment { s: s * scale, zoned: true }),
            Value::Number(_) | Value::Nothing => None,
            Value::Text(text) if is_nothing(text.trim()) => None,
            Value::Text(text) => match values::moment(text) {
                // A bare number is in the unit of the mapping.
                Some(read) if read.zoned && scale != 1.0 => Some(Moment { s: read.s * scale, zoned: true }),
                Some(read) => Some(read),
                None => {
                    self.unread.add(field, text);
                    None
                }
            },
        }
    }

    /// The state: by the mapping, else Slurm's word.
    pub(crate) fn state(&mut self) -> State {
        let Some(text) = self.text(Field::State) else { return State::Unknown };
        self.mapping.state(&text).or_else(|| State::known(&text)).unwrap_or_else(|| {
            self.unread.add(Field::State, &text);
            State::Unknown
        })
    }
}
