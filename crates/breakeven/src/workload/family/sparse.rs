//! Sparse products with the sparse side in CSR: one multiply-add per stored entry and dense column (Saad, *Iterative
//! Methods for Sparse Linear Systems*, §3.4–3.5). Indices are 4 bytes, as cuSPARSE and SciPy choose below 2³¹ entries.

use super::Need;
use crate::workload::{Dtype, op::Sparse};

const INDEX: f64 = 4.0;

pub(super) fn need(kind: Sparse, [rows, cols, nnz, n]: [f64; 4], dtype: Dtype) -> Need {
    let s = dtype.bytes() as f64;
    let stored = nnz * (s + INDEX) + (rows + 1.0) * INDEX;
    let complex = dtype.complex_factor();
    match kind {
        Sparse::Spmv | Sparse::Spmm => {
            let n = if kind == Sparse::Spmv { n.max(1.0) } else { n };
            Need { flop: 2.0 * nnz * n * complex, bytes: stored + (cols + rows) * n * s }
        }
        // The second matrix is taken to be as sparse as the first and evenly filled: each entry meets nnz / cols.
        Sparse::Spgemm => {
            let products = nnz * (nnz / cols.max(1.0));
            Need { flop: 2.0 * products * complex, bytes: 2.0 * stored + products * (s + INDEX) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 × 1000 with five entries a row.
    #[test]
    fn a_five_point_stencil_as_a_matrix() {
        let dims = [1000.0, 1000.0, 5000.0, 1.0];
        let spmv = need(Sparse::Spmv, dims, Dtype::F64);
        assert_eq!(spmv, Need { flop: 10_000.0, bytes: 60_000.0 + 4004.0 + 16_000.0 });
        assert_eq!(need(Sparse::Spmm, [1000.0, 1000.0, 5000.0, 8.0], Dtype::F64).flop, 80_000.0);
        assert_eq!(need(Sparse::Spgemm, dims, Dtype::F64).flop, 50_000.0); // 5000 entries meet 5 each
    }
}
