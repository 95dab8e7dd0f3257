//! Factorisations on a GPU alternate narrow panels, one column after the other, with wide products (Tomov, Dongarra &
//! Baboulin 2010; the structure of cuSOLVER and MAGMA). The chain of columns decides small sizes, the products large
//! ones. Reductions to bidiagonal, tridiagonal and Hessenberg form do half their work as matrix–vector products at
//! memory speed (Dongarra, Sorensen & Hammarling 1989). Batches of small matrices run side by side.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::op::Factor;

/// How one factorisation spends its time.
struct Shape {
    /// Dependent steps a column, in units of `panel_us`.
    steps: f64,
    /// The same for each pair of columns: rotations of singular vectors, of which each meets all others, one after the
    /// other.
    rotations: f64,
    /// Share of the arithmetic done by matrix–vector products, which read each element for two operations.
    by_vector: f64,
    /// Rate of the rest against a plain product's.
    share: f64,
}

const fn shape(kind: Factor) -> Shape {
    let (steps, rotations, by_vector, share) = match kind {
        Factor::Cholesky => (0.13, 0.0, 0.0, 0.7),
        Factor::Lu | Factor::Det | Factor::Solve => (0.6, 0.0, 0.0, 0.6),
        Factor::Inverse => (0.65, 0.0, 0.0, 0.6),
        Factor::Qr => (1.0, 0.0, 0.02, 0.5),
        Factor::TriangularSolve => (0.025, 0.0, 0.0, 0.5),
        Factor::Svd => (7.5, 0.021, 0.10, 0.4),
        Factor::Lstsq => (6.0, 0.0, 0.10, 0.4),
        Factor::Svdvals => (4.0, 0.0, 0.5, 0.4),
        Factor::Eigh => (2.6, 0.0, 0.08, 0.4),
        Factor::Eigvalsh => (3.0, 0.0, 0.5, 0.4),
        Factor::Eig => (15.0, 0.0, 0.15, 0.1),
    };
    Shape { steps, rotations, by_vector, share }
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Factor, [m, n, batch]: [f64; 3]) -> Cost {
    let c = machine.constants;
    let Shape { steps, rotations, by_vector, share } = shape(kind);
    let columns = m.min(n);
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    let rate = machine.sustained(peak * c.gemm_share_vector, tensor, job.dtype) * share;
    let s = job.dtype.bytes() as f64;
    // Matrices of a batch fill the SMs side by side while they are small; wider ones take several SMs each. Those of Jacobi's
    // rotations have batched kernels up to 32 columns (cuSOLVER: `gesvdjBatched`, `syevjBatched`) and follow each other beyond.
    let several = (32.0 / columns.max(32.0)) * (32.0 / columns.max(32.0));
    let jacobi = matches!(kind, Factor::Svd | Factor::Svdvals | Factor::Eigh | Factor::Eigvalsh);
    let side_by_side = if jacobi && columns > 32.0 { 1.0 } else { (machine.units * 4.0 * several).max(1.0) };
    let chains = (batch / side_by_side).ceil();
    let chain = chains * columns * (steps + rotations * columns) * c.panel_us * 1e-6;
    let matrix = m * n * s;
    // Two operations for each element read.
    let vector_bytes = by_vector * job.flop / (2.0 * job.dtype.complex_factor()) * s;
    let memory = machine.traffic(job.bytes, job.bytes, 1.0) + machine.traffic(vector_bytes, matrix, 0.8);
    let compute = (1.0 - by_vector) * job.flop / rate;
    let launches = (columns / 32.0).ceil().max(1.0) * 3.0;
    Cost { chain, launches, at_peak: job.flop / peak, ..Cost::of(job, compute, memory) }
}
