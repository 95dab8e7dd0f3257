//! Convolution as the fastest of what cuDNN offers (Chetlur et al. 2014; Lavin & Gray 2015): implicit GEMM, Winograd
//! F(2×2, 3×3) on ordinary cores for 3×3 at stride 1, a direct kernel for depthwise groups.
//!
//! Winograd does 2.25 times fewer multiplications than the count of the direct method, so its effective rate may pass
//! the datasheet's peak; its own bound is the peak × 2.25.

use super::cost::{Cost, Job};
use super::{machine::Machine, matmul};
use crate::workload::{Pass, family::ConvolutionDims};

/// Multiplications saved by F(2×2, 3×3): 36 become 16.
pub(super) const WINOGRAD: f64 = 2.25;

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
        job.flop / WINOGRAD / (machine.sustained(peak, false, job.dtype) * c.winograd_share)
    } else {
        f64::INFINITY
    };
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    Cost { launches: passes, at_peak: floor, ..Cost::of(job, gemm.min(direct).min(winograd), memory) }
}
