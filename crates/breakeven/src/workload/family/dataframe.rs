//! Dataframe verbs over columns of equal element size: comparisons or hash steps, and columns read and written. The
//! hash table's cost is one probe per row (Knuth, *TAOCP* 3, §6.4, half full); a sort takes n·log₂ n.

use super::{Need, log2};
use crate::workload::op::Dataframe;

/// Operations of a hash and a probe: two multiply-xor-shift rounds and two compares.
const HASH: f64 = 8.0;

pub(super) fn need(kind: Dataframe, [rows, columns, out_rows]: [f64; 3], s: f64) -> Need {
    let cells = rows * columns;
    let out = out_rows * columns;
    let flop = match kind {
        Dataframe::Filter => rows,
        Dataframe::GroupBy => HASH * rows + cells,
        Dataframe::Join => HASH * (rows + out_rows),
        Dataframe::Sort => rows * log2(rows),
        Dataframe::Rolling => 2.0 * cells,
        Dataframe::Map => cells,
    };
    Need { flop, bytes: (cells + out) * s }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_by_reads_all_and_writes_its_groups() {
        let dims = [1000.0, 3.0, 10.0];
        assert_eq!(need(Dataframe::GroupBy, dims, 8.0), Need { flop: 11_000.0, bytes: 24_240.0 });
        assert_eq!(need(Dataframe::Filter, dims, 8.0).flop, 1000.0);
    }
}
