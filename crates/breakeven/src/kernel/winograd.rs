//! Convolutions by transforms, image and weights into tiles, as many products as a tile has points, the result back:
//! Winograd's (Lavin & Gray 2015) in one kernel with F(2×2, 3×3), or in four with F(4×4) for 3×3 and 5×5; Fourier's.
//!
//! F(4×4, 3×3) does 4 times fewer multiplications than the count of the direct method and F(4×4, 5×5) 6.25 times, so
//! that the effective rate may pass the datasheet's peak; their own bound is the peak times as many. They pay by writing
//! and reading transformed tiles and weights.

use super::convolution::{ordinary_rate, tiled};
use super::cost::Job;
use super::machine::Machine;
use super::matmul::{self, Tile};
use crate::workload::{Dtype, family::ConvolutionDims};

/// Tiles of the products between the transforms, output channels first.
const PRODUCTS: [Tile; 2] = [(64.0, 64.0), (128.0, 32.0)];

/// F(2×2, 3×3) in one kernel: a block holds 8 × 16 outputs of 32 channels and does 4 of 9 multiplications.
pub(super) fn fused(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> f64 {
    let c = machine.constants;
    let side = libm::sqrt(d.output);
    let blocks = d.batch * (side / 8.0).ceil() * (side / 16.0).ceil() * (d.cout / 32.0).ceil();
    let rate = ordinary_rate(machine, job, 1.0) * c.winograd_fused_share;
    let flop = 2.0 * job.dtype.complex_factor() * 128.0 * 32.0 * 4.0 * (d.cin + c.gemm_fill_vector);
    let products = matmul::waves(machine, blocks, matmul::Units::Ordinary) * flop / rate;
    products + filters(machine, job, d, 16.0, c.winograd_fused_filter)
}

/// How many times fewer multiplications F(4×4, `side`×`side`) does: 4 for 3×3, 6.25 for 5×5.
pub(super) fn saved(side: f64) -> f64 {
    16.0 * side * side / ((side + 3.0) * (side + 3.0))
}

/// F(4×4, 3×3) or F(4×4, 5×5): the image and the weights into tiles of 36 or 64 `points`, as many products, the result
/// back. From Hopper on a gradient of `weights` has products no larger than the weights, each summed by one block; before,
/// DeepBench's times tell of more blocks.
pub(super) fn in_steps(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64, weights: bool) -> f64 {
    let c = machine.constants;
    let side = (libm::sqrt(d.output) / 4.0).ceil();
    let tiles = d.batch * side * side;
    let [m, k] = if weights && machine.late { [d.cin, tiles] } else { [tiles, d.cin] };
    let product = |t| tiled(machine, job, t, [m, d.cout, k, points], (c.winograd_share, c.gemm_edge, false));
    let products = PRODUCTS.into_iter().map(product).fold(f64::INFINITY, f64::min);
    let transformed = 2.0 * tiles * points * (d.cin + d.cout) * job.dtype.bytes() as f64;
    products
        + machine.traffic(transformed, transformed, c.winograd_transform)
        + filters(machine, job, d, points, c.winograd_filter)
}

/// By Fourier transforms of tiles of 32×32 points, of which 32×17 complex frequencies are kept: weights once, then for each
/// tile all images, as many products, the result back. Seconds, and kernels as an H100's traces have them.
pub(super) fn fourier(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, side: f64) -> (f64, f64) {
    const FREQUENCIES: f64 = 32.0 * 17.0;
    let across = (libm::sqrt(d.input.max(d.output)) / (33.0 - side)).ceil();
    let complex = Job { dtype: Dtype::C64, ..*job };
    let dims = [d.batch, d.cout, d.cin, FREQUENCIES];
    let product = |t| tiled(machine, &complex, t, dims, (1.0, machine.constants.gemm_edge, false));
    let products = PRODUCTS.into_iter().map(product).fold(f64::INFINITY, f64::min);
    let [images, weights] = [d.batch * (d.cin + d.cout), d.cin * d.cout].map(|count| 8.0 * FREQUENCIES * count);
    let tiles = across * across;
    let each = products + machine.traffic(2.0 * images + weights, images + weights, 1.0);
    (tiles * each + weights / machine.stream, 1.0 + 3.0 * tiles)
}

/// Seconds to transform the weights into tiles of `points`, written in short pieces to as many planes.
fn filters(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64, share: f64) -> f64 {
    let bytes = (d.kernel + points) * d.cin * d.cout * job.dtype.bytes() as f64;
    bytes / (machine.stream * share)
}
