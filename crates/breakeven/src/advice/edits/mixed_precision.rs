//! bfloat16 by autocast: the matrix units do the products.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use super::products::recast;
use crate::estimate::Side;
use crate::workload::{Dtype, Op};

pub(super) const EDIT: Edit = Edit { id: "mixed-precision", sides: &[Side::Gpu], apply };

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let products = |op: &Op| {
        matches!(op, Op::Matmul { .. } | Op::Convolution { .. } | Op::Attention { .. } | Op::Recurrent { .. })
    };
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
