//! Dataframe verbs as libcudf runs them (cpp/src of rapidsai/cudf, branch-25.12 and main): kernels and passes of each
//! verb counted in its source, the traffic of hash tables fitted to published times.
//!
//! - `Filter` (stream_compaction/apply_boolean_mask): a count, a scan and a gather map, then one gather a column.
//! - `GroupBy` (groupby/hash): a set of rows is filled, one random access a row; each value is added to its group by an
//!   atomic; groups are gathered. `Pivot` and `Distinct` fill the same set.
//! - `Join` (join/hash_join): a table of the other side's rows; probing twice, for the size and for the pairs; each column
//!   of the result is gathered at random.
//! - `Sort` (sort/sort_column, sort/sort): one number is sorted by digits, several keys or text by merging with a
//!   comparison by columns; then all columns are gathered. `TopK` of cuDF's `nlargest` is such a sort.
//! - `Rolling` (rolling/detail/rolling): a thread a row that goes through its window.
//! - `Text`: sizes, a scan, letters; `ReadCsv`: rows found, types inferred, fields parsed; `ReadParquet`: pages decoded.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::family::FrameDims;
use crate::workload::op::Dataframe;
use std::sync::LazyLock;

/// Share of the streaming bandwidth that tables of columns reach.
const COLUMNS: f64 = 0.7;
/// Bytes of a row's number.
const ROW_NUMBER: f64 = 4.0;
/// Bytes of a slot of a hash table, twice as long as its rows.
const SLOT: f64 = 16.0;

macro_rules! traffic {
    ($($name:ident),* $(,)?) => {
        /// One number for each row of `frames.csv`, which says unit, range and origin.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[expect(missing_docs, reason = "frames.csv explains each")]
        pub struct FrameConstants { $(pub $name: f64),* }

        impl FrameConstants {
            /// The constant of that name, to be changed by a fit.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}
traffic! { group_row, group_key, group_value, join_row, merge_row, text_share, parse_share, decode_share }

impl FrameConstants {
    /// The table as text.
    pub const TABLE: &'static str = include_str!("frames.csv");

    /// The numbers that ship.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<FrameConstants> = LazyLock::new(|| {
            let mut read = FrameConstants::default();
            for row in crate::lower::rows(FrameConstants::TABLE) {
                let value = row.get(1).and_then(|value| value.parse().ok());
                if let (Some(place), Some(value)) = (row.get(0).and_then(|name| read.get_mut(name)), value) {
                    *place = value;
                }
            }
            read
        });
        &SHIPPED
    }
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, dims: &FrameDims) -> Cost {
    cost_with(FrameConstants::shipped(), machine, job, dims)
}

/// [`cost`] with other constants, for fitting them.
pub(super) fn cost_with(c: &FrameConstants, machine: &Machine<'_>, job: &Job, dims: &FrameDims) -> Cost {
    let FrameDims { kind, rows, columns, out_rows, keys, other_rows, window } = *dims;
    let s = job.dtype.bytes() as f64;
    let sector = machine.constants.gather_sector.max(s);
    let stream = |bytes: f64| machine.traffic(bytes, bytes, COLUMNS);
    let once = stream(job.bytes);
    // `n` rows of `each` bytes at random places of a table of `places`.
    let random = |n: f64, each: f64, places: f64| machine.traffic(n * each, places, 1.0);
    let gathered = |n: f64, from: f64| columns * random(n, sector + ROW_NUMBER, from * s);
    let set = |each: f64| random(rows, each + c.group_key * (keys - 1.0), rows * SLOT);
    let by_digits = s * stream(2.0 * rows * (s + ROW_NUMBER));
    let merged = if keys > 1.0 { rounds(rows) * random(rows, c.merge_row * keys, rows * s * keys) } else { 0.0 };
    let sorted = by_digits.max(merged);
    let (memory, launches) = match kind {
        Dataframe::Map => (once, columns.max(1.0)),
        Dataframe::Fold => (once, 2.0 * columns.max(1.0)),
        Dataframe::Scan => (2.0 * once, 3.0 * columns.max(1.0)),
        Dataframe::Date => (once, columns.max(1.0)),
        Dataframe::Filter => (2.0 * once, 4.0 + 2.0 * columns),
        Dataframe::Gather => (once + gathered(out_rows, rows), 2.0 + columns),
        Dataframe::Concat => (once, 1.0 + columns),
        Dataframe::GroupBy => {
            let added = columns * random(rows, c.group_value, out_rows * s);
            (once + set(c.group_row) + added, 10.0 + 2.0 * columns)
        }
        Dataframe::Pivot => (2.0 * once + set(c.group_row) + gathered(out_rows, out_rows), 14.0 + 2.0 * columns),
        Dataframe::Distinct => (once + set(c.group_row) + gathered(out_rows, rows), 8.0 + columns),
        Dataframe::Join => {
            let places = other_rows.max(1.0) * SLOT;
            let table = random(other_rows * keys, c.join_row, places);
            let probed = 2.0 * random(rows * keys, c.join_row, places);
            (once + table + probed + gathered(out_rows, rows + other_rows), 12.0 + 2.0 * columns)
        }
        Dataframe::Sort => (once + sorted + gathered(rows, rows), 4.0 + s + columns),
        Dataframe::TopK => (once + sorted + gathered(out_rows, rows), 5.0 + s + columns),
        Dataframe::Rolling => {
            let looked = rows * columns * window * s / machine.cache_rate;
            (2.0 * once + looked, 2.0 * columns.max(1.0))
        }
        Dataframe::Text => (3.0 * machine.traffic(job.bytes, job.bytes, c.text_share), 4.0 * columns.max(1.0)),
        Dataframe::ReadCsv | Dataframe::WriteText => {
            (machine.traffic(job.bytes, job.bytes, c.parse_share), 12.0 + 2.0 * columns)
        }
        Dataframe::ReadJson => (3.0 * machine.traffic(job.bytes, job.bytes, c.parse_share), 40.0 + 4.0 * columns),
        Dataframe::ReadParquet | Dataframe::WriteParquet => {
            (machine.traffic(job.bytes, job.bytes, c.decode_share), 20.0 + columns)
        }
    };
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    Cost { launches, at_peak, ..Cost::of(job, at_peak / machine.constants.map_share, memory) }
}

/// Rounds of a merge sort beyond the blocks that it begins with.
fn rounds(rows: f64) -> f64 {
    const BLOCK: f64 = 1024.0;
    1.0 + libm::log2((rows / BLOCK).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::rows;

    #[test]
    fn every_row_of_the_table_is_a_constant_within_its_range() {
        let mut shipped = *FrameConstants::shipped();
        let mut count = 0;
        for row in rows(FrameConstants::TABLE).skip(1) {
            let [value, low, high] = [1, 2, 3].map(|i| row[i].parse::<f64>().unwrap());
            assert!(low <= value && value <= high, "{row:?}");
            assert_eq!(shipped.get_mut(&row[0]), Some(&mut value.clone()), "{row:?}");
            assert!(!row[6].is_empty() && matches!(&row[5], "fitted" | "assumed"), "{row:?}");
            count += 1;
        }
        assert_eq!(count * size_of::<f64>(), size_of::<FrameConstants>());
    }
}
