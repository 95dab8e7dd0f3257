//! Dense factorisations and solves. LU, Cholesky, QR: LAPACK Working Note 41, appendix C. SVD, least squares,
//! eigenvalues: Golub & Van Loan, *Matrix Computations* (4th ed.), tables of §8.6.3 and §5.5.6, §8.3, §7.5. Where it
//! lists two algorithms, the cheaper one. A complex multiply-add counts as four.

use super::Need;
use crate::workload::{Dtype, op::Factor};

pub(super) fn need(kind: Factor, [m, n, rhs, batch]: [f64; 4], dtype: Dtype) -> Need {
    let (long, short) = (m.max(n), m.min(n));
    let columns = rhs.max(1.0);
    let s = dtype.bytes() as f64;
    let (flop, elements) = match kind {
        Factor::Lu => (lu(m, n), 2.0 * m * n),
        Factor::Det => (lu(m, n), m * n),
        Factor::Cholesky => (n * n * n / 3.0, 2.0 * n * n),
        // R, then Q from the reflectors: the same again (as numpy.linalg.qr returns both).
        Factor::Qr => (2.0 * qr(long, short), m * n + long * short + short * short),
        Factor::Svd => (
            (14.0 * long * short * short + 8.0 * cube(short)).min(6.0 * long * short * short + 20.0 * cube(short)),
            2.0 * m * n + short * short + short,
        ),
        Factor::Svdvals => (
            (4.0 * long * short * short - 4.0 / 3.0 * cube(short)).min(2.0 * long * short * short + 2.0 * cube(short)),
            m * n + short,
        ),
        Factor::Eigh => (9.0 * cube(n), 2.0 * n * n + n),
        Factor::Eigvalsh => (4.0 / 3.0 * cube(n), n * n + n),
        Factor::Eig => (25.0 * cube(n), 2.0 * n * n + n),
        Factor::Inverse => (2.0 * cube(n), 2.0 * n * n),
        Factor::Solve => (lu(n, n) + 2.0 * n * n * columns, n * n + 2.0 * n * columns),
        Factor::TriangularSolve => (n * n * columns, n * n / 2.0 + 2.0 * n * columns),
        Factor::Lstsq => (
            (4.0 * long * short * short + 8.0 * cube(short)).min(2.0 * long * short * short + 11.0 * cube(short))
                + 2.0 * (long * short + short * short) * columns,
            m * n + (m + n) * columns,
        ),
    };
    Need { flop: batch * flop * dtype.complex_factor(), bytes: batch * elements * s }
}

/// m×n: 2/3 n³ when square.
fn lu(m: f64, n: f64) -> f64 {
    let (long, short) = (m.max(n), m.min(n));
    long * short * short - cube(short) / 3.0
}

fn qr(long: f64, short: f64) -> f64 {
    2.0 * long * short * short - 2.0 / 3.0 * cube(short)
}

fn cube(n: f64) -> f64 {
    n * n * n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flop(kind: Factor, m: f64, n: f64) -> f64 {
        need(kind, [m, n, 1.0, 1.0], Dtype::F64).flop
    }

    #[test]
    fn three_hundred_square() {
        assert_eq!(flop(Factor::Lu, 300.0, 300.0), 18e6);
        assert_eq!(flop(Factor::Cholesky, 300.0, 300.0), 9e6);
        assert_eq!(flop(Factor::Qr, 300.0, 300.0), 72e6); // 4/3 n³ for R, as much for Q
        assert_eq!(flop(Factor::Svd, 300.0, 300.0), 594e6); // 22 n³
        assert_eq!(flop(Factor::Svdvals, 300.0, 300.0), 72e6); // 8/3 n³
        assert_eq!(flop(Factor::Eigh, 300.0, 300.0), 243e6);
        assert_eq!(flop(Factor::Inverse, 300.0, 300.0), 54e6);
        assert_eq!(flop(Factor::Solve, 300.0, 300.0), 18e6 + 180e3);
    }

    #[test]
    fn a_tall_matrix_costs_by_its_short_side() {
        assert_eq!(flop(Factor::Svdvals, 1e6, 10.0), 2.0 * 1e6 * 100.0 + 2000.0);
        assert_eq!(flop(Factor::Lu, 1000.0, 10.0), flop(Factor::Lu, 10.0, 1000.0));
    }

    #[test]
    fn batches_multiply() {
        assert_eq!(need(Factor::Cholesky, [3.0, 3.0, 0.0, 5.0], Dtype::F64), Need { flop: 45.0, bytes: 720.0 });
    }
}
