//! What PyTorch's host ops compute, where their shapes are recorded: name, dims and dtypes as an op of the engine.

use crate::json::members;
use crate::model::Trace;
use crate::names::{Name, Names};
use crate::times::whole;
use breakeven::carry::{Known, Work};
use breakeven::lower::{ArrayRef, Call, lower};
use breakeven::workload::{Dtype, Op};
use serde_json::Value;
use std::num::NonZeroU32;

/// What the arguments of a host op say.
#[derive(Default)]
pub(super) struct Said<'a> {
    pub(super) external: Option<i64>,
    dims: &'a [u8],
    types: &'a [u8],
    /// Arguments that are no tensors, as text.
    given: &'a [u8],
}

impl<'a> Said<'a> {
    pub(super) fn of(object: &'a [u8]) -> Self {
        let mut said = Self::default();
        members(object, |key, value| match key {
            b"External id" | b"external id" => said.external = whole(value),
            b"Input Dims" | b"Input dims" => said.dims = value,
            b"Input type" => said.types = value,
            b"Concrete Inputs" => said.given = value,
            _ => {}
        });
        said
    }
}

/// Distinct ops with their shapes, each kept once as the file writes it.
#[derive(Default)]
pub(super) struct Shapes {
    texts: Names,
    text: Vec<u8>,
}

/// Longer texts are lists of all parameters of a model: they are left to their class, bytes.
const LONGEST: usize = 4000;
/// More distinct ones are left to their class.
const MOST: usize = 1 << 16;
/// What stands between name, dims, types and arguments.
const BETWEEN: u8 = 0x1f;

impl Shapes {
    /// The place of an op among those kept, from 1; `None` where its shapes are not recorded.
    pub(super) fn of(&mut self, name: &[u8], said: &Said<'_>) -> Option<NonZeroU32> {
        let plain = name.strip_prefix(b"aten::")?;
        let told = said.dims.contains(&b',') || said.dims.iter().any(u8::is_ascii_digit);
        if !told || said.types.len() < 3 || self.texts.len() >= MOST {
            return None;
        }
        self.text.clear();
        for (at, part) in [plain, said.dims, said.types, said.given].into_iter().enumerate() {
            if at > 0 {
                self.text.push(BETWEEN);
            }
            self.text.extend_from_slice(part);
        }
        if self.text.len() > LONGEST {
            return None;
        }
        NonZeroU32::new(self.texts.name(&self.text).0.checked_add(1)?)
    }

    /// Fills what kernels compute; those of ops that the engine does not know have none.
    pub(super) fn settle(&self, trace: &mut Trace) {
        let mut places: Vec<Option<Option<NonZeroU32>>> = vec![None; self.texts.len()];
        for kernel in &mut trace.kernels {
            let Some(work) = kernel.work else { continue };
            let at = work.get() as usize - 1;
            let place = *places[at].get_or_insert_with(|| {
                trace.works.push(work_of(self.texts.bytes(Name::at(at)))?);
                NonZeroU32::new(u32::try_from(trace.works.len()).ok()?)
            });
            kernel.work = place;
        }
    }
}

/// The memory in use on a GPU that an event `[memory]` tells of, bytes.
pub(super) fn memory(object: &[u8]) -> Option<u64> {
    let (mut on_gpu, mut bytes) = (false, None);
    members(object, |key, value| match key {
        b"Device Type" => on_gpu = whole(value) != Some(0),
        b"Total Reserved" => bytes = whole(value).and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0),
        _ => {}
    });
    bytes.filter(|_| on_gpu)
}

/// An op of a text that [`Shapes::of`] made, with its name.
fn work_of(text: &[u8]) -> Option<(String, Work)> {
    let mut parts = text.split(|byte| *byte == BETWEEN);
    let [name, dims, types, given] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let name = format!("aten.{}", std::str::from_utf8(name).ok()?.trim_start_matches('_'));
    let list = |text: &[u8]| serde_json::from_slice::<Vec<Value>>(text).unwrap_or_default();
    let (dims, types, given) = (list(dims), list(types), list(given));
    let inputs: Vec<ArrayRef> = dims.iter().zip(&types).filter_map(|(dims, kind)| array(dims, kind)).collect();
    inputs.first()?;
    let given: Vec<&str> = given.iter().map(|value| value.as_str().unwrap_or_default()).collect();
    let outputs = result(&name, &inputs, &given)?;
    let keywords = keywords(&name, &given);
    let call =
        Call { name: called(&name), inputs: &inputs, outputs: &outputs, keywords: &keywords, scalar_result: false };
    let lowered = lower(&call);
    let known = lowered.op.is_array_work() && lowered.op != Op::HostOnly;
    known.then_some((name, Work { op: lowered.op, dtype: lowered.dtype, known: Known::Op }))
}

/// The engine's name of an op.
fn called(name: &str) -> &str {
    match name {
        "aten.scaled_dot_product_flash_attention" => "aten._scaled_dot_product_flash_attention",
        "aten.scaled_dot_product_flash_attention_backward" => "aten._scaled_dot_product_flash_attention_backward",
        "aten.flash_attention_forward" | "aten.efficient_attention_forward" => "aten.flash_attention",
        "aten.softmax" => "aten._softmax",
        "aten.log_softmax" => "aten._log_softmax",
        "aten.to_copy" => "aten._to_copy",
        "aten.softmax_backward_data" => "aten._softmax_backward_data",
        "aten.log_softmax_backward_data" => "aten._log_softmax_backward_data",
        other => other,
    }
}

/// A tensor, or a list of them as one of all their elements.
fn array(dims: &Value, kind: &Value) -> Option<ArrayRef> {
    let dims = dims.as_array()?;
    if dims.iter().any(Value::is_array) {
        let count = |one: &Value| one.as_array()?.iter().map(Value::as_u64).try_fold(1_u64, |n, d| n.checked_mul(d?));
        let all = dims.iter().filter_map(count).fold(0, u64::saturating_add);
        let first = kind.as_array().and_then(|kinds| kinds.first()?.as_str()).and_then(dtype);
        return (all > 0).then(|| ArrayRef::new(first.unwrap_or(Dtype::F32), &[all]));
    }
    let shape: Option<Vec<u64>> = dims.iter().map(Value::as_u64).collect();
    let dtype = dtype(kind.as_str()?)?;
    Some(ArrayRef::new(dtype, &shape?))
}

/// A type of elements as PyTorch's C++ prints it; `None` for what is no tensor.
fn dtype(name: &str) -> Option<Dtype> {
    Some(match name {
        "float" => Dtype::F32,
        "double" => Dtype::F64,
        "c10::Half" | "at::Half" => Dtype::F16,
        "c10::BFloat16" | "at::BFloat16" => Dtype::Bf16,
        "long" | "long int" => Dtype::I64,
        "int" => Dtype::I32,
        "short" | "short int" => Dtype::I16,
        "signed char" => Dtype::I8,
        "unsigned char" => Dtype::U8,
        "bool" => Dtype::Bool,
        "c10::complex<float>" => Dtype::C64,
        "c10::complex<double>" => Dtype::C128,
        _ if name.starts_with("c10::Float8") => Dtype::F8,
        _ => return None,
    })
}

/// Whole numbers of a list as PyTorch prints it: `[2, 2]`.
fn numbers(text: &str) -> Vec<i64> {
    text.trim_matches(['[', ']']).split(',').filter_map(|part| part.trim().parse().ok()).collect()
}

/// Keywords that rules look at.
fn keywords<'a>(name: &str, given: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let at = |place: usize| given.get(place).copied().filter(|text| !text.is_empty());
    let told = match name {
        "aten.softmax" | "aten.log_softmax" | "aten.sum" | "aten.mean" | "aten.cumsum" | "aten.argmax" | "aten.cat" => {
            at(1).map(|axis| ("axis", axis))
        }
        "aten.max_pool2d_with_indices" => at(1).map(|size| ("kernel_size", size)),
        "aten.convolution" => at(6).map(|transposed| ("transposed", transposed)),
        _ => None,
    };
    told.into_iter().collect()
}

/// The shape of the result, which traces do not have; `None` where it cannot be told.
fn result(name: &str, inputs: &[ArrayRef], given: &[&str]) -> Option<Vec<ArrayRef>> {
    let first = inputs.first()?;
    let like = |shape: &[u64]| Some(vec![ArrayRef::new(first.dtype, shape)]);
    match name {
        "aten.convolution" | "aten.cudnn_convolution" | "aten.miopen_convolution" | "aten.cudnn_convolution_relu" => {
            // Where stride and padding stand among the arguments.
            let [stride, padding] = match name {
                "aten.cudnn_convolution" => [3, 2],
                "aten.miopen_convolution" => [4, 3],
                _ => [3, 4],
            };
            let [stride, padding] = [stride, padding].map(|at: usize| given.get(at).map(|text| numbers(text)));
            windows(first, &inputs.get(1)?.shape, stride?, padding?)
        }
        "aten.max_pool2d_with_indices" => {
            let size = numbers(given.get(1)?);
            let [channels @ .., _, _] = first.shape.as_slice() else { return None };
            let kernel: Vec<u64> =
                [1, channels.last().copied()?].into_iter().chain(size.iter().map(|s| s.unsigned_abs())).collect();
            let stride = numbers(given.get(2)?);
            windows(first, &kernel, if stride.is_empty() { size } else { stride }, numbers(given.get(3)?)).map(
                |mut out| {
                    out[0].shape[1] = first.shape.get(1).copied().unwrap_or(1);
                    out
                },
            )
        }
        "aten.linear" => {
            let mut shape = first.shape.clone();
            *shape.last_mut()? = *inputs.get(1)?.shape.first()?;
            like(&shape)
        }
        "aten.embedding" => {
            let mut shape = inputs.get(1)?.shape.clone();
            shape.push(*first.shape.last()?);
            like(&shape)
        }
        "aten.cat" | "aten.convolution_backward" => like(&first.shape),
        "aten.index" | "aten.index_select" | "aten.gather" => like(&inputs.last()?.shape),
        "aten.sum" | "aten.mean" | "aten.amax" | "aten.max" | "aten.min" | "aten.norm" => like(&folded(first, given)?),
        "aten.mm" | "aten.bmm" | "aten.addmm" | "aten.baddbmm" | "aten.matmul" | "aten.scaled_mm" => Some(Vec::new()),
        _ => {
            let longest = inputs.iter().map(|a| a.shape.len()).max()?;
            let axis = |back: usize| inputs.iter().filter_map(|a| a.shape.iter().rev().nth(back)).max().copied();
            let shape: Option<Vec<u64>> = (0..longest).rev().map(axis).collect();
            like(&shape?)
        }
    }
}

/// What is left of an array that is folded along the axes given, or whole.
fn folded(array: &ArrayRef, given: &[&str]) -> Option<Vec<u64>> {
    let axes = given.get(1).map(|text| numbers(text)).unwrap_or_default();
    if axes.is_empty() {
        return Some(Vec::new());
    }
    let rank = i64::try_from(array.shape.len()).ok()?;
    let mut shape = array.shape.clone();
    for axis in axes {
        let place = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
        *shape.get_mut(place)? = 1;
    }
    Some(shape)
}

/// Images after windows of `kernel` (its channels first).
fn windows(image: &ArrayRef, kernel: &[u64], stride: Vec<i64>, padding: Vec<i64>) -> Option<Vec<ArrayRef>> {
    let spatial = kernel.len().checked_sub(2)?;
    let lead = image.shape.len().checked_sub(spatial)?;
    let mut shape = image.shape.clone();
    *shape.get_mut(lead.checked_sub(1)?)? = kernel[0];
    for axis in 0..spatial {
        let of = |list: &[i64], default: i64| list.get(axis).or(list.last()).copied().unwrap_or(default);
        let (size, taps) = (i64::try_from(image.shape[lead + axis]).ok()?, i64::try_from(kernel[2 + axis]).ok()?);
        let room = size.checked_add(of(&padding, 0).checked_mul(2)?)?.checked_sub(taps)?;
        let steps = room.checked_div(of(&stride, 1).max(1))?.checked_add(1)?;
        shape[lead + axis] = u64::try_from(steps).ok().filter(|steps| *steps > 0)?;
    }
    Some(vec![ArrayRef::new(image.dtype, &shape)])
}

#[cfg(test)]
mod tests {
    use super::work_of;
    use breakeven::workload::{Dtype, Op};

    fn op(text: &str) -> Option<(Op, Dtype)> {
        work_of(text.replace('|', "\u{1f}").as_bytes()).map(|(_, work)| (work.op, work.dtype))
    }

    #[test]
    fn products_convolutions_and_maps() {
        let product = op(r#"mm|[[128, 64], [64, 32]]|["c10::Half", "c10::Half"]|["", ""]"#);
        assert_eq!(product, Some((Op::Matmul { m: 128, n: 32, k: 64, batch: 1, bias: false }, Dtype::F16)));
        let layer = op(r#"addmm|[[2], [100, 10], [10, 2], [], []]|["float","float","float","Scalar","Scalar"]|[]"#);
        assert_eq!(layer.map(|(op, _)| op), Some(Op::Matmul { m: 100, n: 2, k: 10, batch: 1, bias: false }));
        let convolution = op(concat!(
            r#"cudnn_convolution|[[2, 3, 224, 224], [64, 3, 7, 7], []]|["float", "float", "ScalarList"]"#,
            r#"|["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"]"#
        ));
        let Some((Op::Convolution { output, cout, .. }, _)) = convolution else { panic!("{convolution:?}") };
        assert_eq!((output, cout), (vec![112, 112], 64));
        let Some((Op::Elementwise { n, .. }, _)) = op(r#"add_|[[8, 16], [16], []]|["float", "float", "Scalar"]|[]"#)
        else {
            panic!("a map")
        };
        assert_eq!(n, 128);
    }

    #[test]
    fn what_is_not_told_is_none() {
        // Without stride and padding nobody knows the result.
        assert_eq!(op(r#"cudnn_convolution|[[2, 3, 8, 8], [4, 3, 3, 3]]|["float", "float"]|[]"#), None);
        assert_eq!(op(r#"view|[[8, 16], []]|["float", "ScalarList"]|[]"#), None);
        assert_eq!(op(r#"nobody_knows|[[8, 16]]|["float"]|[]"#), None);
        assert_eq!(op("mm|[[8|[|"), None);
    }
}
