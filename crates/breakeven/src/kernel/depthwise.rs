//! Depth-wise convolutions: each channel by itself, without a product. PyTorch has kernels of its own; cuDNN's are for fp16
//! and where channels lie last. Both are as fast as the ordinary cores find places and go through taps, if memory is not
//! slower still.

use super::convolution::{Sides, Way};
use super::cost::{Job, overlap};
use super::machine::Machine;
use crate::workload::{Dtype, Pass};

/// Seconds where each channel is convolved by itself on a board that has these kernels.
pub(super) fn way(machine: &Machine<'_>, job: &Job, sides: &Sides<'_>, pass: Pass) -> Option<Way> {
    let d = sides.dims;
    if !machine.nvidia || d.groups <= 1.0 || d.groups != d.cin {
        return None;
    }
    let (compute, launches) = match own(job, sides) {
        true => (pytorch(machine, sides, pass), 1.0),
        false => (cudnn(machine, job, sides, pass), if pass == Pass::BackwardWeight { 2.0 } else { 1.0 }),
    };
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    let compute = compute.max(job.flop / machine.vector_peak(job.dtype));
    Some(Way { compute, memory, serial: 0.0, turning: 0.0, launches })
}

/// Whether PyTorch takes its own kernels instead of cuDNN's (`use_cudnn_depthwise` in `aten/src/ATen/native/Convolution.cpp`,
/// 2.11): always unless channels lie last, or in fp16 from 32 channels on with squares of 1, 3 or 5 in steps of 1, and of 2
/// where there are many channels.
fn own(job: &Job, sides: &Sides<'_>) -> bool {
    if job.channels_last {
        return false;
    }
    let d = sides.dims;
    let width = sides.input.last().copied().unwrap_or(1);
    let square = matches!(sides.kernel, [1, 1] | [3, 3] | [5, 5]);
    let dense = d.output >= 0.8 * d.input;
    let many = d.cin >= 512.0 || (d.cin >= 256.0 && width >= 28);
    let taken = job.dtype == Dtype::F16 && d.cin >= 32.0 && square && width >= 7 && (dense || (many && d.kernel > 1.0));
    !taken
}

/// PyTorch's kernels: a thread finds its place among images, channels and points by integer divisions, then goes through its
/// kernel; gradients of images ask at each tap whether the stride met it; those of weights have a block for each weight,
/// which goes through all images.
fn pytorch(machine: &Machine<'_>, sides: &Sides<'_>, pass: Pass) -> f64 {
    let (c, d) = (machine.constants, sides.dims);
    let outputs = d.batch * d.cout * d.output;
    let (threads, fixed, tap) = match pass {
        Pass::BackwardData => (d.batch * d.cin * d.input, c.depthwise_data, c.depthwise_tap),
        Pass::BackwardWeight => (outputs, c.depthwise_weight, c.depthwise_weight_tap),
        _ => (outputs, c.depthwise_forward, c.depthwise_tap),
    };
    let all = cycles(machine, threads * (fixed + tap * d.kernel));
    let weights = pass == Pass::BackwardWeight;
    let alone = if weights { d.batch * d.output / (c.depthwise_block * machine.clock) } else { 0.0 };
    overlap(all, alone)
}

/// cuDNN's kernels: places are found for whole tiles, so that a point takes little and taps count; a gradient of the images
/// goes through all of them at each of its points. Where channels lie last forward ones take two channels at once.
fn cudnn(machine: &Machine<'_>, job: &Job, sides: &Sides<'_>, pass: Pass) -> f64 {
    let (c, d) = (machine.constants, sides.dims);
    let outputs = d.batch * d.cout * d.output;
    let each = c.depthwise_cudnn + c.depthwise_cudnn_tap * d.kernel;
    let work = match pass {
        Pass::BackwardData => d.batch * d.cin * d.input * each,
        Pass::BackwardWeight => outputs * (1.0 + 0.4 * each),
        _ if job.channels_last => 0.5 * outputs * each,
        _ => outputs * each,
    };
    cycles(machine, work)
}

/// Seconds of so many cycles of one SM, spread over all.
fn cycles(machine: &Machine<'_>, count: f64) -> f64 {
    count / (machine.units * machine.clock)
}
