//! Winograd's convolutions (Lavin & Gray 2015): in one kernel with F(2×2, 3×3), or in four with F(4×4) for 3×3 and 5×5: image
//! and weights into tiles, as many products as a tile has points, the result back.
//!
//! F(4×4, 3×3) does 4 times fewer multiplications than the count of the direct method and F(4×4, 5×5) 6.25 times, so
//! that the effective rate may pass the datasheet's peak; their own bound is the peak times as many. They pay by writing
//! and reading transformed tiles and weights.

use super::convolution::{ordinary_rate, tiled};
use super::cost::Job;
use super::machine::Machine;
use super::matmul::{self, Tile};
use crate::workload::family::ConvolutionDims;

/// Tiles of the products between the transforms, output channels first.
const PRODUCTS: [Tile; 2] = [(64.0, 64.0), (128.0, 32.0)];

/// F(2×2, 3×3) in one kernel: a block holds 8 × 16 outputs of 32 channels and does 4 of 9 multiplications.
pub(super) fn fused(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims) -> f64 {
    let c = machine.constants;
    let side = libm::sqrt(d.output);
    let blocks = d.batch * (side / 8.0).ceil() * (side / 16.0).ceil() * (d.cout / 32.0).ceil();
    let rate = ordinary_rate(machine, job, 1.0) * c.winograd_fused_share;
    let flop = 2.0 * job.dtype.complex_factor() * 128.0 * 32.0 * 4.0 * (d.cin + c.gemm_fill_vector);
    let products = matmul::waves(machine, blocks, false) * flop / rate;
    products + filters(machine, job, d, 16.0, c.winograd_fused_filter)
}

/// How many times fewer multiplications F(4×4, `side`×`side`) does: 4 for 3×3, 6.25 for 5×5.
pub(super) fn saved(side: f64) -> f64 {
    16.0 * side * side / ((side + 3.0) * (side + 3.0))
}

/// F(4×4, 3×3) or F(4×4, 5×5): the image and the weights into tiles of 36 or 64 `points`, as many products, the result
/// back.
pub(super) fn in_steps(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, points: f64) -> f64 {
    let c = machine.constants;
    let side = (libm::sqrt(d.output) / 4.0).ceil();
    let tiles = d.batch * side * side;
    let product = |t| tiled(machine, job, t, [tiles, d.cout, d.cin, points], (c.winograd_share, c.gemm_edge, false));
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
