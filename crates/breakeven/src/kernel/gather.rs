//! Indexed access: beyond the cache every element at a random place costs a whole sector of memory.

use super::atomic;
use super::cost::{Cost, Job};
use super::machine::Machine;
use super::stream;

/// An index is read before its element is: what that takes of the shortest kernel.
const CHAIN: f64 = 0.7;
/// Bytes of an index.
const INDEX: f64 = 8.0;

pub(super) fn gather(machine: &Machine<'_>, job: &Job, n: f64, source: f64) -> Cost {
    let s = job.dtype.bytes() as f64;
    let bytes = n * (s + INDEX);
    let memory = machine.traffic(bytes, bytes, 1.0) + random(machine, n, source * s, s);
    let bytes = bytes + beyond_cache(machine, n * s, source * s);
    Cost { bytes, chain: CHAIN * machine.floor, ..Cost::of(job, 0.0, memory) }
}

/// Written sectors are read first; adding is done by the cache, one element at a time.
pub(super) fn scatter(machine: &Machine<'_>, job: &Job, n: f64, target: f64, accumulate: bool) -> Cost {
    let s = job.dtype.bytes() as f64;
    let bytes = n * (s + INDEX);
    let touches = if accumulate { 3.0 } else { 2.0 };
    let memory = machine.traffic(bytes, bytes, 1.0) + touches * random(machine, n, target * s, s);
    let memory = if accumulate { memory.max(atomic::seconds(machine, n, target)) } else { memory };
    let bytes = bytes + touches * beyond_cache(machine, n * s, target * s);
    Cost { bytes, chain: CHAIN * machine.floor, ..Cost::of(job, 0.0, memory) }
}

pub(super) fn embedding(machine: &Machine<'_>, job: &Job) -> Cost {
    stream::pass(machine, job, 0.8)
}

/// Bytes asked of memory when `bytes` are wanted from random places of an array of `array` bytes.
fn beyond_cache(machine: &Machine<'_>, bytes: f64, array: f64) -> f64 {
    if array > 2.0 * machine.resident { bytes } else { 0.0 }
}

/// Seconds for `n` elements of `s` bytes at random places of an array of `array` bytes.
pub(super) fn random(machine: &Machine<'_>, n: f64, array: f64, s: f64) -> f64 {
    let sector = machine.constants.gather_sector.max(s);
    machine.traffic(n * sector, array, 1.0)
}
