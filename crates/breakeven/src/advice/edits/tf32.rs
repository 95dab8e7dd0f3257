//! TF32 products, by a switch.

use super::super::draft::Draft;
use super::super::{Change, Context, Edit};
use super::products::recast;
use crate::estimate::Side;
use crate::workload::{Dtype, Op};

pub(super) const EDIT: Edit = Edit { id: "tf32", sides: &[Side::Gpu], apply };

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
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
