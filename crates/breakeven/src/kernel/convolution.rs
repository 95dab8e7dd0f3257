//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014; Lavin & Gray 2015): implicit GEMM, Winograd in
//! one kernel with F(2×2, 3×3) or in four with F(4×4) on ordinary cores for 3×3 and 5×5 at stride 1, a direct kernel for
//! depthwise groups.
//!
//! F(4×4, 3×3) does 4 times fewer multiplications than the count of the direct method and F(4×4, 5×5) 6.25 times, so
//! that the effective rate may pass the datasheet's peak; their own bound is the peak times as many. They pay by writing
//! and reading transformed tiles and weights.

use super::cost::{Cost, Job, beside, overlap};
use super::machine::{Generation, Machine};
use super::matmul::{self, Tile};
use crate::workload::{Dtype, Pass, family::ConvolutionDims};

/// Tiles of cuDNN's implicit GEMM and of the products between Winograd's transforms, output channels first.
const IMPLICIT: [Tile; 3] = [(128.0, 128.0), (64.0, 128.0), (32.0, 128.0)];
const PRODUCTS: [Tile; 2] = [(64.0, 64.0), (128.0, 32.0)];

/// Shares of the streaming bandwidth: of changing images of 16 bits to channels last, and of products of points that take
/// them as they are. Share of the forward rate of weights' gradients in fp32 since Hopper. All on an H100.
const TURNED: f64 = 0.8;
const POINTS: f64 = 0.85;
const LATE: f64 = 0.5;

/// Cycles of an SM for a thread of PyTorch's own kernels and for each tap of its kernel, and points of a block a cycle: on
/// an H100.
const FORWARD: f64 = 1.6;
const DATA: f64 = 3.5;
const WEIGHT: f64 = 2.1;
const TAP: f64 = 0.104;
const WEIGHT_TAP: f64 = 0.24;
const ALONE: f64 = 0.82;

/// One way to do a pass: seconds of arithmetic, of memory traffic beside it and the share of the shorter that is not hidden,
/// of changing layouts, and kernels.
#[derive(Clone, Copy)]
struct Way {
    compute: f64,
    memory: f64,
    serial: f64,
    turning: f64,
    launches: f64,
}

impl Way {
    fn seconds(&self) -> f64 {
        beside(self.compute, self.memory, self.serial) + self.turning
    }

    fn or(self, other: Self) -> Self {
        if other.seconds() < self.seconds() { other } else { self }
    }
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> Cost {
    let both = [Pass::BackwardData, Pass::BackwardWeight];
    let passes = if pass == Pass::Backward { &both[..] } else { &[pass] };
    let count = passes.len() as f64;
    let one = Job { flop: job.flop / count, bytes: job.bytes / count, ..*job };
    let each = passes.iter().map(|pass| {
        let asked = fastest(machine, &one, d, *pass, kernel);
        // What may be in TF32 need not be: cuDNN takes Winograd in fp32 where that is faster.
        let plain = || fastest(machine, &Job { dtype: Dtype::F32, ..one }, d, *pass, kernel);
        if job.dtype == Dtype::Tf32 { asked.or(plain()) } else { asked }
    });
    let (mut seconds, mut launches, mut balance) = (0.0, 0.0, 0.0);
    for way in each {
        seconds += way.seconds();
        launches += way.launches;
        balance += way.compute - way.memory - way.turning;
    }
    let (compute, memory) = if balance >= 0.0 { (seconds, 0.0) } else { (0.0, seconds) };
    // Gradients have more algorithms than these.
    let doubt = if pass == Pass::Forward { 1.0 } else { 1.8 };
    let at_peak = job.flop / machine.matrix_peak(job.dtype).0;
    Cost { launches, at_peak, doubt, ..Cost::of(job, compute, memory) }
}

/// One pass by its fastest algorithm.
fn fastest(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> Way {
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    // Tensor units take channels by 16 bytes; the first layer's few run on the ordinary cores.
    let each = d.cin / d.groups * job.dtype.bytes() as f64;
    let tensor = tensor && each >= 16.0;
    let padded = tensor && d.groups <= 1.0 && turned(machine, job);
    // What is turned is filled up to whole pieces on the way.
    let piece = if padded { 16.0 / job.dtype.bytes() as f64 } else { 1.0 };
    let [cin, cout] = [d.cin, d.cout].map(|channels| (channels / d.groups / piece).ceil() * piece);
    let (rows, columns, depth) = (d.batch * d.output, cout, cin * d.kernel);
    let dims = match pass {
        Pass::BackwardData => {
            // Strides leave holes: an input point meets as many outputs as there are, not all of the kernel. Points that
            // meet none are skipped in part.
            let met = d.kernel * (d.output / d.input.max(1.0)).min(1.0);
            let met = if met < 1.0 { libm::sqrt(met) } else { met };
            [d.batch * d.input, cin, cout * met, d.groups]
        }
        Pass::BackwardWeight => [columns, depth, rows, d.groups],
        _ => [rows, columns, depth, d.groups],
    };
    let floor = job.flop / peak;
    let c = machine.constants;
    let weights = pass == Pass::BackwardWeight;
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    // As in the same product; kernels that share an SM load the next tile meanwhile.
    let serial = match tensor {
        true => matmul::serial(machine, job.dtype),
        false if machine.late => matmul::serial(machine, ordinary(machine, job.dtype)),
        false => 0.0,
    };
    let way = |compute, launches| Way { compute, memory, serial, turning: 0.0, launches };
    if own_kernels(machine, job, d) {
        return Way { serial: 0.0, ..way(depthwise(machine, d, pass).max(floor), 1.0) };
    }
    // Neighbouring columns of a kernel's gradient share what they load; a 1×1 kernel has none.
    let back = match weights {
        true if machine.late && !tensor && each >= 16.0 => LATE,
        true if d.kernel <= 1.0 && !tensor => c.conv_back_point,
        true => c.conv_back,
        false => 1.0,
    };
    let share = if machine.shares_issue() { c.conv_share_early } else { c.conv_share };
    let gemm = if tensor {
        let product = matmul::on_tiles(
            machine,
            job.dtype,
            dims,
            false,
            (share, matmul::loads(machine, job.dtype, [cin, cout])),
            job.bytes,
        );
        let (turning, kernels) = turning(machine, job, d);
        let share = if points(job, d) && !job.channels_last { POINTS } else { 1.0 };
        let memory = memory.max(product.memory) / share;
        Way { compute: (product.compute / back).max(floor), memory, serial, turning, launches: 1.0 + kernels }
    } else {
        way((implicit(machine, job, dims, share, weights) / back).max(floor), 1.0)
    };
    let one = if d.groups > 1.0 { gemm.or(way(direct(machine, job, d, weights), 1.0)) } else { gemm };
    // Padding keeps the image's size; a gradient of the weights has no such small tiles.
    let exact = matches!(job.dtype, Dtype::F32 | Dtype::C64);
    let dense = d.output >= 0.8 * d.input && d.groups == 1.0 && (exact || !tensor) && (weights || !machine.late);
    let one = match dense && kernel == [3, 3] && !weights {
        true => one.or(way(fused_winograd(machine, job, d).max(floor / 2.25), 1.0)),
        false => one,
    };
    if !dense || (kernel != [3, 3] && kernel != [5, 5]) {
        return one;
    }
    let side = if kernel == [3, 3] { 3.0 } else { 5.0 };
    let back = if weights { c.winograd_back } else { 1.0 };
    let products = winograd(machine, job, d, (side + 3.0) * (side + 3.0)) / back;
    one.or(way(products.max(floor / saved(side)), 4.0))
}

/// Seconds and kernels to change images and weights to channels last for tensor units, and the result back. A point for an
/// image lies the same either way.
fn turning(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> (f64, f64) {
    let s = job.dtype.bytes() as f64;
    if !turned(machine, job) || points(job, d) || d.input.max(d.output) <= 1.0 {
        return (0.0, 0.0);
    }
    let share = if s < 4.0 { TURNED } else { 1.0 };
    // Channels that are no whole pieces of 16 bytes go one element at a time.
    let gathered = if (d.cin * s) % 16.0 == 0.0 { share } else { machine.constants.strided_share };
    let copy = |elements: f64, share| machine.streamed(2.0 * elements * s, share);
    let images = copy(d.batch * d.cin * d.input, gathered) + copy(d.batch * d.cout * d.output, share);
    (images + copy(d.cin * d.cout * d.kernel, gathered), 3.0)
}

/// Whether cuDNN turns images at all.
fn turned(machine: &Machine<'_>, job: &Job) -> bool {
    machine.nvidia && machine.generation == Generation::Ampere && !job.channels_last
}

/// Products of points (1×1 at stride 1) take images as they are where each channel's is whole pieces of 16 bytes.
fn points(job: &Job, d: &ConvolutionDims) -> bool {
    d.kernel <= 1.0 && d.output >= d.input && (d.input * job.dtype.bytes() as f64) % 16.0 == 0.0
}

/// Whether PyTorch takes its own kernels instead of cuDNN's (`use_cudnn_depthwise`): each channel by itself, and neither
/// channels last nor fp16.
fn own_kernels(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> bool {
    machine.nvidia && d.groups > 1.0 && d.groups == d.cin && !job.channels_last && job.dtype != Dtype::F16
}

/// Seconds of PyTorch's own kernels: a thread finds its place among images, channels and points by integer divisions, then
/// goes through its kernel; gradients of images ask at each tap whether the stride met it; those of weights have a block
/// for each weight, which goes through all images.
fn depthwise(machine: &Machine<'_>, d: &ConvolutionDims, pass: Pass) -> f64 {
    let outputs = d.batch * d.cout * d.output;
    let (threads, fixed, tap) = match pass {
        Pass::BackwardData => (d.batch * d.cin * d.input, DATA, TAP),
        Pass::BackwardWeight => (outputs, WEIGHT, WEIGHT_TAP),
        _ => (outputs, FORWARD, TAP),
    };
    let all = threads * (fixed + tap * d.kernel) / (machine.units * machine.clock);
    let alone = if pass == Pass::BackwardWeight { d.batch * d.output / (ALONE * machine.clock) } else { 0.0 };
    overlap(all, alone)
}

/// cuDNN's kernels for groups of few channels: a thread an output, or a block a weight that looks at all images.
fn direct(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, weights: bool) -> f64 {
    let arithmetic = job.flop / (0.15 * machine.vector_peak(job.dtype));
    // Each element of a filter passes over its images once more; neighbouring blocks share half of it in the cache.
    let again = 0.5 * d.kernel * (d.cin / d.groups) * job.bytes;
    if weights { arithmetic.max(machine.traffic(again, job.bytes, 1.0)) } else { arithmetic }
}

/// One product whose left operand is gathered from the image as it goes.
/// A gradient of weights, small and summed over all images, is worth splitting and may lie either way.
fn implicit(machine: &Machine<'_>, job: &Job, dims: [f64; 4], share: f64, splits: bool) -> f64 {
    let [m, n, k, batch] = dims;
    let tile = |t: Tile| {
        let time = tiled(machine, job, t, dims, (share, splits));
        if splits { time.min(tiled(machine, job, t, [n, m, k, batch], (share, splits))) } else { time }
    };
    IMPLICIT.into_iter().map(tile).fold(f64::INFINITY, f64::min)
}

/// Seconds of `batch` products m×n×k in one size of tile; k may be split when the tiles leave SMs idle.
fn tiled(
    machine: &Machine<'_>,
    job: &Job,
    tile: Tile,
    [m, n, k, batch]: [f64; 4],
    (share, splits): (f64, bool),
) -> f64 {
    let c = machine.constants;
    let tiles = (n / tile.0).ceil() * (m / tile.1).ceil() * batch;
    let most = if splits { (k / 256.0).max(1.0) } else { 1.0 };
    let split = (machine.units / tiles.max(1.0)).floor().clamp(1.0, most);
    let rate = ordinary_rate(machine, job, share) * matmul::tile_share(tile, c.gemm_edge);
    let flop = 2.0 * job.dtype.complex_factor() * tile.0 * tile.1 * (k / split + c.gemm_fill_vector);
    let partial = if split > 1.0 { 2.0 * split * m * n * batch * job.dtype.bytes() as f64 } else { 0.0 };
    matmul::waves(machine, tiles * split, false) * flop / rate + machine.traffic(partial, partial, 1.0)
}

/// FLOP/s of one SM's ordinary cores.
fn ordinary_rate(machine: &Machine<'_>, job: &Job, slack: f64) -> f64 {
    matmul::ordinary_rate(machine, ordinary(machine, job.dtype), slack)
}

/// In what ordinary cores compute what tensor units do not take.
fn ordinary(machine: &Machine<'_>, dtype: Dtype) -> Dtype {
    if machine.matrix_peak(dtype).1 { Dtype::F32 } else { dtype }
}

/// F(2×2, 3×3) in one kernel: a block holds 8 × 16 outputs of 32 channels and does 4 of 9 multiplications.
fn fused_winograd(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> f64 {
    let c = machine.constants;
    let side = libm::sqrt(d.output);
    let blocks = d.batch * (side / 8.0).ceil() * (side / 16.0).ceil() * (d.cout / 32.0).ceil();
    let rate = ordinary_rate(machine, job, 1.0) * c.winograd_fused_share;
    let flop = 2.0 * job.dtype.complex_factor() * 128.0 * 32.0 * 4.0 * (d.cin + c.gemm_fill_vector);
    let products = matmul::waves(machine, blocks, false) * flop / rate;
    products + filters(machine, job, d, 16.0, c.winograd_fused_filter)
}

/// How many times fewer multiplications F(4×4, `side`×`side`) does: 4 for 3×3, 6.25 for 5×5.
fn saved(side: f64) -> f64 {
    16.0 * side * side / ((side + 3.0) * (side + 3.0))
}

/// F(4×4, 3×3) or F(4×4, 5×5): the image and the weights into tiles of 36 or 64 `points`, as many products, the result
/// back.
fn winograd(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64) -> f64 {
    let c = machine.constants;
    let side = (libm::sqrt(d.output) / 4.0).ceil();
    let tiles = d.batch * side * side;
    let product = |t| tiled(machine, job, t, [tiles, d.cout, d.cin, points], (c.winograd_share, false));
    let products = PRODUCTS.into_iter().map(product).fold(f64::INFINITY, f64::min);
    let transformed = 2.0 * tiles * points * (d.cin + d.cout) * job.dtype.bytes() as f64;
    products
        + machine.traffic(transformed, transformed, c.winograd_transform)
        + filters(machine, job, d, points, c.winograd_filter)
}

/// Seconds to transform the weights into tiles of `points`, written in short pieces to as many planes.
fn filters(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64, share: f64) -> f64 {
    let bytes = (d.kernel + points) * d.cin * d.cout * job.dtype.bytes() as f64;
    bytes / (machine.stream * share)
}
