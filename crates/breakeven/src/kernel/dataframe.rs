//! Dataframe verbs as cuDF runs them: hash tables for group-by and join (a random sector a probe), radix sorts,
//! streams for the rest, a handful of kernels each.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::op::Dataframe;

/// Share of the streaming bandwidth that tables of columns reach.
const COLUMNS: f64 = 0.7;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Dataframe) -> Cost {
    let (passes, launches) = match kind {
        Dataframe::Map => (1.0, 1.0),
        Dataframe::Filter | Dataframe::Rolling => (2.0, 4.0),
        Dataframe::GroupBy => (5.0, 10.0),
        Dataframe::Join => (6.0, 12.0),
        Dataframe::Sort => (10.0, 12.0),
    };
    let memory = passes * machine.traffic(job.bytes, job.bytes, COLUMNS);
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    Cost { launches, at_peak, ..Cost::of(job, at_peak / machine.constants.map_share, memory) }
}
