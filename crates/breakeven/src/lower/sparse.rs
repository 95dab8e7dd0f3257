//! Products of sparse matrices.

use super::Call;
use crate::workload::Op;
use crate::workload::op::Sparse;

/// A matrix in compressed rows or columns is three arrays: `data` and `indices` of one length, `indptr`. A recorder
/// passes those of the matrix, in any order, then the dense operand or the three of the other matrix.
pub(super) fn op(call: &Call) -> Op {
    let flat = |i: usize| call.inputs.get(i).filter(|a| a.shape.len() == 1).map(|a| a.count());
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
    if call.inputs.len() >= 6 {
        let cols = flat(3).into_iter().chain(flat(4)).chain(flat(5)).min().unwrap_or(1).saturating_sub(1);
        return Op::Sparse {
            kind: Sparse::Spgemm,
            rows,
            cols,
            nnz,
            n: call.outputs.first().map_or(cols, |o| o.last()),
        };
    }
    let dense = call.inputs.get(3).map_or(&[][..], |a| &a.shape);
    let (cols, n) = match *dense {
        [] => (rows, 1),
        [cols] => (cols, 1),
        [cols, ref rest @ ..] => (cols, super::call::product(rest)),
    };
    Op::Sparse { kind: if n == 1 { Sparse::Spmv } else { Sparse::Spmm }, rows, cols, nnz, n }
}
