//! Several GPUs: the batch of a training divided among them.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use crate::estimate::Side;
use crate::growth::batch_of;
use crate::report::words;
use crate::workload::{Op, Phase, Workload};

pub(super) const EDIT: Edit = Edit { id: "multi-gpu", sides: &[Side::Gpu], apply };

/// Each further GPU adds this part of itself, assumed: the calculator's default.
const EFFICIENCY: f64 = 0.9;
/// Training shorter than this does not need a second GPU, s.
const LONG: f64 = 600.0;

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let time = ctx.before.time?.p50;
    let busy = (ctx.before.parts.compute + ctx.before.parts.memory) / ctx.before.parts.total();
    let several = ctx.question.setup.gpus > 1.0;
    if several
        || !draft.trains
        || time < LONG
        || busy < 0.5
        || !draft.device_share.is_empty()
        || is_single(&draft.workload)
    {
        return None;
    }
    let half = 1.0 / (1.0 + EFFICIENCY);
    let shared = |phase| matches!(phase, Some(Phase::Forward | Phase::Backward));
    let device_share = draft.workload.ops.iter().map(|e| if shared(e.phase) { half } else { 1.0 }).collect();
    Some(Change {
        draft: Draft { device_share, ..draft.clone() },
        title: "Two GPUs, half of each batch to either".to_owned(),
        why: format!(
            "the GPU is busy {} of the time; a second one adds 90 % of itself (assumed), and its rent",
            words::percent(busy)
        ),
        site: None,
        patch: None,
        ready: Some(
            "model = torch.nn.parallel.DistributedDataParallel(model)  # torchrun --nproc-per-node 2 …".to_owned(),
        ),
        risk: Some("the rent doubles; gradients are exchanged each step"),
    })
}

/// Whether a step takes a single sample, of which there is no half.
fn is_single(workload: &Workload) -> bool {
    let mut sequences = workload.ops.iter().filter_map(|e| match e.op {
        Op::Attention { batch, .. } => Some(batch),
        _ => None,
    });
    batch_of(workload).is_some_and(|batch| batch.called() == 1)
        || sequences.next().is_some_and(|first| first == 1 && sequences.all(|n| n == 1))
}
