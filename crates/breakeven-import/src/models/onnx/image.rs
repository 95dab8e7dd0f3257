//! Convolutions, pooling, and other work on images.

use super::array::{Array, count};
use super::call::{Call, Made, Work};
use super::layout::dims_of;
use breakeven::workload::op::{Rowwise, Window};
use breakeven::workload::{Dtype, Op, Pass};

/// A node on images; `None` where it is another, or its inputs are not known.
pub(super) fn of(call: &Call<'_>) -> Option<Made> {
    match call.node.op.as_str() {
        "Conv" | "FusedConv" => convolution(call, call.input(0)?, call.input(1)?, None),
        "ConvInteger" => convolution(call, call.input(0)?, call.input(1)?, Some((Dtype::I32, Dtype::I8))),
        "QLinearConv" => {
            let to = call.input(0)?.dtype;
            convolution(call, call.input(0)?, call.input(3)?, Some((to, Dtype::I8)))
        }
        "ConvTranspose" | "ConvTransposeWithDynamicPads" => transposed(call),
        "MaxPool" | "AveragePool" | "LpPool" => pooled(call),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" | "QLinearGlobalAveragePool" => {
            let from = call.input(0)?;
            let (kept, spatial) = from.dims.split_at_checked(2)?;
            let dims = kept.iter().copied().chain(spatial.iter().map(|_| 1)).collect();
            let op = Op::Reduce { n: from.count(), out: count(kept), flop_per_element: 1.0 };
            Some(Made::one(Array::new(from.dtype, dims), op))
        }
        "LRN" => {
            let from = call.input(0)?;
            let size = call.int("size").unwrap_or(5).max(1) as f64;
            let op = Op::Elementwise {
                n: from.count(),
                inputs: 1,
                flop_per_element: 2.0 * size + 30.0,
                transcendental: true,
            };
            Some(Made::one(Array::new(from.dtype, from.dims.clone()), op))
        }
        "Resize" | "Upsample" => resized(call),
        "GridSample" => {
            let (from, grid) = (call.input(0)?, call.input(1)?);
            let lead = from.dims.get(..2)?;
            let spatial = grid.dims.get(1..grid.rank().checked_sub(1)?)?;
            let out = Array::new(from.dtype, [lead, spatial].concat());
            let op = window(Window::Resize, &out, from, 1 << spatial.len().min(4));
            Some(Made::one(out, op))
        }
        "AffineGrid" => {
            let size = dims_of(call.input(1)?)?;
            let spatial = size.get(2..)?;
            let dims = [&[*size.first()?][..], spatial, &[spatial.len() as u64]].concat();
            let out = Array::new(call.input(0)?.dtype, dims);
            let n = out.count();
            Some(Made::one(out, Op::Elementwise { n, inputs: 1, flop_per_element: 6.0, transcendental: false }))
        }
        "RoiAlign" | "MaxRoiPool" => {
            let (from, rois) = (call.input(0)?, call.input(1)?);
            let side = |name: &str, at: usize| {
                let pooled = call.ints("pooled_shape").and_then(|shape| shape.get(at).copied());
                u64::try_from(call.int(name).or(pooled).unwrap_or(1)).ok()
            };
            let dims = vec![rois.dim(0), from.dim(1), side("output_height", 0)?, side("output_width", 1)?];
            let out = Array::new(from.dtype, dims);
            let samples = call.int("sampling_ratio").unwrap_or(2).clamp(1, 16).unsigned_abs();
            let op = window(Window::Resize, &out, from, 4 * samples * samples);
            Some(Made::one(out, op))
        }
        "BatchNormalization" => normed(call, Rowwise::BatchNorm),
        "InstanceNormalization" | "GroupNormalization" | "GroupNorm" => normed(call, Rowwise::GroupNorm),
        "MeanVarianceNormalization" => normed(call, Rowwise::GroupNorm),
        _ => None,
    }
}

/// Normalisation by statistics of channels, or of each image's channels.
fn normed(call: &Call<'_>, kind: Rowwise) -> Option<Made> {
    let from = call.input(0)?;
    let channels = from.dim(1);
    let (rows, width) = match kind {
        Rowwise::BatchNorm => (channels, from.count() / channels.max(1)),
        _ => {
            let groups = u64::try_from(call.int("num_groups").or(call.int("groups")).unwrap_or(0)).ok()?;
            let rows = from.dim(0).saturating_mul(if groups > 0 { groups } else { channels });
            (rows, from.count() / rows.max(1))
        }
    };
    // With statistics that are known, batch norm is a product and a sum.
    let op = match kind {
        Rowwise::BatchNorm if call.int("training_mode").unwrap_or(0) == 0 => {
            Op::Elementwise { n: from.count(), inputs: 1, flop_per_element: 2.0, transcendental: false }
        }
        _ => Op::Rowwise { kind, pass: Pass::Forward, rows, width },
    };
    let mut made = Made::one(Array::new(from.dtype, from.dims.clone()), op);
    made.outputs.extend((1..call.node.outputs.len()).map(|_| Some(Array::new(from.dtype, vec![channels]))));
    Some(made)
}

/// Sizes along the spatial axes of a window that moves.
struct Moves {
    kernel: Vec<u64>,
    output: Vec<u64>,
}

impl Moves {
    fn of(call: &Call<'_>, input: &[u64], kernel: &[u64]) -> Option<Self> {
        let list = |name: &str, axis: usize| call.ints(name).and_then(|list| list.get(axis).copied());
        let up = call.int("ceil_mode").unwrap_or(0) == 1;
        let auto = call.text("auto_pad");
        let output = input.iter().zip(kernel).enumerate().map(|(axis, (&length, &window))| {
            let stride = u64::try_from(list("strides", axis).unwrap_or(1)).ok().filter(|&stride| stride > 0)?;
            let dilation = u64::try_from(list("dilations", axis).unwrap_or(1)).ok()?;
            if auto.starts_with("SAME") {
                return Some(length.div_ceil(stride));
            }
            let pad = |at: usize| if auto == "VALID" { 0 } else { list("pads", at).unwrap_or(0) };
            let pads = pad(axis).checked_add(pad(axis + input.len()))?;
            let padded = length.checked_add_signed(pads)?;
            let reach = dilation.checked_mul(window.checked_sub(1)?)?.checked_add(1)?;
            let room = padded.checked_sub(reach)?;
            let mut n = if up { room.div_ceil(stride) } else { room / stride } + 1;
            // A window that would begin behind the image is left out.
            if up && (n - 1).checked_mul(stride)? >= length.checked_add_signed(pad(axis))? {
                n -= 1;
            }
            Some(n)
        });
        Some(Self { kernel: kernel.to_vec(), output: output.collect::<Option<_>>()? })
    }
}

fn convolution(call: &Call<'_>, from: &Array, weight: &Array, types: Option<(Dtype, Dtype)>) -> Option<Made> {
    let (&[batch, cin], input) = from.dims.split_first_chunk::<2>()?;
    let (&[cout, _], kernel) = weight.dims.split_first_chunk::<2>()?;
    let moves = Moves::of(call, input, kernel)?;
    let groups = u64::try_from(call.int("group").unwrap_or(1)).ok().filter(|&groups| groups > 0)?;
    let (to, inside) = types.unwrap_or((from.dtype, from.dtype));
    let out = Array::new(to, [&[batch, cout][..], &moves.output].concat());
    let op = Op::Convolution {
        pass: Pass::Forward,
        batch,
        cin,
        cout,
        groups,
        input: input.to_vec(),
        kernel: moves.kernel,
        output: moves.output,
    };
    Some(Made::of(vec![out], op, inside))
}

/// The gradient of a convolution as a node: what it makes is the input of that.
fn transposed(call: &Call<'_>) -> Option<Made> {
    let (from, weight) = (call.input(0)?, call.input(1)?);
    let (&[batch, cin], input) = from.dims.split_first_chunk::<2>()?;
    let (&[_, each], kernel) = weight.dims.split_first_chunk::<2>()?;
    let groups = u64::try_from(call.int("group").unwrap_or(1)).ok().filter(|&groups| groups > 0)?;
    let cout = each.checked_mul(groups)?;
    let list = |name: &str, axis: usize| call.ints(name).and_then(|list| list.get(axis).copied());
    let same = call.text("auto_pad").starts_with("SAME");
    let length = |(axis, (&length, &window)): (usize, (&u64, &u64))| {
        if let Some(asked) = list("output_shape", axis) {
            return u64::try_from(asked).ok();
        }
        let stride = u64::try_from(list("strides", axis).unwrap_or(1)).ok()?;
        if same {
            return length.checked_mul(stride);
        }
        let dilation = u64::try_from(list("dilations", axis).unwrap_or(1)).ok()?;
        let pads = list("pads", axis).unwrap_or(0).checked_add(list("pads", axis + input.len()).unwrap_or(0))?;
        let more = list("output_padding", axis).unwrap_or(0).checked_sub(pads)?;
        let reach = dilation.checked_mul(window.checked_sub(1)?)?.checked_add(1)?;
        stride.checked_mul(length.checked_sub(1)?)?.checked_add(reach)?.checked_add_signed(more)
    };
    let output: Vec<u64> = input.iter().zip(kernel).enumerate().map(length).collect::<Option<_>>()?;
    let out = Array::new(from.dtype, [&[batch, cout][..], &output].concat());
    let op = Op::Convolution {
        pass: Pass::BackwardData,
        batch,
        cin: cout,
        cout: cin,
        groups,
        input: output,
        kernel: kernel.to_vec(),
        output: input.to_vec(),
    };
    Some(Made::one(out, op))
}

fn window(kind: Window, out: &Array, from: &Array, window: u64) -> Op {
    Op::Window { kind, pass: Pass::Forward, n: out.count(), input: from.count(), window }
}

fn pooled(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let (kept, input) = from.dims.split_at_checked(2)?;
    let kernel: Vec<u64> =
        call.ints("kernel_shape")?.iter().map(|&side| u64::try_from(side).ok()).collect::<Option<_>>()?;
    if kernel.len() != input.len() {
        return None;
    }
    let moves = Moves::of(call, input, &kernel)?;
    let out = Array::new(from.dtype, [kept, &moves.output].concat());
    let kind = if call.node.op == "MaxPool" { Window::MaxPool } else { Window::AveragePool };
    let op = window(kind, &out, from, count(&kernel));
    let places = call.gives(1).then(|| Array::new(Dtype::I64, out.dims.clone()));
    let dtype = from.dtype;
    Some(Made::of([Some(out), places].into_iter().flatten().collect(), op, dtype))
}

fn resized(call: &Call<'_>) -> Option<Made> {
    let from = call.input(0)?;
    let old = call.node.op == "Upsample" || call.opset == 10;
    let scales = call.input(if old { 1 } else { 2 }).and_then(|array| array.values.clone());
    let scales = scales.or_else(|| match call.node.attributes.get("scales") {
        Some(super::proto::Attribute::Floats(list)) => Some(list.clone()),
        _ => None,
    });
    let sizes = if old { None } else { call.input(3).and_then(dims_of) };
    let axes: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes.iter().map(|&axis| super::array::axis_of(axis, from.rank())).collect::<Option<_>>()?,
        None => (0..from.rank()).collect(),
    };
    let mut dims = from.dims.clone();
    match (sizes.filter(|sizes| !sizes.is_empty()), scales.filter(|scales| !scales.is_empty())) {
        (Some(sizes), _) => axes.iter().zip(sizes).for_each(|(&axis, size)| dims[axis] = size),
        (None, Some(scales)) => axes.iter().zip(scales).for_each(|(&axis, scale)| {
            dims[axis] = (dims[axis] as f64 * scale).floor().clamp(0.0, 1e15) as u64;
        }),
        (None, None) => return None,
    }
    let grown = dims.iter().zip(&from.dims).filter(|(new, old)| new != old).count() as u32;
    let points = match call.text("mode") {
        "linear" => 1 << grown.min(4),
        "cubic" => 4_u64.pow(grown.min(4)),
        _ => 1,
    };
    let out = Array::new(from.dtype, dims);
    let op = window(Window::Resize, &out, from, points);
    Some(Made { outputs: vec![Some(out)], work: Work::Kernels(vec![(op, from.dtype)]) })
}
