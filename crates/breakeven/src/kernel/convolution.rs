//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014; Lavin & Gray 2015): implicit GEMM, Winograd
//! F(4×4, 3×3) on ordinary cores for 3×3 at stride 1, a direct kernel for depthwise groups.
//!
//! Winograd does 4 times fewer multiplications than the count of the direct method, so its effective rate may pass the
//! datasheet's peak; its own bound is the peak × 4. It pays for this by writing and reading transformed tiles.

use super::cost::{Cost, Job};
use super::{machine::Machine, matmul};
use crate::workload::{Pass, family::ConvolutionDims};

/// Points of a transformed tile of F(4×4, 3×3), and outputs it gives: 144 multiplications become 36.
const TILE: f64 = 36.0;
const OUTPUTS: f64 = 16.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, d: &ConvolutionDims, pass: Pass, kernel: &[u64]) -> Cost {
    let c = machine.constants;
    let (rows, columns, depth) = (d.batch * d.output, d.cout / d.groups, d.cin / d.groups * d.kernel);
    let dims = match pass {
        Pass::Forward => [rows, columns, depth, d.groups],
        Pass::BackwardData => [d.batch * d.input, d.cin / d.groups, d.cout / d.groups * d.kernel, d.groups],
        Pass::BackwardWeight | Pass::Backward => [columns, depth, rows, d.groups],
    };
    let passes = if pass == Pass::Backward { 2.0 } else { 1.0 };
    let product = matmul::product(machine, job.dtype, dims, c.conv_share);
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    let floor = job.flop / peak;
    let gemm = (passes * product.seconds).max(floor);
    let direct = if d.groups > 1.0 { job.flop / (0.15 * machine.vector_peak(job.dtype)) } else { f64::INFINITY };
    let winograd = if kernel == [3, 3] && d.output >= 0.8 * d.input && d.groups == 1.0 && !tensor {
        let tiles = (d.batch * d.output / OUTPUTS).ceil();
        let products = matmul::product(machine, job.dtype, [tiles, d.cout, d.cin, TILE], c.winograd_share);
        let transformed = 2.0 * tiles * TILE * (d.cin + d.cout) * job.dtype.bytes() as f64;
        passes * (products.seconds.max(floor / 4.0) + machine.traffic(transformed, transformed, 1.0))
    } else {
        f64::INFINITY
    };
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    Cost { launches: passes, at_peak: floor, ..Cost::of(job, gemm.min(direct).min(winograd), memory) }
}
