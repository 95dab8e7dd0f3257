//! Element-wise maps and reductions: what the caller says per element, once per element (for transcendental functions
//! the length of their published polynomial, e.g. Cephes; recorders fill it in).

use super::Need;
use crate::workload::Dtype;

pub(super) fn map(n: f64, inputs: f64, flop_per_element: f64, dtype: Dtype) -> Need {
    Need { flop: arithmetic(n, flop_per_element, dtype), bytes: n * (inputs + 1.0) * dtype.bytes() as f64 }
}

pub(super) fn reduce(n: f64, out: f64, flop_per_element: f64, dtype: Dtype) -> Need {
    Need { flop: arithmetic(n, flop_per_element, dtype), bytes: (n + out) * dtype.bytes() as f64 }
}

/// A cost that is negative or not a number counts nothing.
fn arithmetic(n: f64, flop_per_element: f64, dtype: Dtype) -> f64 {
    let each = if flop_per_element > 0.0 { flop_per_element.min(1e12) } else { 0.0 };
    n * each * dtype.complex_factor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_two_arrays_reads_two_and_writes_one() {
        assert_eq!(map(1e6, 2.0, 1.0, Dtype::F32), Need { flop: 1e6, bytes: 12e6 });
    }

    #[test]
    fn a_reduction_reads_all_and_writes_little() {
        assert_eq!(reduce(1e6, 1.0, 1.0, Dtype::F64), Need { flop: 1e6, bytes: 8_000_008.0 });
    }

    #[test]
    fn a_cost_that_is_not_a_number_counts_nothing() {
        assert_eq!(map(10.0, 1.0, f64::NAN, Dtype::F32).flop, 0.0);
        assert_eq!(map(10.0, 1.0, -1.0, Dtype::F32).flop, 0.0);
    }
}
