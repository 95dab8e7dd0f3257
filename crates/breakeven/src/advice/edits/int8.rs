//! 8-bit integers for inference.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use super::fuse::TORCH_COMPILE;
use super::products::recast;
use crate::estimate::Side;
use crate::workload::{Dtype, Entry, Op, Phase, Step};
use std::collections::BTreeMap;

pub(super) const EDIT: Edit = Edit { id: "int8", sides: &[Side::Gpu], apply };

/// What products take in cuBLAS beside what the model says, which knows faster libraries: 1 ÷ 0.6 on an H100 and an H200.
const CUBLAS_ON_HOPPER: f64 = 1.67;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let phase = |phase| draft.workload.ops.iter().any(|e| e.phase == Some(phase));
    if draft.trains || phase(Phase::Optimizer) || !phase(Phase::Forward) || ctx.device.peaks.i8_tensor.is_none() {
        return None;
    }
    // Quantised are layers with weights; attention's own products stay.
    let layers = |op: &Op| matches!(op, Op::Matmul { batch: 1, .. });
    let mut out = recast(draft, ctx, &[Dtype::F32, Dtype::Tf32, Dtype::F16, Dtype::Bf16], Dtype::I8, &layers)?;
    let mut around: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for (i, old) in draft.workload.ops.iter().enumerate() {
        let Op::Matmul { m, n, k, .. } = old.op else { continue };
        if out.workload.ops[i].dtype == old.dtype {
            continue;
        }
        let (taken, made) = (m.saturating_mul(k), m.saturating_mul(n));
        // The units sum in 32 bits.
        out.workload.ops[i].written_bytes = made.saturating_mul(4);
        let bytes = old.dtype.bytes();
        let before = pass(old, taken, 4.0, taken.saturating_mul(bytes), taken);
        let after = pass(old, made, 2.0, made.saturating_mul(4), made.saturating_mul(bytes));
        around.insert(i as u32, (out.add(before), out.add(after)));
        if ctx.device.compute_capability.as_deref() == Some("9.0") {
            out.slow_down(i as u32, CUBLAS_ON_HOPPER);
        }
    }
    let steps = between(&out.order, &around);
    out.reorder(steps)?;
    out.once += TORCH_COMPILE;
    Some(Change {
        draft: out,
        title: "8-bit integers for the layers, compiled".to_owned(),
        why: "inference: weights in a quarter or half of the bytes, products in the matrix units' fastest type"
            .to_owned(),
        site: None,
        patch: None,
        ready: Some(
            "from torchao.quantization import quantize_, Int8DynamicActivationInt8WeightConfig\n\
             quantize_(model, Int8DynamicActivationInt8WeightConfig())\n\
             model = torch.compile(model)  # else each layer quantises in many small steps"
                .to_owned(),
        ),
        risk: Some(
            "about two digits: check the quality on your own data; without torch.compile it is slower, not faster",
        ),
    })
}

/// One pass over `n` numbers beside a product: what it takes is quantised, what it gives is scaled.
fn pass(product: &Entry, n: u64, flop_per_element: f64, read_bytes: u64, written_bytes: u64) -> Entry {
    Entry {
        name: "aten.mul".to_owned(),
        op: Op::Elementwise { n, inputs: 1, flop_per_element, transcendental: false },
        read_bytes,
        written_bytes,
        cpu_ns: 0,
        gap_ns: 0,
        host_input_bytes: 0,
        host_input_count: 0,
        kernels: 0,
        shapes: None,
        ..product.clone()
    }
}

/// The steps with what stands around some of them.
fn between(steps: &[Step], around: &BTreeMap<u32, (u32, u32)>) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Run(e) => match around.get(e) {
                Some(&(before, after)) => out.extend([before, *e, after].map(Step::Run)),
                None => out.push(Step::Run(*e)),
            },
            Step::Repeat(times, body) => out.push(Step::Repeat(*times, between(body, around))),
        }
    }
    out
}
