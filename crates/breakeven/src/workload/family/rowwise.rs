//! Soft-max, normalisations and scans along rows, counted from their definitions (Bridle 1990; Ba et al. 2016; Zhang &
//! Sennrich 2019; Ioffe & Szegedy 2015; Blelloch 1990), one operation for each pass over an element.

use super::{Need, Pass};
use crate::workload::{Dtype, op::Rowwise};

pub(super) fn need(kind: Rowwise, pass: Pass, rows: f64, width: f64, dtype: Dtype) -> Need {
    let n = rows * width;
    let s = dtype.bytes() as f64;
    let forward = pass == Pass::Forward;
    let flop = match (kind, forward) {
        // maximum, subtract, exp, add, divide
        (Rowwise::Softmax | Rowwise::LogSoftmax, true) => 5.0,
        // y·dy, add, subtract, multiply
        (Rowwise::Softmax | Rowwise::LogSoftmax, false) => 4.0,
        // the soft-max and the pick of one logarithm; backward: exp, subtract, scale
        (Rowwise::CrossEntropy, true) => 5.0,
        (Rowwise::CrossEntropy, false) => 3.0,
        // mean, subtract, square, add, scale, weight, bias
        (Rowwise::LayerNorm | Rowwise::BatchNorm | Rowwise::GroupNorm, true) => 7.0,
        // square, add, scale, weight
        (Rowwise::RmsNorm, true) => 4.0,
        // two reductions (dy·x̂ and dy), dx, and the two gradients of weight and bias
        (Rowwise::LayerNorm | Rowwise::BatchNorm | Rowwise::GroupNorm, false) => 14.0,
        (Rowwise::RmsNorm, false) => 8.0,
    };
    let bytes = match (kind, forward) {
        (Rowwise::CrossEntropy, true) => n + rows,
        (_, true) => 2.0 * n,
        // the saved result (or input) and dy in, dx out
        (_, false) => 3.0 * n,
    };
    Need { flop: flop * n, bytes: bytes * s }
}

/// A cumulative operation: one step per element, read once, written once.
pub(super) fn scan(n: f64, dtype: Dtype) -> Need {
    Need { flop: n * dtype.complex_factor(), bytes: 2.0 * n * dtype.bytes() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_of_a_thousand_rows() {
        let forward = need(Rowwise::Softmax, Pass::Forward, 1000.0, 512.0, Dtype::F32);
        assert_eq!(forward, Need { flop: 2_560_000.0, bytes: 4_096_000.0 });
        assert_eq!(need(Rowwise::Softmax, Pass::Backward, 1000.0, 512.0, Dtype::F32).bytes, 6_144_000.0);
    }

    #[test]
    fn a_cumulative_sum_adds_once_per_element() {
        assert_eq!(scan(1000.0, Dtype::F64), Need { flop: 1000.0, bytes: 16_000.0 });
    }
}
