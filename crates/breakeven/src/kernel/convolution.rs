//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014; Lavin & Gray 2015): implicit GEMM, Winograd in
//! one kernel with F(2×2, 3×3) or in three with F(4×4, 3×3) on ordinary cores for 3×3 at stride 1, a direct kernel for
//! depthwise groups.
//!
//! F(4×4, 3×3) does 4 times fewer multiplications than the count of the direct method, so its effective rate may pass
//! the datasheet's peak; its own bound is the peak × 4. It pays by writing and reading transformed tiles and weights.

use super::cost::{Cost, Job, overlap};
use super::machine::Machine;
use super::matmul::{self, Tile};
use crate::workload::{Pass, family::ConvolutionDims};

/// Tiles of cuDNN's implicit GEMM and of the products between Winograd's transforms, output channels first.
const IMPLICIT: [Tile; 4] = [(128.0, 128.0), (64.0, 128.0), (32.0, 128.0), (32.0, 32.0)];
const PRODUCTS: [Tile; 2] = [(64.0, 64.0), (128.0, 32.0)];

pub(super) fn cost(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> Cost {
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    let (rows, columns, depth) = (d.batch * d.output, d.cout / d.groups, d.cin / d.groups * d.kernel);
    let dims = match pass {
        Pass::Forward => [rows, columns, depth, d.groups],
        Pass::BackwardData => {
            // Strides leave holes: an input point meets as many outputs as there are, not all of the kernel.
            let met = d.kernel * (d.output / d.input.max(1.0)).min(1.0);
            [d.batch * d.input, d.cin / d.groups, d.cout / d.groups * met, d.groups]
        }
        Pass::BackwardWeight | Pass::Backward => [columns, depth, rows, d.groups],
    };
    let passes = if pass == Pass::Backward { 2.0 } else { 1.0 };
    let floor = job.flop / peak;
    let streamed = machine.traffic(job.bytes, job.bytes, 1.0);
    let c = machine.constants;
    let back = if pass == Pass::Forward { 1.0 } else { c.conv_back };
    let share = c.conv_share * back;
    let gemm = if tensor {
        matmul::product(machine, job.dtype, dims, false, share).seconds
    } else {
        implicit(machine, job, dims, share)
    };
    let gemm = (passes * gemm).max(floor);
    let direct = if d.groups > 1.0 { job.flop / (0.15 * machine.vector_peak(job.dtype)) } else { f64::INFINITY };
    // Padding keeps the image's size; a gradient of the weights has no such small tiles.
    let small = kernel == [3, 3] && d.output >= 0.8 * d.input && d.groups == 1.0 && !tensor;
    let (fused, apart) = if small {
        let fused = if matches!(pass, Pass::BackwardWeight | Pass::Backward) {
            f64::INFINITY
        } else {
            fused_winograd(machine, job, d)
        };
        (
            (passes * fused / back).max(floor / 2.25),
            passes * overlap((winograd(machine, job, d) / back).max(floor / passes / 4.0), streamed / passes),
        )
    } else {
        (f64::INFINITY, f64::INFINITY)
    };
    let best = gemm.min(direct).min(fused).min(apart);
    let launches = passes * if best == apart { 4.0 } else { 1.0 };
    // Gradients have more algorithms than these.
    let doubt = if pass == Pass::Forward { 1.0 } else { 1.8 };
    Cost { launches, at_peak: floor, doubt, ..Cost::of(job, best, streamed) }
}

/// One product whose left operand is gathered from the image as it goes.
fn implicit(machine: &Machine<'_>, job: &Job, dims: [f64; 4], share: f64) -> f64 {
    let tile = |t: Tile| tiled(machine, job, t, dims, share);
    IMPLICIT.into_iter().map(tile).fold(f64::INFINITY, f64::min)
}

/// Seconds of `batch` products m×n×k in one size of tile, k split when the tiles leave SMs idle.
fn tiled(machine: &Machine<'_>, job: &Job, tile: Tile, [m, n, k, batch]: [f64; 4], share: f64) -> f64 {
    let c = machine.constants;
    let tiles = (n / tile.0).ceil() * (m / tile.1).ceil() * batch;
    let split = (machine.units / tiles.max(1.0)).floor().clamp(1.0, (k / 256.0).max(1.0)).min(16.0);
    let rate = matmul::unit_rate(machine, job.dtype) * share * matmul::tile_share(tile, c.gemm_edge);
    let flop = 2.0 * job.dtype.complex_factor() * tile.0 * tile.1 * (k / split + c.gemm_fill_vector);
    let partial = if split > 1.0 { 2.0 * split * m * n * batch * job.dtype.bytes() as f64 } else { 0.0 };
    matmul::waves(machine, tiles * split, false) * flop / rate + machine.traffic(partial, partial, 1.0)
}

/// F(2×2, 3×3) in one kernel: a block holds 8 × 16 outputs of 32 channels and does 4 of 9 multiplications.
fn fused_winograd(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> f64 {
    let c = machine.constants;
    let side = libm::sqrt(d.output);
    let blocks = d.batch * (side / 8.0).ceil() * (side / 16.0).ceil() * (d.cout / 32.0).ceil();
    let rate = matmul::unit_rate(machine, job.dtype) * c.winograd_fused_share;
    let flop = 2.0 * job.dtype.complex_factor() * 128.0 * 32.0 * 4.0 * (d.cin + c.gemm_fill_vector);
    let products = matmul::waves(machine, blocks, false) * flop / rate;
    products + filters(machine, job, d, 16.0)
}

/// F(4×4, 3×3): the image and the weights into tiles of 36 points, 36 products, the result back.
fn winograd(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> f64 {
    let c = machine.constants;
    let side = (libm::sqrt(d.output) / 4.0).ceil();
    let tiles = d.batch * side * side;
    let product = |t| tiled(machine, job, t, [tiles, d.cout, d.cin, 36.0], c.winograd_share);
    let products = PRODUCTS.into_iter().map(product).fold(f64::INFINITY, f64::min);
    let transformed = 2.0 * tiles * 36.0 * (d.cin + d.cout) * job.dtype.bytes() as f64;
    products + machine.traffic(transformed, transformed, c.winograd_transform) + filters(machine, job, d, 36.0)
}

/// Seconds to transform the weights into tiles of `points`: read and written in short pieces.
fn filters(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64) -> f64 {
    let bytes = (9.0 + points) * d.cin * d.cout * job.dtype.bytes() as f64;
    bytes / (machine.stream * machine.constants.winograd_filter)
}
