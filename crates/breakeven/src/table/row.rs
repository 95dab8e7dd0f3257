//! One row of a table: text in, op out.

use super::columns::{Columns, Dim};
use super::names;
use crate::workload::{Dtype, Op};

/// No dim may be larger: 10¹¹ elements are more than any device holds.
pub const LARGEST_DIM: u64 = 100_000_000_000;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Empty,
    /// A number of a typed column; NaN counts as nothing, as pandas writes it.
    Number(f64),
    /// Text as it stands.
    Text(&'a str),
}

/// One op with its dims and dtype; equal rows take equal time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    name: u8,
    dtype: Dtype,
    dims: [u64; Dim::COUNT],
}

impl Row {
    /// Reads a row; `cell` is what stands in a column. An empty dtype is fp32.
    ///
    /// # Errors
    /// What was found and what is allowed, as a sentence: an unknown op or dtype, a dim that is missing, no whole
    /// number, out of range, or not one of this op.
    pub fn read<'a>(columns: &Columns, cell: impl Fn(usize) -> Cell<'a>) -> Result<Self, String> {
        let op = match cell(columns.op) {
            Cell::Text(text) if !is_nothing(text) => text.trim(),
            Cell::Number(x) if !x.is_nan() => {
                return Err(format!("op is the number {x}; it has to be a name like matmul"));
            }
            _ => return Err("op is empty".into()),
        };
        let name = names::find(op).or_else(|| names::find(&op.to_ascii_lowercase())).ok_or_else(|| unknown_op(op))?;
        let dtype = match columns.dtype.map_or(Cell::Empty, &cell) {
            Cell::Text(text) if !is_nothing(text) => Dtype::named(text).ok_or_else(|| unknown_dtype(text))?,
            Cell::Number(x) if !x.is_nan() => return Err(unknown_dtype(&x.to_string())),
            _ => Dtype::F32,
        };
        let meaning = names::meaning(name);
        let (needs, optional) = (meaning.needs(), meaning.optional());
        let mut dims = [0; Dim::COUNT];
        for (&dim, &column) in Dim::ALL.iter().zip(&columns.dims) {
            let value = match column.map_or(Cell::Empty, &cell) {
                Cell::Empty => None,
                Cell::Number(x) => (!x.is_nan()).then(|| whole(dim, x, None)).transpose()?,
                Cell::Text(text) if is_nothing(text) => None,
                Cell::Text(text) => Some(number(dim, text.trim())?),
            };
            let default = optional.iter().find(|(d, _)| *d == dim).map(|&(_, default)| default);
            let needed = needs.contains(&dim);
            dims[dim as usize] = match (value, default) {
                (Some(value), _) if needed || default.is_some() => value,
                (None, Some(default)) => default,
                (None, None) if needed => return Err(missing(op, dim, needs)),
                // A table of many ops may fill a column with 1 where it says nothing.
                (Some(value), None) if value > 1 => {
                    return Err(format!(
                        "`{op}` has no {}, which is {value} here; it takes {}",
                        dim.name(),
                        list(needs)
                    ));
                }
                _ => 0,
            };
        }
        let row = Self { name, dtype, dims };
        meaning.op(&dims).map(|_| row)
    }

    /// The name of the op, as the tables have it.
    pub fn name(&self) -> &'static str {
        names::name(self.name)
    }

    /// Element type.
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Family and dims.
    pub fn op(&self) -> Op {
        let mut op = names::meaning(self.name).op(&self.dims).unwrap_or(Op::Opaque);
        if let Op::Transfer { bytes, .. } = &mut op {
            *bytes = bytes.saturating_mul(self.dtype.bytes());
        }
        op
    }
}

/// Cells that say nothing, as spreadsheets, pandas and R write them.
fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "nan" | "NaN" | "null" | "NULL" | "None" | "NA" | "N/A" | "-")
}

fn number(dim: Dim, text: &str) -> Result<u64, String> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    match text.parse::<f64>() {
        Ok(x) if plain => whole(dim, x, Some(text)),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
            Err(format!("{} is `{}`: a plain count is allowed, without a unit or commas", dim.name(), short(text)))
        }
        _ => Err(format!("{} is `{}`, which is not a number", dim.name(), short(text))),
    }
}

/// A whole number in range; `text` is how it was written.
fn whole(dim: Dim, x: f64, text: Option<&str>) -> Result<u64, String> {
    let least = if dim == Dim::Pad { 0.0 } else { 1.0 };
    if x.fract() == 0.0 && least <= x && x <= LARGEST_DIM as f64 {
        return Ok(x as u64);
    }
    let shown = text.map_or_else(|| x.to_string(), short);
    let name = dim.name();
    Err(match () {
        () if x.is_finite() && x.fract() != 0.0 => format!("{name} is {shown}; a whole number is allowed"),
        () => format!("{name} is {shown}; allowed is {least} to 10¹¹"),
    })
}

fn missing(op: &str, dim: Dim, needs: &[Dim]) -> String {
    format!("{} is missing: `{op}` takes {}", dim.name(), list(needs))
}

fn list(dims: &[Dim]) -> String {
    let names: Vec<&str> = dims.iter().map(|d| d.name()).collect();
    names.join(", ")
}

fn unknown_op(op: &str) -> String {
    let near = names::nearest(&op.to_ascii_lowercase()).map_or_else(
        || "matmul, linear, conv, add, softmax, sum, sort, fft, … (`breakeven kernels --help` lists all)".into(),
        |near| format!("the nearest is `{near}`"),
    );
    format!("no op is called `{}`: {near}", short(op))
}

fn unknown_dtype(text: &str) -> String {
    format!(
        "no dtype is called `{}`: f64, f32, tf32, f16, bf16, f8, i64 … u8, bool, c64, c128 are allowed",
        short(text)
    )
}

/// As much of what was written as fits a message.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
