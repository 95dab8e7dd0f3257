//! Products of sparse matrices.

use super::Call;
use crate::workload::Op;
use crate::workload::op::Sparse;

/// A matrix in compressed rows or columns is three arrays: `data` and `indices` of one length, `indptr`. A recorder
/// passes those of the matrix, in any order, then the dense operand or the three of the other matrix; any array after
/// that is the result. A dense operand of several columns may come flattened: the result tells how many.
pub(super) fn op(call: &Call) -> Op {
    let flat = |i: usize| call.inputs.get(i).filter(|a| a.shape.len() == 1).map(super::ArrayRef::count);
    let (Some(a), Some(b), Some(c)) = (flat(0), flat(1), flat(2)) else { return Op::Opaque };
    // Of three lengths two are equal (nnz); the third is rows + 1.
    let (nnz, pointers) = if a == b {
        (a, c)
    } else if a == c {
        (a, b)
    } else {
        (b, a)
    };
    let rows = pointers.saturating_sub(1);
    if let (Some(d), Some(e), Some(f)) = (flat(3), flat(4), flat(5)) {
        let cols = (if d == e { f } else { d }).saturating_sub(1);
        return Op::Sparse { kind: Sparse::Spgemm, rows, cols, nnz, n: cols };
    }
    let Some(dense) = call.inputs.get(3) else { return Op::Opaque };
    let result = call.outputs.first().or(call.inputs.get(4)).map_or(rows, super::ArrayRef::count);
    let n = match *dense.shape {
        [_, ref rest @ ..] if !rest.is_empty() => super::call::product(rest),
        _ => result.checked_div(rows).unwrap_or(1).max(1),
    };
    let cols = dense.count().checked_div(n).unwrap_or(0);
    Op::Sparse { kind: if n == 1 { Sparse::Spmv } else { Sparse::Spmm }, rows, cols, nnz, n }
}
