//! Numbers of eight bits and back, and nodes whose results are as long as their values say.

use super::array::{Array, count};
use super::call::{Call, Made, Work};
use breakeven::workload::op::Sort;
use breakeven::workload::{Dtype, Op};

const fn each(n: u64, flop_per_element: f64) -> Op {
    Op::Elementwise { n, inputs: 1, flop_per_element, transcendental: false }
}

/// A node; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let n = from.count();
    match call.node.op.as_str() {
        "QuantizeLinear" => {
            let given = call.int("output_dtype").and_then(|kind| u64::try_from(kind).ok()).filter(|&kind| kind > 0);
            let kind = call.input(2).map(|zero| zero.dtype).or(given.map(super::array::dtype)).unwrap_or(Dtype::U8);
            Some(Made::of(vec![Array::new(kind, from.dims.clone())], each(n, 3.0), from.dtype))
        }
        "DequantizeLinear" => {
            let kind = call.input(1).map_or(Dtype::F32, |scale| scale.dtype);
            Some(Made::one(Array::new(kind, from.dims.clone()), each(n, 2.0)))
        }
        "DynamicQuantizeLinear" => {
            let single = |kind| Some(Array::new(kind, Vec::new()));
            let outputs = vec![Some(Array::new(Dtype::U8, from.dims.clone())), single(Dtype::F32), single(Dtype::U8)];
            let range = Op::Reduce { n, out: 1, flop_per_element: 2.0 };
            Some(Made { outputs, work: Work::Kernels(vec![(range, from.dtype), (each(n, 3.0), from.dtype)]) })
        }
        "QLinearAdd" | "QLinearMul" => {
            let dims = super::array::broadcast([from.dims.as_slice(), call.input(3)?.dims.as_slice()])?;
            let n = count(&dims);
            let op = Op::Elementwise { n, inputs: 2, flop_per_element: 6.0, transcendental: false };
            Some(Made::one(Array::new(from.dtype, dims), op))
        }
        "QLinearSigmoid" | "QLinearLeakyRelu" => {
            let op = Op::Elementwise { n, inputs: 1, flop_per_element: 30.0, transcendental: true };
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
        }
        _ => None,
    }
}

/// A node whose result is as long as its values say: at its longest. `None` where it is another.
pub(super) fn at_most(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    match call.node.op.as_str() {
        "NonZero" => {
            let out = Array::new(Dtype::I64, vec![from.rank().max(1) as u64, from.count()]);
            let n = from.count();
            let kernels = vec![
                (Op::Reduce { n, out: 1, flop_per_element: 1.0 }, from.dtype),
                (Op::Scan { rows: 1, width: n }, Dtype::I64),
                (Op::Copy { n: out.count(), strided: true, inputs: 1, run: 0 }, Dtype::I64),
            ];
            Some(Made { outputs: vec![Some(out)], work: Work::Kernels(kernels) })
        }
        "Compress" => {
            let op = Op::Copy { n: from.count(), strided: true, inputs: 1, run: 0 };
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
        }
        "Unique" => {
            let n = from.count();
            let outputs = vec![Array::new(from.dtype, vec![n]), Array::new(Dtype::I64, vec![n])];
            let outputs = [outputs, vec![Array::new(Dtype::I64, vec![n]); 2]].concat();
            Some(Made::of(outputs, Op::Sort { kind: Sort::Unique, rows: 1, width: n }, from.dtype))
        }
        "NonMaxSuppression" => {
            let scores = call.input(1)?;
            let (batch, classes, boxes) = (scores.dim(0), scores.dim(1), scores.dim(2));
            let most = call.input(2).and_then(Array::ints).and_then(|most| u64::try_from(*most.first()?).ok());
            let most = most.unwrap_or(boxes).min(boxes);
            let rows = batch.saturating_mul(classes);
            let out = Array::new(Dtype::I64, vec![rows.saturating_mul(most), 3]);
            let pairs = rows.saturating_mul(boxes).saturating_mul(boxes.div_ceil(2));
            let kernels = vec![
                (Op::Sort { kind: Sort::Argsort, rows, width: boxes }, scores.dtype),
                (
                    Op::Elementwise {
                        n: pairs / 64 + 1,
                        inputs: 2,
                        flop_per_element: 64.0 * 12.0,
                        transcendental: false,
                    },
                    scores.dtype,
                ),
            ];
            Some(Made { outputs: vec![Some(out)], work: Work::Kernels(kernels) })
        }
        _ => None,
    }
}
