//! Matrix units: TF32 products by a switch, bfloat16 by autocast, 8-bit integers for inference.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::kernel::{Support, kernel_time};
use crate::port;
use crate::units::Bytes;
use crate::workload::{Dtype, Entry, Op, Phase};

pub(super) const MIXED: Edit = Edit { id: "mixed-precision", sides: &[Side::Gpu], apply: mixed };
pub(super) const TF32: Edit = Edit { id: "tf32", sides: &[Side::Gpu], apply: tf32 };

pub(super) const INT8: Edit = Edit { id: "int8", sides: &[Side::Gpu], apply: int8 };

fn mixed<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let products = |op: &Op| matches!(op, Op::Matmul { .. } | Op::Convolution { .. } | Op::Attention { .. });
    let draft = recast(draft, ctx, &[Dtype::F32, Dtype::Tf32], Dtype::Bf16, &products)?;
    Some(Change {
        draft,
        title: "bfloat16 by autocast".to_owned(),
        why: "products in single precision leave the matrix units idle, or half used".to_owned(),
        site: None,
        patch: None,
        ready: Some(
            "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    loss = loss_function(model(x), y)".to_owned(),
        ),
        risk: Some("products have about three digits; sums and weights stay in float32. Watch the loss for a while"),
    })
}

fn tf32<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    // Convolutions use TF32 already unless they are told not to.
    let draft = recast(draft, ctx, &[Dtype::F32], Dtype::Tf32, &|op| matches!(op, Op::Matmul { .. }))?;
    Some(Change {
        draft,
        title: "TF32 products".to_owned(),
        why: "float32 products run in the vector units; the matrix units take them with ten bits of mantissa"
            .to_owned(),
        site: None,
        patch: None,
        ready: Some("torch.set_float32_matmul_precision(\"high\")".to_owned()),
        risk: Some("products have about three digits; sums stay in float32"),
    })
}

fn int8<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let phase = |phase| draft.workload.ops.iter().any(|e| e.phase == Some(phase));
    let trains = phase(Phase::Backward) || phase(Phase::Optimizer);
    if trains || !phase(Phase::Forward) || ctx.device.peaks.i8_tensor.is_none() {
        return None;
    }
    // Quantised are layers with weights; attention's own products stay.
    let layers = |op: &Op| matches!(op, Op::Matmul { batch: 1, .. });
    let draft = recast(draft, ctx, &[Dtype::F32, Dtype::Tf32, Dtype::F16, Dtype::Bf16], Dtype::I8, &layers)?;
    Some(Change {
        draft,
        title: "8-bit integers for the layers".to_owned(),
        why: "inference: weights in a quarter or half of the bytes, products in the matrix units' fastest type"
            .to_owned(),
        site: None,
        patch: None,
        ready: Some(
            "from torchao.quantization import quantize_, Int8DynamicActivationInt8WeightConfig\n\
             quantize_(model, Int8DynamicActivationInt8WeightConfig())"
                .to_owned(),
        ),
        risk: Some(
            "about two digits: check the quality on your own data; quantising activations takes a little time too",
        ),
    })
}

/// PyTorch's products in another type, if the GPU has it.
fn recast<'a>(
    draft: &Draft<'a>,
    ctx: &Context,
    from: &[Dtype],
    dtype: Dtype,
    which: &dyn Fn(&Op) -> bool,
) -> Option<Draft<'a>> {
    let mut out = draft.clone();
    let mut any = false;
    for entry in out.workload.ops.iter_mut().filter(|e| from.contains(&e.dtype) && which(&e.op)) {
        if port::of(&entry.name).name != "torch" {
            continue;
        }
        let native = kernel_time(&entry.op, dtype, Bytes(0.0), Bytes(0.0), ctx.device).support == Support::Native;
        if !native {
            return None;
        }
        let size = entry.dtype.bytes().max(1);
        let share = |n: u64| n / size * dtype.bytes();
        *entry = Entry {
            dtype,
            read_bytes: share(entry.read_bytes),
            written_bytes: share(entry.written_bytes),
            ..entry.clone()
        };
        any = true;
    }
    any.then_some(out)
}
