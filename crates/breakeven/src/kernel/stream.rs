//! Element-wise maps, copies and reductions: one pass over memory, or over the cache when the arrays fit it.

use super::cost::{Cost, Job, overlap};
use super::machine::Machine;

/// Kernels for 16 bits differ more between libraries: how many elements a thread takes, and where they are converted.
const HALF: f64 = 2.0;

pub(super) fn map(machine: &Machine<'_>, job: &Job, n: f64) -> Cost {
    let doubt = if job.dtype.bytes() == 2 { HALF } else { 1.0 };
    let one = pass(machine, job, 1.0);
    // A thread that takes one element starts, works out its place and waits for one load: so many elements a clock, in
    // single precision and in double, from memory as from the cache.
    let c = machine.constants;
    let pace = if machine.recent { c.map_threads_recent } else { c.map_threads };
    let threads = if job.one_each { n / (machine.units * machine.clock * pace) } else { 0.0 };
    Cost { doubt, memory: overlap(one.memory, threads), ..one }
}

pub(super) fn copy(machine: &Machine<'_>, job: &Job, strided: bool) -> Cost {
    pass(machine, job, if strided { machine.constants.strided_share } else { 1.0 })
}

/// Many results: each block folds its own. Few: blocks fold parts and a second step folds those.
pub(super) fn reduce(machine: &Machine<'_>, job: &Job, n: f64, out: f64) -> Cost {
    let two_steps = out < machine.units && n > 4096.0 * out.max(1.0);
    // The tree in a block takes its time, too: 2.8 µs for 1024 elements on an H100, 4.8 for 8192.
    let chain = 0.4 * machine.floor;
    Cost { launches: if two_steps { 2.0 } else { 1.0 }, chain, ..pass(machine, job, 0.95) }
}

/// One kernel that streams `job` at `share` of what a copy reaches.
pub(super) fn pass(machine: &Machine<'_>, job: &Job, share: f64) -> Cost {
    Cost {
        at_peak: job.flop / machine.vector_peak(job.dtype),
        ..Cost::of(job, machine.arithmetic(job.flop, job.dtype), machine.streamed(job.bytes, share))
    }
}
