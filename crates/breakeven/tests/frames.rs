//! Laws of the verbs of data frames on a GPU: more rows never take less time, and a few more take little longer.

use breakeven::hardware::Catalogue;
use breakeven::kernel::kernel_time;
use breakeven::units::Bytes;
use breakeven::workload::op::Dataframe;
use breakeven::workload::{Dtype, Op};
use proptest::prelude::*;
use proptest::sample::select;

fn seconds(op: &Op, gpu: &str) -> f64 {
    let found = Catalogue::embedded().find_gpu(gpu).unwrap();
    kernel_time(op, Dtype::F64, Bytes(0.0), Bytes(0.0), &found.gpus[0].device).p50.get()
}

fn verb(kind: Dataframe, [rows, columns, out_rows, other_rows]: [u64; 4], keys: u64, window: u64) -> Op {
    Op::Dataframe { kind, rows, columns, out_rows, keys, other_rows, window }
}

proptest! {
    #[test]
    fn more_rows_never_take_less_time_and_few_more_take_little_longer(
        kind in select(Dataframe::ALL), rows in 1000..1_000_000_000_u64, columns in 1..100_u64, keys in 1..6_u64,
        window in 0..100_u64)
    {
        let at = |rows: u64| seconds(&verb(kind, [rows, columns, rows / 2, rows / 10], keys, window), "l4");
        let (few, more, most) = (at(rows), at(rows + rows / 100), at(4 * rows));
        prop_assert!(few <= more && more <= most, "{few} {more} {most}");
        prop_assert!(more <= 1.25 * few, "{few} {more}");
    }
}

#[test]
fn a_join_takes_longer_than_a_filter_and_a_sort_by_three_keys_than_by_one() {
    let n = 10_000_000;
    let of = |kind, keys| seconds(&verb(kind, [n, 3, n / 2, n / 10], keys, 0), "a100");
    assert!(of(Dataframe::Join, 1) > of(Dataframe::Filter, 1));
    assert!(of(Dataframe::Sort, 3) > of(Dataframe::Sort, 1));
    assert!(of(Dataframe::GroupBy, 3) > of(Dataframe::GroupBy, 1));
}
