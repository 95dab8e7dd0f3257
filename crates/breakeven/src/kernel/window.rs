//! Sliding windows: input and output once through memory, the windows' reuse from cache, one load an element.

use super::cost::{Cost, Job};
use super::machine::Machine;
use super::stream;

pub(super) fn cost(machine: &Machine<'_>, job: &Job) -> Cost {
    let cost = stream::pass(machine, job, 0.8);
    let loads = job.flop * job.dtype.bytes() as f64 / (4.0 * machine.cache_rate);
    Cost { compute: cost.compute.max(loads), ..cost }
}
