//! Soft-max, normalisations and scans: rows that fit a block's registers or shared memory are read once; longer rows
//! are read again, mostly from cache. Scans chain their blocks (Merrill & Garland 2016, decoupled look-back): one pass.

use super::cost::{Cost, Job};
use super::machine::Machine;
use super::stream;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, rows: f64, width: f64) -> Cost {
    let cost = stream::pass(machine, job, machine.constants.rowwise_share);
    // A row stays on one SM, which can draw only its own share of the cache's rate.
    let alone = (rows / machine.units).ceil() * width * job.dtype.bytes() as f64 * machine.units / machine.cache_rate;
    Cost { memory: cost.memory.max(alone), ..cost }
}

pub(super) fn scan(machine: &Machine<'_>, job: &Job) -> Cost {
    stream::pass(machine, job, 0.85)
}
