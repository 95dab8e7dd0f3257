//! Work given by its size: a matrix product, a training run, an array, a dataframe.

use crate::quantity::Measure;
use crate::request::{Numbers, Typed};
use crate::units::{Bytes, Flop};
use crate::workload::op::Dataframe;
use crate::workload::{Dtype, Op};
use crate::{Error, Result};

/// What a size amounts to. The copies are a default: what is typed wins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amounts {
    /// Arithmetic.
    pub(super) flop: Flop,
    /// Traffic through device memory; `None` where the size does not tell.
    pub(super) bytes: Option<Bytes>,
    /// Copied to the device.
    pub(super) data: Bytes,
    /// Copied back.
    pub(super) data_out: Bytes,
    /// On the device at once; `None` where the size does not tell.
    pub(super) memory: Option<Bytes>,
}

/// Columns of a dataframe unless given.
const COLUMNS: f64 = 10.0;
/// Rows to a group of a dataframe.
const ROWS_PER_GROUP: f64 = 100.0;
/// FLOP for each parameter and token of training: forward 2, backward 4 (Kaplan et al. 2020, §2.1).
const TRAINING_FLOP: f64 = 6.0;
/// Bytes of a token as it is copied to the device, a 32-bit number.
const TOKEN: f64 = 4.0;

/// Reads the size, `None` when none was given.
///
/// # Errors
/// `contradiction` when two sizes, or a size and an amount of FLOP, were given; `incomplete-size` when a part is missing.
pub(super) fn read_size(n: &Numbers, dtype: Dtype) -> Result<Option<Amounts>> {
    let forms: [(&'static str, bool); 5] = [
        ("flops", n.flops.is_some()),
        ("matmul", n.matmul.is_some()),
        ("parameters", n.parameters.is_some() || n.tokens.is_some()),
        ("elements", n.elements.is_some() || n.operations.is_some()),
        ("rows", n.rows.is_some() || n.columns.is_some()),
    ];
    let mut given = forms.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    let Some(form) = given.next() else { return Ok(None) };
    if let Some(other) = given.next() {
        return Err(super::terms::contradiction(form, other));
    }
    let width = dtype.bytes() as f64;
    let of_op = |op: &Op, data: f64, data_out: f64| Amounts {
        flop: op.flop(dtype),
        bytes: Some(op.min_bytes(dtype)),
        data: Bytes(data),
        data_out: Bytes(data_out),
        memory: Some(Bytes(data + data_out)),
    };
    Ok(match form {
        "matmul" => {
            let side = part(&n.matmul, "matmul")?;
            let dim = whole(side);
            let matrix = side * side * width;
            Some(of_op(&Op::Matmul { m: dim, n: dim, k: dim, batch: 1, bias: false }, 2.0 * matrix, matrix))
        }
        "parameters" => {
            let (parameters, tokens) = (part(&n.parameters, "parameters")?, part(&n.tokens, "tokens")?);
            let flop = Flop(TRAINING_FLOP * parameters * tokens);
            // The weights alone are a part of what training keeps on the device.
            Some(Amounts {
                flop,
                bytes: None,
                data: Bytes(TOKEN * tokens),
                data_out: Bytes(parameters * width),
                memory: None,
            })
        }
        "elements" => {
            let elements = part(&n.elements, "elements")?;
            let each = Measure::Ratio.read_field(&n.operations, "operations")?.unwrap_or(1.0);
            let op = Op::Elementwise { n: whole(elements), inputs: 1, flop_per_element: each, transcendental: false };
            Some(of_op(&op, elements * width, elements * width))
        }
        "rows" => {
            let rows = part(&n.rows, "rows")?;
            let columns = Measure::Count.read_field(&n.columns, "columns")?.unwrap_or(COLUMNS);
            let groups = rows / ROWS_PER_GROUP;
            let op = Op::Dataframe {
                kind: Dataframe::GroupBy,
                rows: whole(rows),
                columns: whole(columns),
                out_rows: whole(groups),
            };
            Some(of_op(&op, rows * columns * width, groups * columns * width))
        }
        _ => None,
    })
}

fn part(typed: &Option<Typed>, field: &'static str) -> Result<f64> {
    Measure::Count.read_field(typed, field)?.ok_or_else(|| {
        Error::new("incomplete-size", format!("`{field}` is missing"))
            .hint("give a count, such as `10,000` or `124M`")
            .field(field)
    })
}

fn whole(count: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are not negative; beyond 2⁶⁴ they saturate"
    )]
    let whole = count as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(numbers: Numbers, dtype: Dtype) -> Amounts {
        read_size(&numbers, dtype).unwrap().unwrap()
    }

    #[test]
    fn a_matrix_product_of_2000() {
        let a = amounts(Numbers { matmul: Some("2000".into()), ..Numbers::default() }, Dtype::F64);
        assert_eq!(a.flop, Flop(1.6e10));
        assert_eq!((a.data, a.data_out), (Bytes(64e6), Bytes(32e6)));
    }

    #[test]
    fn training_is_six_flop_a_parameter_and_token() {
        let numbers = Numbers { parameters: Some("124M".into()), tokens: Some("1e9".into()), ..Numbers::default() };
        let a = amounts(numbers, Dtype::Bf16);
        assert!((a.flop / Flop(7.44e17) - 1.0).abs() < 1e-12, "{:?}", a.flop);
        assert_eq!((a.bytes, a.data, a.data_out), (None, Bytes(4e9), Bytes(248e6)));
    }

    #[test]
    fn one_addition_per_value_of_a_gigabyte() {
        let a = amounts(Numbers { elements: Some("250M".into()), ..Numbers::default() }, Dtype::F32);
        assert_eq!((a.flop, a.bytes, a.data), (Flop(2.5e8), Some(Bytes(2e9)), Bytes(1e9)));
    }

    #[test]
    fn a_dataframe_has_ten_columns_unless_told() {
        let a = amounts(Numbers { rows: Some("1e6".into()), ..Numbers::default() }, Dtype::F64);
        assert_eq!((a.flop, a.data, a.data_out), (Flop(1.8e7), Bytes(8e7), Bytes(8e5)));
    }

    #[test]
    fn two_sizes_contradict_and_half_a_size_is_incomplete() {
        let two = Numbers { flops: Some("1 TFLOP".into()), rows: Some("10".into()), ..Numbers::default() };
        assert_eq!(read_size(&two, Dtype::F32).unwrap_err().code, "contradiction");
        let half = Numbers { tokens: Some("1e9".into()), ..Numbers::default() };
        let error = read_size(&half, Dtype::F32).unwrap_err();
        assert_eq!((error.code, error.field), ("incomplete-size", Some("parameters")));
    }
}
