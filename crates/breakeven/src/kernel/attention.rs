//! Attention as one fused kernel (Dao 2023): scores never reach memory; the soft-max runs between the two products and
//! takes time from the tensor units.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::Dtype;

/// Queries that one block holds.
const ROWS: f64 = 64.0;
/// Share of a matmul's rate without tensor units, where products and soft-max share the ordinary cores.
const ORDINARY: f64 = 0.5;
/// Share of the soft-max that the products do not hide.
const BESIDE: f64 = 0.5;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, heads: f64, [q, kv, d]: [f64; 3]) -> Cost {
    let c = machine.constants;
    let (peak, tensor) = machine.matrix_peak(job.dtype);
    let share = if tensor { c.gemm_share_tensor * c.attention_share } else { c.gemm_share_vector * ORDINARY };
    let rate = machine.sustained(peak * share, tensor, job.dtype);
    let blocks = heads * (q / ROWS).ceil();
    // One query alone still fills a block; few blocks leave SMs idle unless keys are split over them.
    let padded = job.flop * if q > 0.0 { (q / ROWS).ceil() * ROWS / q } else { 1.0 };
    let split = (kv / 256.0).max(1.0);
    let wave = (blocks * split / machine.units).ceil() * machine.units / (blocks * split).max(1.0);
    let exponentials = job.flop / (4.0 * d.max(1.0));
    let compute = padded * wave / rate + machine.arithmetic(5.0 * exponentials, Dtype::F32) * BESIDE;
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    Cost { at_peak: job.flop / peak, ..Cost::of(job, compute, memory) }
}
