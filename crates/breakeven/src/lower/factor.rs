//! Dense factorisations and solves.

use super::Call;
use super::call::product;
use crate::workload::Op;
use crate::workload::op::Factor;

/// A stack of m×n matrices, and right-hand sides where a second array holds them.
pub(super) fn op(kind: Factor, call: &Call) -> Op {
    let shape = call.inputs.first().or(call.outputs.first()).map_or(&[][..], |a| &a.shape);
    let (lead, m, n) = match *shape {
        [] => (&[][..], 1, 1),
        [m] => (&[][..], m, 1),
        [ref lead @ .., m, n] => (lead, m, n),
    };
    let solves = matches!(kind, Factor::Solve | Factor::Lstsq | Factor::TriangularSolve);
    let rhs = match call.inputs.get(1).map(|b| b.shape.as_slice()) {
        _ if !solves => 0,
        Some([_]) | None => 1,
        Some([.., columns]) => *columns,
        Some([]) => 1,
    };
    // Singular values alone: asked for by name, or told by the one array that came back.
    let alone = call.keyword("compute_uv") == Some("False")
        || matches!(call.outputs, [values] if values.shape.len() + 1 == shape.len());
    let kind = if kind == Factor::Svd && alone { Factor::Svdvals } else { kind };
    Op::Factor { kind, m, n, rhs, batch: product(lead) }
}
