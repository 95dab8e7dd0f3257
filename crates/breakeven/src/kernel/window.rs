//! Sliding windows: input and output once through memory, the windows' reuse from cache, one load an element. A thread each output,
//! or in a gradient each input, finds its place by integer divisions, as in depth-wise convolutions.

use super::cost::{Cost, Job};
use super::machine::Machine;
use super::stream;
use crate::workload::Pass;

/// Cycles of an SM for a thread: 2.5 to 4 on an H100 and an H200.
const THREAD: f64 = 3.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, pass: Pass, n: f64, input: f64) -> Cost {
    let cost = stream::pass(machine, job, 0.8);
    let loads = job.flop * job.dtype.bytes() as f64 / (4.0 * machine.cache_rate);
    let threads = if pass == Pass::Forward { n } else { input };
    let places = threads * THREAD / (machine.units * machine.clock);
    Cost { compute: cost.compute.max(loads).max(places), ..cost }
}
