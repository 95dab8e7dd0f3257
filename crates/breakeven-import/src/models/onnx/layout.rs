//! Nodes that give elements another shape or place: views, copies, and what shapes are computed with.

use super::array::{Array, axis_of, broadcast, count};
use super::call::{Call, Made, Work};
use super::elementwise::spread;
use super::proto::{Attribute, MOST_VALUES};
use breakeven::workload::{Dtype, Op};

/// Nodes whose cost follows from the shape of what they make.
pub(super) const MOVES: [&str; 13] = [
    "Compress",
    "ConstantOfShape",
    "Expand",
    "Flatten",
    "Pad",
    "Range",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Unsqueeze",
    "OneHot",
];

/// A copy of all elements of the result.
fn copied(out: Array, strided: bool, inputs: u32) -> Made {
    let n = out.count();
    Made::one(out, Op::Copy { n, strided, inputs, run: 0 })
}

/// A node that moves elements; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    match call.node.op.as_str() {
        "Constant" => constant(call),
        "ConstantOfShape" => {
            let dims = dims_of(call.input(0)?)?;
            let (kind, value) = match call.node.attributes.get("value") {
                Some(Attribute::Tensor(tensor)) => (
                    super::array::dtype(tensor.kind),
                    tensor.values.as_ref().and_then(|values| values.first().copied()),
                ),
                _ => (Dtype::F32, Some(0.0)),
            };
            let many = count(&dims);
            let values = value.filter(|_| many <= MOST_VALUES).map(|value| vec![value; many as usize]);
            Some(copied(Array::new(kind, dims).with(values), false, 0))
        }
        "Identity" | "Dropout" | "OptionalGetElement" => {
            let mut made = Made::view(call.input(0)?.clone());
            if call.gives(1) {
                made.outputs.push(Some(Array::new(Dtype::Bool, call.input(0)?.dims.clone())));
            }
            Some(made)
        }
        "Shape" => {
            let dims = &call.input(0)?.dims;
            let rank = dims.len() as i64;
            let bound = |n: i64| (if n < 0 { n + rank } else { n }).clamp(0, rank) as usize;
            let (from, to) = (bound(call.int("start").unwrap_or(0)), bound(call.int("end").unwrap_or(rank)));
            let values = dims.get(from..to).unwrap_or_default().iter().map(|&dim| dim as f64).collect();
            Some(known(Array::of_values(Dtype::I64, values)))
        }
        "Size" => {
            let n = call.input(0)?.count() as f64;
            Some(known(Array::new(Dtype::I64, Vec::new()).with(Some(vec![n]))))
        }
        "Reshape" => reshape(call),
        "Flatten" => {
            let from = call.input(0)?;
            let axis = call.int("axis").unwrap_or(1);
            let axis = if axis < 0 { axis + from.rank() as i64 } else { axis };
            let axis = usize::try_from(axis).ok()?.min(from.rank());
            Some(viewed(from, vec![count(&from.dims[..axis]), count(&from.dims[axis..])]))
        }
        "Squeeze" => {
            let from = call.input(0)?;
            let axes = call.ints_or_input("axes", 1);
            if axes.is_none() && call.has(1) {
                return None;
            }
            let gone = |axis: usize, dim: u64| match &axes {
                Some(axes) => axes.iter().any(|&gone| axis_of(gone, from.rank()) == Some(axis)),
                None => dim == 1,
            };
            let kept = from.dims.iter().enumerate().filter(|(axis, dim)| !gone(*axis, **dim)).map(|(_, &dim)| dim);
            Some(viewed(from, kept.collect()))
        }
        "Unsqueeze" => {
            let from = call.input(0)?;
            let axes = call.ints_or_input("axes", 1)?;
            let rank = from.rank() + axes.len();
            let new: Vec<usize> = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Option<_>>()?;
            let mut old = from.dims.iter();
            let dim = |axis: usize| if new.contains(&axis) { Some(1) } else { old.next().copied() };
            Some(viewed(from, (0..rank).map(dim).collect::<Option<_>>()?))
        }
        "Transpose" => {
            let from = call.input(0)?;
            let order: Vec<i64> =
                call.ints("perm").map_or_else(|| (0..from.rank() as i64).rev().collect(), <[i64]>::to_vec);
            if order.len() != from.rank() {
                return None;
            }
            let dims = order.iter().map(|&axis| from.dims.get(usize::try_from(axis).ok()?).copied());
            let out = Array::new(from.dtype, dims.collect::<Option<_>>()?);
            // Axes of length 1 may change places for nothing.
            let moved: Vec<i64> = order.iter().copied().filter(|&axis| from.dims[axis as usize] != 1).collect();
            Some(if moved.is_sorted() { Made::view(out.with(from.values.clone())) } else { copied(out, true, 1) })
        }
        "Concat" => concatenate(call),
        "Split" => split(call),
        "Slice" => slice(call),
        "Gather" => gather(call),
        "GatherElements" => {
            let (from, places) = (call.input(0)?, call.input(1)?);
            let op = Op::Gather { n: places.count(), source: from.count() };
            Some(Made::one(Array::new(from.dtype, places.dims.clone()), op))
        }
        "GatherND" => {
            let (from, places) = (call.input(0)?, call.input(1)?);
            let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).ok()?;
            let width = usize::try_from(places.dim(-1)).ok()?;
            let rest = from.dims.get(batch.checked_add(width)?..)?;
            let lead = &places.dims[..places.rank().checked_sub(1)?];
            let out = Array::new(from.dtype, [lead, rest].concat());
            let op = Op::Gather { n: out.count(), source: from.count() };
            Some(Made::one(out, op))
        }
        "Scatter" | "ScatterElements" | "ScatterND" | "TensorScatter" => {
            let (target, updates) = (call.input(0)?, call.inputs.get(2).and_then(Option::as_ref).or(call.input(1))?);
            let adds = !matches!(call.text("reduction"), "" | "none");
            let op = Op::Scatter { n: updates.count(), target: target.count(), accumulate: adds };
            let copy = Op::Copy { n: target.count(), strided: false, inputs: 1, run: 0 };
            let kernels = vec![(copy, target.dtype), (op, target.dtype)];
            let out = Array::new(target.dtype, target.dims.clone());
            Some(Made { outputs: vec![Some(out)], work: Work::Kernels(kernels) })
        }
        "Expand" => {
            let from = call.input(0)?;
            let dims = broadcast([from.dims.as_slice(), dims_of(call.input(1)?)?.as_slice()])?;
            let many = count(&dims);
            let values = (many <= MOST_VALUES).then(|| (0..many as usize).map(|at| spread(from, &dims, at)).collect());
            let out = Array::new(from.dtype, dims).with(values.flatten());
            Some(copied(out, true, 1))
        }
        "Tile" => {
            let from = call.input(0)?;
            let times = dims_of(call.input(1)?)?;
            let each = from.dims.iter().zip(&times).map(|(&dim, &times)| dim.saturating_mul(times));
            Some(copied(Array::new(from.dtype, each.collect()), true, 1))
        }
        "Pad" => pad(call),
        "Range" => {
            let value = |place: usize| call.input(place)?.values.as_ref()?.first().copied();
            let (from, to, step) = (value(0)?, value(1)?, value(2)?);
            let n = ((to - from) / step).ceil().max(0.0);
            if !n.is_finite() || n > 1e15 {
                return None;
            }
            let values = (n <= MOST_VALUES as f64).then(|| (0..n as u64).map(|at| from + at as f64 * step).collect());
            Some(copied(Array::new(call.input(0)?.dtype, vec![n as u64]).with(values), false, 0))
        }
        "EyeLike" | "Trilu" => {
            let from = call.input(0)?;
            Some(copied(Array::new(from.dtype, from.dims.clone()), true, 1))
        }
        "DepthToSpace" | "SpaceToDepth" => {
            let from = call.input(0)?;
            let block = u64::try_from(call.int("blocksize")?).ok().filter(|&block| block > 0)?;
            let [n, c, h, w] = from.dims[..] else { return None };
            let deep = block.checked_mul(block)?;
            let dims = if call.node.op == "DepthToSpace" {
                vec![n, c / deep, h.checked_mul(block)?, w.checked_mul(block)?]
            } else {
                vec![n, c.checked_mul(deep)?, h / block, w / block]
            };
            Some(copied(Array::new(from.dtype, dims), true, 1))
        }
        "OneHot" => {
            let places = call.input(0)?;
            let depth = call.input(1)?.values.as_ref()?.first().copied()?.max(0.0) as u64;
            let mut dims = places.dims.clone();
            let axis = axis_of(call.int("axis").unwrap_or(-1), places.rank() + 1)?;
            dims.insert(axis.min(dims.len()), depth);
            let kind = call.input(2).map_or(Dtype::F32, |values| values.dtype);
            Some(copied(Array::new(kind, dims), true, 1))
        }
        "ReverseSequence" => Some(copied(call.input(0)?.clone(), true, 1)),
        "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => {
            let from = call.input(0)?;
            random(call, from.dims.clone(), from.dtype)
        }
        "RandomNormal" | "RandomUniform" => {
            let dims = call.ints("shape")?.iter().map(|&dim| u64::try_from(dim).ok()).collect::<Option<_>>()?;
            random(call, dims, Dtype::F32)
        }
        _ => None,
    }
}

fn random(call: &Call<'_>, dims: Vec<u64>, like: Dtype) -> Option<Made> {
    use breakeven::workload::op::Random;
    let kind = call.int("dtype").and_then(|kind| u64::try_from(kind).ok()).map_or(like, super::array::dtype);
    let of = if call.node.op.contains("Normal") { Random::Normal } else { Random::Uniform };
    let out = Array::new(kind, dims);
    let n = out.count();
    Some(Made::one(out, Op::Random { kind: of, n }))
}

/// What is known when the file is loaded.
fn known(out: Array) -> Made {
    Made::view(Array { constant: true, ..out })
}

fn viewed(from: &Array, dims: Vec<u64>) -> Made {
    Made::view(Array::new(from.dtype, dims).with(from.values.clone()))
}

/// Values as lengths.
pub(super) fn dims_of(array: &Array) -> Option<Vec<u64>> {
    array.ints()?.into_iter().map(|dim| u64::try_from(dim).ok()).collect()
}

fn constant(call: &Call<'_>) -> Option<Made> {
    let attributes = &call.node.attributes;
    let out = match (attributes.get("value"), attributes.iter().next().map(|(_, value)| value)) {
        (Some(Attribute::Tensor(tensor)), _) => Array::of_tensor(tensor),
        (_, Some(Attribute::Int(n))) => Array::new(Dtype::I64, Vec::new()).with(Some(vec![*n as f64])),
        (_, Some(Attribute::Float(x))) => Array::new(Dtype::F32, Vec::new()).with(Some(vec![*x])),
        (_, Some(Attribute::Ints(list))) => Array::of_values(Dtype::I64, list.iter().map(|&n| n as f64).collect()),
        (_, Some(Attribute::Floats(list))) => Array::of_values(Dtype::F32, list.clone()),
        (_, Some(Attribute::Text(_))) => Array::new(Dtype::Other, Vec::new()),
        _ => return None,
    };
    Some(known(out))
}

fn reshape(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let asked = call.ints_or_input("shape", 1)?;
    let zero_is_zero = call.int("allowzero").unwrap_or(0) == 1;
    let mut dims = Vec::with_capacity(asked.len());
    for (axis, &dim) in asked.iter().enumerate() {
        dims.push(match dim {
            0 if !zero_is_zero => *from.dims.get(axis)?,
            -1 => 1,
            other => u64::try_from(other).ok()?,
        });
    }
    if let Some(open) = asked.iter().position(|&dim| dim == -1) {
        dims[open] = from.count() / count(&dims).max(1);
    }
    (count(&dims) == from.count()).then(|| viewed(from, dims))
}

fn concatenate(call: &Call<'_>) -> Option<Made> {
    let all: Vec<&Array> = (0..call.inputs.len()).map(|place| call.input(place)).collect::<Option<_>>()?;
    let first = all.first()?;
    let axis = axis_of(call.int("axis").unwrap_or(1), first.rank())?;
    let mut dims = first.dims.clone();
    let lengths: Vec<u64> = all.iter().map(|array| array.dims.get(axis).copied()).collect::<Option<_>>()?;
    *dims.get_mut(axis)? = lengths.iter().fold(0, |sum: u64, &length| sum.saturating_add(length));
    let values: Option<Vec<f64>> = (first.rank() == 1)
        .then(|| all.iter().map(|array| array.values.clone()).collect::<Option<Vec<_>>>().map(|values| values.concat()))
        .flatten();
    Some(copied(Array::new(first.dtype, dims).with(values), true, all.len() as u32))
}

fn split(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let axis = axis_of(call.int("axis").unwrap_or(0), from.rank())?;
    let length = *from.dims.get(axis)?;
    let parts = call.node.outputs.len() as u64;
    let sizes = match call.ints_or_input("split", 1) {
        Some(sizes) => sizes.into_iter().map(|size| u64::try_from(size).ok()).collect::<Option<Vec<_>>>()?,
        None if call.has(1) => return None,
        None => {
            let each = length.div_ceil(parts.max(1));
            (0..parts).map(|part| each.min(length.saturating_sub(part * each))).collect()
        }
    };
    let mut at = 0_usize;
    let part = |&size: &u64| {
        let mut dims = from.dims.clone();
        dims[axis] = size;
        let values = from.values.as_ref().filter(|_| from.rank() == 1).and_then(|values| {
            let part = values.get(at..at + size as usize).map(<[f64]>::to_vec);
            at += size as usize;
            part
        });
        Some(Array::new(from.dtype, dims).with(values))
    };
    let outputs = sizes.iter().map(part).collect();
    let op = Op::Copy { n: from.count(), strided: true, inputs: 1, run: 0 };
    Some(Made { outputs, work: Work::Kernels(vec![(op, from.dtype)]) })
}

fn slice(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let (starts, ends) = (call.ints_or_input("starts", 1)?, call.ints_or_input("ends", 2)?);
    let axes = call.ints_or_input("axes", 3);
    let steps = call.input(4).and_then(Array::ints);
    if (call.has(3) && axes.is_none()) || (call.has(4) && steps.is_none()) {
        return None;
    }
    let mut dims = from.dims.clone();
    let mut first = None;
    for (at, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
        let axis = axis_of(axes.as_ref().map_or(Some(at as i64), |axes| axes.get(at).copied())?, from.rank())?;
        let step = steps.as_ref().map_or(Some(1), |steps| steps.get(at).copied())?;
        let length = i64::try_from(*dims.get(axis)?).ok()?;
        let bound =
            |n: i64, least: i64, most: i64| (if n < 0 { n.saturating_add(length) } else { n }).clamp(least, most);
        let n = match step {
            0 => return None,
            1.. => {
                let (start, end) = (bound(start, 0, length), bound(end, 0, length));
                first = Some((start, step));
                (end - start).max(0).unsigned_abs().div_ceil(step.unsigned_abs())
            }
            _ => {
                let (start, end) = (bound(start, -1, length - 1), bound(end, -1, length - 1));
                first = Some((start, step));
                (start - end).max(0).unsigned_abs().div_ceil(step.unsigned_abs())
            }
        };
        dims[axis] = n;
    }
    let values = from.values.as_ref().filter(|_| from.rank() == 1).and_then(|values| {
        let (start, step) = first?;
        (0..dims[0] as i64).map(|at| values.get(usize::try_from(start + at * step).ok()?).copied()).collect()
    });
    let same = dims == from.dims;
    let out = Array::new(from.dtype, dims).with(values.or_else(|| from.values.clone().filter(|_| same)));
    Some(if same { Made::view(out) } else { copied(out, true, 1) })
}

fn gather(call: &Call<'_>) -> Option<Made> {
    let (from, places) = (call.input(0)?, call.input(1)?);
    let axis = axis_of(call.int("axis").unwrap_or(0), from.rank())?;
    let (before, after) = (from.dims.get(..axis)?, from.dims.get(axis + 1..)?);
    let dims = [before, &places.dims, after].concat();
    let length = from.dims[axis];
    let values = from.values.as_ref().filter(|_| from.rank() == 1).and_then(|values| {
        let each = |&place: &f64| {
            let place = if place < 0.0 { place + length as f64 } else { place };
            values.get(place as usize).copied()
        };
        places.values.as_ref()?.iter().map(each).collect()
    });
    let out = Array::new(from.dtype, dims).with(values);
    let width = count(after);
    let op = if width > 1 && before.iter().all(|&dim| dim == 1) {
        use breakeven::workload::Pass;
        Op::Embedding { pass: Pass::Forward, n: places.count(), width, table: length }
    } else {
        Op::Gather { n: out.count(), source: from.count() }
    };
    Some(Made::one(out, op))
}

fn pad(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let pads = call.ints_or_input("pads", 1).or_else(|| call.ints("paddings").map(<[i64]>::to_vec))?;
    let axes = match call.input(3).map(Array::ints) {
        Some(axes) => axes?,
        None if call.has(3) => return None,
        None => (0..from.rank() as i64).collect(),
    };
    let mut dims = from.dims.clone();
    for (at, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, from.rank())?;
        let more = pads.get(at)?.checked_add(*pads.get(at + axes.len())?)?;
        let dim = dims.get_mut(axis)?;
        *dim = dim.checked_add_signed(more)?;
    }
    Some(copied(Array::new(from.dtype, dims), true, 1))
}
