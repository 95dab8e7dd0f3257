//! Dense products on tiles: each SM works through whole tiles of C, so the busiest one decides; k may be split over
//! several SMs when C is small. The time is that of the best tile and split, as a library's heuristics would choose
//! (the structure of cuBLAS and CUTLASS, *Efficient GEMM in CUDA*, CUTLASS documentation).

use super::cost::{Cost, Job, overlap};
use super::machine::Machine;
use crate::workload::Dtype;

/// Tile rows and columns, and whether the tile is small enough that its loads slow it.
const TILES: [(f64, f64, bool); 6] = [
    (256.0, 128.0, false),
    (128.0, 128.0, false),
    (128.0, 64.0, false),
    (64.0, 128.0, false),
    (64.0, 64.0, true),
    (32.0, 32.0, true),
];
const SPLITS: [f64; 4] = [1.0, 2.0, 4.0, 16.0];
/// k advances by this many bytes of a row at a time.
const STEP_BYTES: f64 = 64.0;

/// Arithmetic and memory seconds of a product, and the kernels it takes.
pub(super) struct Product {
    pub(super) compute: f64,
    pub(super) memory: f64,
    pub(super) launches: f64,
    /// All of it, beyond the start of one kernel.
    pub(super) seconds: f64,
}

pub(super) fn cost(machine: &Machine<'_>, job: &Job, dims: [f64; 4]) -> Cost {
    let product = product(machine, job.dtype, dims, 1.0);
    // The bias is added for every element of C, even where k is nothing.
    let at_peak = job.flop / machine.matrix_peak(job.dtype).0;
    let memory = product.memory.max(machine.traffic(job.bytes, job.bytes, 1.0));
    Cost { launches: product.launches, at_peak, ..Cost::of(job, product.compute.max(at_peak), memory) }
}

/// `slack` is the share of a plain product's rate that is reached.
pub(super) fn product(machine: &Machine<'_>, dtype: Dtype, [m, n, k, batch]: [f64; 4], slack: f64) -> Product {
    let c = machine.constants;
    let (peak, tensor) = machine.matrix_peak(dtype);
    let s = dtype.bytes() as f64;
    let flop_per_step = 2.0 * dtype.complex_factor();
    let share = if tensor { c.gemm_share_tensor } else { c.gemm_share_vector };
    // The power limit throttles the clock of all SMs alike.
    let per_unit = machine.sustained(peak * share, tensor, dtype) / machine.units;
    let step = STEP_BYTES / s;
    // Tensor cores want rows of 16 bytes: other shapes run as if padded, with element-wise loads at half the rate.
    let misaligned = tensor && ((n * s) % 16.0 != 0.0 || (k * s) % 16.0 != 0.0);
    // The fast kernels of ordinary cores are made for round shapes: at least two dims in whole tiles.
    let round = [m, n, k].iter().filter(|&d| d % 32.0 == 0.0).count() >= 2;
    let per_unit = if tensor || round { per_unit } else { per_unit * c.gemm_irregular };
    // Long rows of operands span many pages of memory.
    let far = 1.0 + k / (1e3 * if machine.early { c.gemm_far_early } else { c.gemm_far });
    let fill = if tensor { c.gemm_fill_tensor } else { c.gemm_fill_vector };
    let per_unit = slack * if misaligned { per_unit / 2.0 } else { per_unit };

    let operands = (m * k + k * n + m * n) * batch * s;
    let tile_s = 1e-6 * if tensor { c.gemm_tile_us_tensor } else { c.gemm_tile_us };
    let mut best = Product { compute: f64::INFINITY, memory: 0.0, launches: 1.0, seconds: f64::INFINITY };
    for (tm, tn, small) in TILES {
        let tiles = (m / tm).ceil() * (n / tn).ceil() * batch;
        let rate = if small { per_unit * c.gemm_small_tile * (tm / 64.0).min(1.0) } else { per_unit };
        for split in SPLITS {
            if split > 1.0 && k < split * 4.0 * step {
                break;
            }
            let depth = (k / split / step).ceil() * step;
            let waves = (tiles * split / machine.units).ceil();
            let compute = waves * (flop_per_step * tm * tn * (depth * far + fill) / rate) + tile_s;
            // Operands once from memory (weights are cold when their turn comes) and again from cache for each tile;
            // partial results there and back.
            let partial = if split > 1.0 { 2.0 * split * m * n * batch * s.max(4.0) } else { 0.0 };
            let reloads = tiles * (tm + tn) * k * s;
            let memory = (operands / machine.stream + machine.traffic(partial, partial, 1.0))
                .max(reloads / (machine.cache_rate * c.gemm_reload));
            let launches = if split > 1.0 { 2.0 } else { 1.0 };
            let seconds = overlap(compute, memory) + (launches - 1.0) * machine.floor;
            if seconds < best.seconds {
                best = Product { compute, memory, launches, seconds };
            }
        }
    }
    best
}
