//! Order: comparisons of the best comparison algorithm (Knuth, *TAOCP* 3, §5.3): n·log₂ n for a sort, log₂ of the
//! table for a look-up, 3.4 n for the median by quickselect (Floyd & Rivest 1975 give less, numpy's introselect is
//! close to this), one for a histogram bin or a top-k candidate. A device may sort by digits instead: that is its
//! model's affair.

use super::{Need, log2};
use crate::workload::op::Sort;

/// Bytes of an index.
const INDEX: f64 = 8.0;

pub(super) fn need(kind: Sort, rows: f64, width: f64, s: f64) -> Need {
    let n = rows * width;
    let (flop, bytes) = match kind {
        Sort::Sort => (n * log2(width), 2.0 * n * s),
        Sort::Argsort => (n * log2(width), n * (s + INDEX)),
        Sort::Unique => (n * log2(width) + n, 2.0 * n * s),
        Sort::TopK | Sort::Histogram => (n, n * s),
        Sort::Partition => (3.4 * n, 2.0 * n * s),
        // Each row looks one key up in a table of `width`.
        Sort::SearchSorted => (rows * log2(width), rows * (s + INDEX)),
    };
    Need { flop, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_and_twenty_four_keys_take_ten_comparisons_each() {
        assert_eq!(need(Sort::Sort, 1.0, 1024.0, 8.0), Need { flop: 10_240.0, bytes: 16_384.0 });
        assert_eq!(need(Sort::Argsort, 2.0, 1024.0, 4.0), Need { flop: 20_480.0, bytes: 24_576.0 });
    }

    #[test]
    fn a_look_up_halves_the_table() {
        let flop = 50.0 * 10.0; // 50 keys, 2¹⁰ table entries
        assert_eq!(need(Sort::SearchSorted, 50.0, 1024.0, 8.0), Need { flop, bytes: 800.0 });
    }

    #[test]
    fn one_element_is_sorted() {
        assert_eq!(need(Sort::Sort, 1.0, 1.0, 8.0).flop, 0.0);
        assert_eq!(need(Sort::Sort, 1.0, 0.0, 8.0).flop, 0.0);
    }
}
