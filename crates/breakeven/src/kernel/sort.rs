//! Order on a GPU: sorts go digit by digit, eight bits a pass, each pass reading and writing all keys and payloads,
//! after one reading for the digit counts (Adinets & Merrill 2022, *Onesweep*, as in CUB and Thrust). Many short rows
//! carry their row number as a further key. CuPy's partition is such a sort too.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::op::Sort;

/// Bytes of keys that one block sorts, on an H100.
const ONE_BLOCK: f64 = 19_456.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Sort, rows: f64, width: f64) -> Cost {
    let c = machine.constants;
    let stream = |bytes: f64| machine.traffic(bytes, bytes, 1.0);
    let n = rows * width;
    let key = job.dtype.bytes() as f64;
    // A pass waits for its first block, ranks each key, and moves it.
    let ranked = c.radix_us * 1e-6 + n / (machine.units * machine.clock);
    let pass = |bytes: f64| ranked + stream(bytes);
    // Rows beyond the first need digits for the row number, and the number carried along.
    let (row_bytes, carried) = if rows > 1.0 { (row_digits(rows), 4.0) } else { (0.0, 0.0) };
    let radix = |payload: f64| (key + row_bytes) * pass(2.0 * n * (key + payload + carried)) + stream(n * key);
    let digits = key + row_bytes;
    let (memory, launches) = match kind {
        Sort::Sort | Sort::Partition => (radix(0.0), 2.0 + digits),
        Sort::Argsort => (radix(8.0), 2.0 + digits),
        // A sort, a comparison with the neighbour, a scan, a compaction.
        Sort::Unique => (radix(0.0) + stream(n * (3.0 * key + 8.0)), 5.0 + digits),
        Sort::TopK => (key * stream(n * key), 2.0 + key),
        Sort::Histogram => (stream(n * key) * 2.0, 2.0),
        // A look-up a row: a chain of dependent reads, the first levels from cache.
        Sort::SearchSorted => {
            let levels = if width > 1.0 { libm::log2(width) } else { 1.0 };
            (stream(rows * (key + 8.0)) + rows * levels * c.gather_sector / machine.cache_rate, 1.0)
        }
    };
    // What one block holds is in order after one pass.
    let alone = matches!(kind, Sort::Sort | Sort::Partition | Sort::Argsort) && rows <= 1.0 && n * key <= ONE_BLOCK;
    let memory = if alone { memory.min(c.radix_us * 1e-6) } else { memory };
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    Cost { launches, at_peak, ..Cost::of(job, at_peak, memory) }
}

/// Bytes of a row number.
fn row_digits(rows: f64) -> f64 {
    (libm::log2(rows) / 8.0).ceil()
}
