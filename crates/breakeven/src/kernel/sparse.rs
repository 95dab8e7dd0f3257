//! Sparse products: the stored entries stream, the dense side is gathered (Bell & Garland, SC '09). A row-wise kernel
//! keeps about 0.7 of the streaming rate on rows of uneven length.

use super::cost::{Cost, Job};
use super::gather;
use super::machine::Machine;
use crate::workload::op::Sparse;

const UNEVEN: f64 = 0.7;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Sparse, [cols, nnz, n]: [f64; 3]) -> Cost {
    let s = job.dtype.bytes() as f64;
    let streamed = machine.traffic(job.bytes, job.bytes, UNEVEN);
    // Neighbouring entries of a row share sectors of the dense side about half the time.
    let gathered = 0.5 * gather::random(machine, nnz, cols * n.max(1.0) * s, n.max(1.0) * s);
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    let (memory, launches) = match kind {
        Sparse::Spmv | Sparse::Spmm => (streamed + gathered, 1.0),
        // Symbolic and numeric phases, each with hashing of the products' columns.
        Sparse::Spgemm => (4.0 * streamed + 2.0 * gathered, 6.0),
    };
    Cost { launches, at_peak, ..Cost::of(job, at_peak / machine.constants.map_share, memory) }
}
