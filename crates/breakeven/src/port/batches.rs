//! Batches of matrices: taken by one routine, or by a loop on the host, by library, routine and size.

use crate::lower::rows;
use crate::workload::Op;
use crate::workload::op::Factor;

/// Of one library: the longest side that a batched routine takes; `None` for any.
#[derive(Debug)]
pub(super) struct Batches(Vec<(Factor, Option<u64>)>);

const TABLE: &str = include_str!("../../ports/batches.csv");

impl Batches {
    pub(super) fn of(library: &str) -> Self {
        let row = |r: csv::StringRecord| {
            let kind = serde_json::from_value(r.get(1)?.into()).ok()?;
            (r.get(0)? == library).then(|| (kind, r.get(2).and_then(|side| side.parse().ok())))
        };
        Self(rows(TABLE).filter_map(row).collect())
    }

    /// How often the host calls the routine: once, or once a matrix.
    pub(super) fn rounds(&self, op: &Op) -> u64 {
        let Op::Factor { kind, m, n, batch, .. } = op else { return 1 };
        let side = self.0.iter().find(|(of, _)| of == kind).and_then(|(_, side)| *side);
        if side.is_some_and(|side| (*m).max(*n) > side) { (*batch).max(1) } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_has_a_source() {
        let read: usize = ["cupy", "torch"].map(|library| Batches::of(library).0.len()).into_iter().sum();
        assert_eq!(read, rows(TABLE).count());
        assert!(rows(TABLE).all(|r| r.len() >= 4 && !r[3].is_empty()));
    }

    #[test]
    fn singular_values_of_wide_matrices_are_found_one_by_one() {
        let op = |m, kind| Op::Factor { kind, m, n: 3, rhs: 0, batch: 1000 };
        for library in ["cupy", "torch"] {
            let batches = Batches::of(library);
            assert_eq!([32, 33].map(|m| batches.rounds(&op(m, Factor::Svd))), [1, 1000]);
            assert_eq!(batches.rounds(&op(3, Factor::Qr)), 1000);
            assert_eq!(batches.rounds(&op(300, Factor::Cholesky)), 1);
        }
    }
}
