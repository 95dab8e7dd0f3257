//! Dense matrix product C[m,n] = A[m,k]·B[k,n]: 2·m·n·k (LAPACK Working Note 41, table of BLAS 3 counts).

use super::Need;
use crate::workload::Dtype;

pub(super) fn need([m, n, k, batch]: [f64; 4], bias: bool, dtype: Dtype) -> Need {
    let (s, out) = (dtype.bytes() as f64, m * n * batch);
    // Libraries return before they read anything.
    if out <= 0.0 {
        return Need::NOTHING;
    }
    let mut need = Need { flop: 2.0 * out * k * dtype.complex_factor(), bytes: (m * k + k * n + m * n) * batch * s };
    if bias {
        need.flop += out;
        need.bytes += n * s;
    }
    need
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_three_times_three_by_four() {
        // 8 outputs, 3 multiply-adds each; 6 + 12 + 8 elements.
        assert_eq!(need([2.0, 4.0, 3.0, 1.0], false, Dtype::F32), Need { flop: 48.0, bytes: 104.0 });
        assert_eq!(need([2.0, 4.0, 3.0, 5.0], true, Dtype::F32), Need { flop: 280.0, bytes: 536.0 });
    }

    #[test]
    fn without_results_nothing_is_read() {
        assert_eq!(need([2.0, 0.0, 3.0, 1.0], true, Dtype::F32), Need::NOTHING);
        assert_eq!(need([2.0, 4.0, 0.0, 1.0], false, Dtype::F32), Need { flop: 0.0, bytes: 32.0 });
    }

    #[test]
    fn a_complex_multiply_add_is_four_real_ones() {
        assert_eq!(need([2.0, 4.0, 3.0, 1.0], false, Dtype::C128).flop, 192.0);
    }
}
