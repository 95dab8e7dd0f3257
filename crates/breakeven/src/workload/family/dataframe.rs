//! Dataframe verbs over columns of equal element size: comparisons or hash steps, and columns read and written. The
//! hash table's cost is one probe per row (Knuth, *TAOCP* 3, §6.4, half full); a sort takes n·log₂ n; a rolling fold
//! adds each window anew, as libcudf does; text is looked at letter by letter, which the entry's own bytes tell.

use super::{Need, f, log2};
use crate::workload::op::Dataframe;
use crate::workload::{Dtype, Op};

/// Operations of a hash and a probe: two multiply-xor-shift rounds and two compares.
const HASH: f64 = 8.0;
/// Operations from days to year, month and day (Neri & Schneider 2023, *Euclidean affine functions*).
const CALENDAR: f64 = 12.0;
/// Operations for each byte of text that becomes a number, or the other way: a class, a multiply and an add.
const LETTER: f64 = 3.0;

/// The dims of a verb as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    pub(crate) kind: Dataframe,
    pub(crate) rows: f64,
    pub(crate) columns: f64,
    pub(crate) out_rows: f64,
    pub(crate) keys: f64,
    pub(crate) other_rows: f64,
    pub(crate) window: f64,
}

impl Dims {
    /// Those of a dataframe verb; none of anything else.
    pub(crate) fn of(op: &Op) -> Self {
        let &Op::Dataframe { kind, rows, columns, out_rows, keys, other_rows, window } = op else {
            return Self::of(&Op::frame(Dataframe::Map, [0; 3]));
        };
        let [rows, columns, out_rows] = [rows, columns, out_rows].map(f);
        let [keys, other_rows, window] = [keys.max(1), other_rows, window].map(f);
        Self { kind, rows, columns, out_rows, keys, other_rows, window }
    }
}

pub(super) fn need(dims: &Dims, s: f64) -> Need {
    let Dims { kind, rows, columns, out_rows, keys, other_rows, window } = *dims;
    let cells = rows * columns;
    let out = out_rows * columns;
    let hashing = HASH * rows * keys;
    let flop = match kind {
        Dataframe::Filter => rows,
        Dataframe::GroupBy | Dataframe::Pivot => hashing + cells,
        Dataframe::Distinct => hashing,
        Dataframe::Join => HASH * keys * (rows + other_rows + out_rows),
        Dataframe::Sort | Dataframe::TopK => rows * log2(rows) * keys,
        Dataframe::Rolling => cells * window.max(2.0),
        Dataframe::Map | Dataframe::Fold | Dataframe::Scan | Dataframe::Text => cells,
        Dataframe::Gather | Dataframe::Concat => 0.0,
        Dataframe::Date => CALENDAR * cells,
        Dataframe::ReadCsv | Dataframe::ReadJson | Dataframe::WriteText => LETTER * (cells + out) * s,
        Dataframe::ReadParquet | Dataframe::WriteParquet => cells + out,
    };
    Need { flop, bytes: (cells + out) * s + other_rows * keys * s }
}

/// Bytes of a row in a hash table that is at most half full: two slots of a number of a row and of its hash.
const SLOT: f64 = 16.0;
/// Bytes of a row's number.
const ROW_NUMBER: f64 = 4.0;

/// Device memory that a verb needs beside what it reads and gives, bytes, as libcudf allocates it (cpp/src, branch-25.12): tables
/// of rows by hash, maps of rows that are gathered, results by row before they are gathered by group, both copies of a
/// sort by digits. Elements of `s` bytes.
///
/// ```
/// use breakeven::workload::{Dtype, Op, family::frame_memory, op::Dataframe};
/// let filter = Op::frame(Dataframe::Filter, [1000, 10, 500]);
/// assert_eq!(frame_memory(&filter, Dtype::F64), 4.0 * 500.0);
/// ```
pub fn memory(op: &Op, dtype: Dtype) -> f64 {
    let s = dtype.bytes() as f64;
    let Dims { kind, rows, columns, out_rows, other_rows, .. } = Dims::of(op);
    match kind {
        Dataframe::GroupBy => SLOT * rows + rows * columns * s,
        Dataframe::Pivot => SLOT * rows + 2.0 * rows * columns * s,
        Dataframe::Distinct => SLOT * rows + ROW_NUMBER * out_rows,
        Dataframe::Join => SLOT * other_rows + 2.0 * ROW_NUMBER * out_rows,
        Dataframe::Sort | Dataframe::TopK => 2.0 * rows * (ROW_NUMBER + s) + ROW_NUMBER * rows,
        Dataframe::Filter | Dataframe::Gather => ROW_NUMBER * out_rows,
        Dataframe::Text => 2.0 * ROW_NUMBER * rows,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(op: &Op) -> Need {
        need(&Dims::of(op), 8.0)
    }

    #[test]
    fn group_by_reads_all_and_writes_its_groups() {
        let dims = [1000, 3, 10];
        assert_eq!(of(&Op::frame(Dataframe::GroupBy, dims)), Need { flop: 11_000.0, bytes: 24_240.0 });
        assert_eq!(of(&Op::frame(Dataframe::Filter, dims)).flop, 1000.0);
    }

    #[test]
    fn a_join_reads_the_keys_of_the_other_table_too() {
        let join = Op::Dataframe {
            kind: Dataframe::Join,
            rows: 1000,
            columns: 2,
            out_rows: 500,
            keys: 1,
            other_rows: 100,
            window: 0,
        };
        assert_eq!(of(&join), Need { flop: 8.0 * 1600.0, bytes: 24_800.0 });
    }

    #[test]
    fn a_rolling_fold_adds_its_windows_anew() {
        let rolling = |window| Op::Dataframe {
            kind: Dataframe::Rolling,
            rows: 100,
            columns: 1,
            out_rows: 100,
            keys: 1,
            other_rows: 0,
            window,
        };
        assert_eq!((of(&rolling(30)).flop, of(&rolling(0)).flop), (3000.0, 200.0));
    }

    #[test]
    fn what_is_no_verb_has_no_rows() {
        assert_eq!(Dims::of(&Op::View).rows, 0.0);
        assert_eq!(memory(&Op::View, Dtype::F64), 0.0);
    }

    #[test]
    fn a_group_by_needs_as_much_again_as_its_values() {
        let op = Op::frame(Dataframe::GroupBy, [1000, 3, 10]);
        assert_eq!(memory(&op, Dtype::F64), 16_000.0 + 24_000.0);
    }
}
