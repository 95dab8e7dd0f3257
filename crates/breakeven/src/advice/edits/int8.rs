//! 8-bit integers for inference.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use super::products::recast;
use crate::estimate::Side;
use crate::workload::{Dtype, Op, Phase};

pub(super) const EDIT: Edit = Edit { id: "int8", sides: &[Side::Gpu], apply };

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let phase = |phase| draft.workload.ops.iter().any(|e| e.phase == Some(phase));
    if draft.trains || phase(Phase::Optimizer) || !phase(Phase::Forward) || ctx.device.peaks.i8_tensor.is_none() {
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
