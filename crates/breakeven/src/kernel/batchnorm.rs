//! Batch-norm over images. cuDNN gives each channel to one block, which looks at it for its moments and again for its
//! result; PyTorch launches its own kernels for bf16, which cuDNN does not take (`_select_batch_norm_backend`): Welford's
//! moments, a division for each element, as fast as the ordinary cores and not as the memory.

use super::cost::{Cost, Job, beside, overlap};
use super::machine::Machine;
use crate::workload::{Dtype, Pass};

/// Share of the shorter of one channel's block and the traffic of all that the longer does not hide.
const BESIDE: f64 = 0.36;
/// Elements a second of a block, forward and back, on an H100: it waits for memory, whose latency differs little between
/// boards.
const CUDNN: [f64; 2] = [1.88e9, 0.725e9];
const OWN: [f64; 2] = [1.12e9, 0.5e9];
/// Elements a cycle of an SM full of PyTorch's blocks; and where channels lie last, so that each lane has its own.
const FULL: [f64; 2] = [1.05, 0.7];
const FULL_LAST: [f64; 2] = [1.05, 1.6];

pub(super) fn cost(machine: &Machine<'_>, job: &Job, pass: Pass, channels: f64, width: f64) -> Cost {
    let back = usize::from(pass != Pass::Forward);
    let array = channels * width * job.dtype.bytes() as f64;
    // Forward the images are read, backward their gradient too, each twice; one result.
    let read = if back > 0 { 2.0 * array } else { array };
    let share = machine.constants.rowwise_share;
    let least = machine.streamed(job.bytes, share);
    let again = machine.traffic(read, read, share);
    let alone = |rates: [f64; 2]| width / rates[back];
    let full = |rates: [f64; 2]| channels * width / (rates[back] * machine.units * machine.clock);
    let (compute, memory, serial) = match (job.dtype == Dtype::Bf16, job.channels_last) {
        (false, true) => (machine.arithmetic(job.flop, job.dtype), least + again, BESIDE),
        (false, false) => (alone(CUDNN).max(machine.arithmetic(job.flop, job.dtype)), least + again, BESIDE),
        // Moments, then another kernel for the result.
        (true, true) => (overlap(full(FULL_LAST), again), least, 1.0),
        (true, false) if back > 0 => (beside(full(FULL), alone(OWN), BESIDE), least + again, 0.0),
        (true, false) => (overlap(beside(full(FULL), alone(OWN), BESIDE), again), least, 1.0),
    };
    let launches = if serial == 1.0 { 2.0 } else { 1.0 };
    let at_peak = job.flop / machine.vector_peak(job.dtype);
    Cost { launches, serial, at_peak, ..Cost::of(job, compute, memory) }
}
