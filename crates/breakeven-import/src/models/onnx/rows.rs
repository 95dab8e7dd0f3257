//! Folds, soft-max, normalisation of rows, orders, running sums, transforms.

use super::array::{Array, axis_of, count};
use super::call::{Call, Made, Work};
use breakeven::workload::op::{Fft, Rowwise, Sort};
use breakeven::workload::{Dtype, Op, Pass};

/// A node on rows; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    let op = call.node.op.as_str();
    if op.starts_with("Reduce") {
        return fold(call);
    }
    match op {
        "Softmax" | "Hardmax" | "BiasSoftmax" => soft_max(call, Rowwise::Softmax),
        "LogSoftmax" => soft_max(call, Rowwise::LogSoftmax),
        "LayerNormalization" => normed(call, Rowwise::LayerNorm),
        "RMSNormalization" | "SimplifiedLayerNormalization" | "LpNormalization" => normed(call, Rowwise::RmsNorm),
        "SkipLayerNormalization" => skipped(call, Rowwise::LayerNorm),
        "SkipSimplifiedLayerNormalization" => skipped(call, Rowwise::RmsNorm),
        "EmbedLayerNormalization" => {
            let (places, table) = (call.input(0)?, call.input(2)?);
            let width = table.dim(-1);
            let out = Array::new(table.dtype, [&places.dims[..], &[width]].concat());
            let rows = places.count();
            let pick = Op::Embedding { pass: Pass::Forward, n: rows, width, table: table.dim(0) };
            let norm = Op::Rowwise { kind: Rowwise::LayerNorm, pass: Pass::Forward, rows, width };
            let dtype = out.dtype;
            let outputs = vec![Some(out), Some(Array::new(Dtype::I32, vec![places.dim(0)]))];
            Some(Made { outputs, work: Work::Kernels(vec![(pick, dtype), (norm, dtype)]) })
        }
        "ArgMax" | "ArgMin" => {
            let from = call.input(0)?;
            let axis = axis_of(call.int("axis").unwrap_or(0), from.rank())?;
            let dims = folded(&from.dims, &[axis], call.int("keepdims").unwrap_or(1) == 1);
            let op = Op::Reduce { n: from.count(), out: count(&dims), flop_per_element: 1.0 };
            Some(Made::of(vec![Array::new(Dtype::I64, dims)], op, from.dtype))
        }
        "CumSum" | "CumProd" => {
            let from = call.input(0)?;
            let axis = call.input(1).and_then(Array::ints).and_then(|axes| axes.first().copied()).unwrap_or(-1);
            let width = from.dim(axis);
            let op = Op::Scan { rows: from.count() / width.max(1), width };
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
        }
        "TopK" => {
            let from = call.input(0)?;
            let axis = axis_of(call.int("axis").unwrap_or(-1), from.rank())?;
            let asked = call.input(1).and_then(Array::ints).and_then(|k| k.first().copied()).or(call.int("k"))?;
            let width = *from.dims.get(axis)?;
            let mut dims = from.dims.clone();
            dims[axis] = u64::try_from(asked).ok()?.min(width);
            let op = Op::Sort { kind: Sort::TopK, rows: from.count() / width.max(1), width };
            let outputs = vec![Array::new(from.dtype, dims.clone()), Array::new(Dtype::I64, dims)];
            Some(Made::of(outputs, op, from.dtype))
        }
        "DFT" | "Rfft" | "Irfft" => transform(call),
        "Det" => {
            let from = call.input(0)?;
            let lead = from.dims.get(..from.rank().checked_sub(2)?)?;
            let n = from.dim(-1);
            let kind = breakeven::workload::op::Factor::Det;
            let op = Op::Factor { kind, m: n, n, rhs: 0, batch: count(lead) };
            Some(Made::one(Array::new(from.dtype, lead.to_vec()), op))
        }
        "Inverse" => {
            let from = call.input(0)?;
            let n = from.dim(-1);
            let kind = breakeven::workload::op::Factor::Inverse;
            let batch = from.count() / n.saturating_mul(n).max(1);
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), Op::Factor { kind, m: n, n, rhs: 0, batch }))
        }
        _ => None,
    }
}

/// The shape that is left when axes are folded.
fn folded(dims: &[u64], axes: &[usize], kept: bool) -> Vec<u64> {
    let each = dims.iter().enumerate();
    each.filter_map(|(axis, &dim)| if !axes.contains(&axis) { Some(dim) } else { kept.then_some(1) }).collect()
}

fn fold(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let axes = call.ints_or_input("axes", 1);
    if axes.is_none() && call.has(1) {
        return None;
    }
    let all = axes.as_ref().is_none_or(Vec::is_empty);
    if all && call.int("noop_with_empty_axes").unwrap_or(0) == 1 {
        return Some(Made::view(from.clone()));
    }
    let axes: Vec<usize> = match axes.filter(|_| !all) {
        Some(axes) => axes.into_iter().map(|axis| axis_of(axis, from.rank())).collect::<Option<_>>()?,
        None => (0..from.rank()).collect(),
    };
    let dims = folded(&from.dims, &axes, call.int("keepdims").unwrap_or(1) == 1);
    let flop_per_element = match call.node.op.as_str() {
        "ReduceL1" | "ReduceL2" | "ReduceSumSquare" => 2.0,
        "ReduceLogSumExp" => 28.0,
        _ => 1.0,
    };
    // Of few values, as shapes are, what they come to.
    let values = from.values.as_ref().filter(|_| dims.iter().all(|&dim| dim == 1)).and_then(|values| {
        Some(vec![match call.node.op.as_str() {
            "ReduceProd" => values.iter().product(),
            "ReduceSum" => values.iter().sum(),
            "ReduceMax" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            "ReduceMin" => values.iter().copied().fold(f64::INFINITY, f64::min),
            _ => return None,
        }])
    });
    let out = Array::new(from.dtype, dims).with(values);
    let op = Op::Reduce { n: from.count(), out: out.count(), flop_per_element };
    Some(Made::one(out, op))
}

fn soft_max(call: &Call<'_>, kind: Rowwise) -> Option<Made> {
    let from = call.input(0)?;
    // Until version 13 all axes from the one that is named on are one row.
    let old = call.opset < 13 && call.node.domain.is_empty();
    let axis = call.int("axis").unwrap_or(if old { 1 } else { -1 });
    let rows = if old { from.rows_before(axis) } else { from.count() / from.dim(axis).max(1) };
    let op = Op::Rowwise { kind, pass: Pass::Forward, rows, width: from.count() / rows.max(1) };
    Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
}

fn normed(call: &Call<'_>, kind: Rowwise) -> Option<Made> {
    let from = call.input(0)?;
    let axis = call.int("axis").unwrap_or(-1);
    let rows =
        if call.node.op == "LpNormalization" { from.count() / from.dim(axis).max(1) } else { from.rows_before(axis) };
    let op = Op::Rowwise { kind, pass: Pass::Forward, rows, width: from.count() / rows.max(1) };
    let mut made = Made::one(Array::new(from.dtype, from.dims.clone()), op);
    let axis = axis_of(axis, from.rank())?;
    let statistics: Vec<u64> = from.dims.iter().enumerate().map(|(at, &dim)| if at < axis { dim } else { 1 }).collect();
    let more = (1..call.node.outputs.len()).map(|_| Some(Array::new(Dtype::F32, statistics.clone())));
    made.outputs.extend(more);
    Some(made)
}

/// A sum with what came before, normalised: the sum is a result too.
fn skipped(call: &Call<'_>, kind: Rowwise) -> Option<Made> {
    let from = call.input(0)?;
    let (rows, width) = (from.rows_before(-1), from.dim(-1));
    let op = Op::Rowwise { kind, pass: Pass::Forward, rows, width };
    let mut made = Made::one(Array::new(from.dtype, from.dims.clone()), op);
    made.outputs
        .extend((1..call.node.outputs.len()).map(|at| (at == 3).then(|| Array::new(from.dtype, from.dims.clone()))));
    Some(made)
}

/// Fourier transforms: the last axis holds real and imaginary parts.
fn transform(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let microsoft = call.node.domain == "com.microsoft";
    let inverse = call.int("inverse").unwrap_or(0) == 1 || call.node.op == "Irfft";
    if microsoft {
        let signal = usize::try_from(call.int("signal_ndim").unwrap_or(1)).ok()?;
        let mut dims = from.dims.clone();
        if inverse {
            dims.pop()?;
        }
        let last = dims.len().checked_sub(1)?;
        dims[last] = if inverse { (dims[last].saturating_sub(1)).saturating_mul(2) } else { dims[last] / 2 + 1 };
        let real = if inverse { &dims } else { &from.dims };
        let n = count(real.get(real.len().checked_sub(signal)?..)?);
        let batch = count(real) / n.max(1);
        if !inverse {
            dims.push(2);
        }
        let kind = if inverse { Fft::C2r } else { Fft::R2c };
        return Some(Made::one(Array::new(from.dtype, dims), Op::Fft { kind, n, batch }));
    }
    let axis = call.input(2).and_then(Array::ints).and_then(|axes| axes.first().copied()).or(call.int("axis"));
    let axis = axis_of(axis.unwrap_or(if call.opset < 20 { 1 } else { -2 }), from.rank())?;
    let length = call.input(1).and_then(Array::ints).and_then(|n| n.first().copied());
    let n = u64::try_from(length.unwrap_or(*from.dims.get(axis)? as i64)).ok()?;
    let real = from.dim(-1) == 1;
    let one_sided = call.int("onesided").unwrap_or(0) == 1;
    let mut dims = from.dims.clone();
    dims[axis] = if one_sided && !inverse { n / 2 + 1 } else { n };
    *dims.last_mut()? = if one_sided && inverse { 1 } else { 2 };
    let kind = match (real, one_sided && inverse) {
        (true, _) => Fft::R2c,
        (_, true) => Fft::C2r,
        _ => Fft::C2c,
    };
    let batch = from.count() / from.dims[axis].max(1) / from.dim(-1).max(1);
    Some(Made::one(Array::new(from.dtype, dims), Op::Fft { kind, n, batch }))
}
