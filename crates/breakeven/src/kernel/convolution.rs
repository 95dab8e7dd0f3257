//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014; Lavin & Gray 2015): implicit GEMM, Winograd in
//! one kernel with F(2×2, 3×3) or in four with F(4×4) on ordinary cores for 3×3 and 5×5 at stride 1, a direct kernel for
//! depthwise groups.
//!
//! F(4×4, 3×3) does 4 times fewer multiplications than the count of the direct method and F(4×4, 5×5) 6.25 times, so
//! that the effective rate may pass the datasheet's peak; their own bound is the peak times as many. They pay by writing
//! and reading transformed tiles and weights.

use super::cost::{Cost, Job, overlap};
use super::machine::{Generation, Machine};
use super::matmul::{self, Tile};
use crate::workload::{Dtype, Pass, family::ConvolutionDims};

/// Tiles of cuDNN's implicit GEMM and of the products between Winograd's transforms, output channels first.
const IMPLICIT: [Tile; 3] = [(128.0, 128.0), (64.0, 128.0), (32.0, 128.0)];
const PRODUCTS: [Tile; 2] = [(64.0, 64.0), (128.0, 32.0)];

pub(super) fn cost(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> Cost {
    let both = [Pass::BackwardData, Pass::BackwardWeight];
    let passes = if pass == Pass::Backward { &both[..] } else { &[pass] };
    let count = passes.len() as f64;
    let one = Job { flop: job.flop / count, bytes: job.bytes / count, ..*job };
    let each = passes.iter().map(|pass| {
        let asked = fastest(machine, &one, d, *pass, kernel);
        // What may be in TF32 need not be: cuDNN takes Winograd in fp32 where that is faster.
        let plain = || fastest(machine, &Job { dtype: Dtype::F32, ..one }, d, *pass, kernel);
        if job.dtype == Dtype::Tf32 { faster(asked, plain()) } else { asked }
    });
    let (seconds, launches) = each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // Gradients have more algorithms than these.
    let doubt = if pass == Pass::Forward { 1.0 } else { 1.8 };
    let at_peak = job.flop / machine.matrix_peak(job.dtype).0;
    Cost { launches, at_peak, doubt, ..Cost::of(job, seconds, machine.traffic(job.bytes, job.bytes, 1.0)) }
}

fn faster(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    if other.0 < one.0 { other } else { one }
}

/// Seconds of arithmetic and launches of one pass by its fastest algorithm.
fn fastest(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> (f64, f64) {
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    // Tensor units take channels by 16 bytes; the first layer's few run on the ordinary cores.
    let each = d.cin / d.groups * job.dtype.bytes() as f64;
    let tensor = tensor && each >= 16.0;
    let (rows, columns, depth) = (d.batch * d.output, d.cout / d.groups, d.cin / d.groups * d.kernel);
    let dims = match pass {
        Pass::BackwardData => {
            // Strides leave holes: an input point meets as many outputs as there are, not all of the kernel. Points that
            // meet none are skipped in part.
            let met = d.kernel * (d.output / d.input.max(1.0)).min(1.0);
            let met = if met < 1.0 { libm::sqrt(met) } else { met };
            [d.batch * d.input, d.cin / d.groups, d.cout / d.groups * met, d.groups]
        }
        Pass::BackwardWeight => [columns, depth, rows, d.groups],
        _ => [rows, columns, depth, d.groups],
    };
    let floor = job.flop / peak;
    let c = machine.constants;
    let turned = if tensor { turning(machine, job, d) } else { (0.0, 0.0) };
    let weights = pass == Pass::BackwardWeight;
    // Neighbouring columns of a kernel's gradient share what they load; a 1×1 kernel has none.
    let back = match weights {
        true if d.kernel <= 1.0 && !tensor => c.conv_back_point,
        true => c.conv_back,
        false => 1.0,
    };
    let share = if machine.shares_issue() { c.conv_share_early } else { c.conv_share };
    let gemm = if tensor {
        matmul::product(machine, job.dtype, dims, false, share).seconds
    } else {
        implicit(machine, job, dims, share, weights)
    } / back;
    let direct = if d.groups > 1.0 { direct(machine, job, d, weights) } else { f64::INFINITY };
    let one = gemm.max(floor).min(direct);
    // Padding keeps the image's size; a gradient of the weights has no such small tiles.
    let exact = matches!(job.dtype, Dtype::F32 | Dtype::C64);
    let dense = d.output >= 0.8 * d.input && d.groups == 1.0 && (exact || !tensor) && (weights || !machine.late);
    let one = match dense && kernel == [3, 3] && !weights {
        true => one.min(fused_winograd(machine, job, d).max(floor / 2.25)),
        false => one,
    };
    if !dense || (kernel != [3, 3] && kernel != [5, 5]) {
        return (one + turned.0, 1.0 + turned.1);
    }
    let side = if kernel == [3, 3] { 3.0 } else { 5.0 };
    let back = if weights { c.winograd_back } else { 1.0 };
    let products = (winograd(machine, job, d, (side + 3.0) * (side + 3.0)) / back).max(floor / saved(side));
    let apart = overlap(products, machine.traffic(job.bytes, job.bytes, 1.0));
    if apart < one { (apart, 4.0) } else { (one, 1.0) }
}

/// Seconds and kernels to change images and weights to channels last for tensor units, and the result back. Products of
/// points (1×1 at stride 1) take them as they are.
fn turning(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> (f64, f64) {
    let as_they_are = d.kernel <= 1.0 && d.output >= d.input;
    if !machine.nvidia || machine.generation != Generation::Ampere || as_they_are || d.groups > 1.0 {
        return (0.0, 0.0);
    }
    let s = job.dtype.bytes() as f64;
    let copy = |elements: f64| machine.streamed(2.0 * elements * s, 1.0);
    let images = copy(d.batch * d.cin * d.input) + copy(d.batch * d.cout * d.output);
    (images + copy(d.cin * d.cout * d.kernel), 3.0)
}

/// A kernel of its own for groups of few channels: a thread an output, or a block a weight that looks at all images.
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
    matmul::ordinary_rate(machine, if machine.matrix_peak(job.dtype).1 { Dtype::F32 } else { job.dtype }, slack)
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
