//! Soft-max, normalisations and scans. Rows that stay in a block's registers or in L1 are read once; longer ones are
//! read again: a soft-max for its maximum, its sum and its result (Milakov & Gimelshein 2018), a normalisation for its
//! moments and its result. Scans chain their blocks (Merrill & Garland 2016, decoupled look-back): one pass.

use super::cost::{Cost, Job};
use super::machine::{Generation, Machine, lanes};
use super::stream;
use crate::workload::{Pass, op::Rowwise};

/// What boards up to 2016 fold in a clock as a share of later ones.
const EARLY: f64 = 0.55;
/// Elements of a soft-max for one of a normalisation: a warp's in registers, and a block's, with an exponential twice.
const IN_WARP: f64 = 1.3;
const IN_BLOCK: f64 = 0.75;
/// Rows that an SM normalises at the same time.
const NORM_BLOCKS: f64 = 16.0;
/// Bytes of a row that one warp keeps in registers.
const WARP: f64 = 4096.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Rowwise, pass: Pass, [rows, width]: [f64; 2]) -> Cost {
    let c = machine.constants;
    let cost = stream::pass(machine, job, c.rowwise_share);
    let row = width * job.dtype.bytes() as f64;
    let softmax = matches!(kind, Rowwise::Softmax | Rowwise::LogSoftmax | Rowwise::CrossEntropy);
    let again = if softmax {
        // A block of up to 1024 threads, four elements each, holds a row: few rows are in flight.
        let flight = machine.units * row * (2048.0 / (width / 4.0).clamp(128.0, 1024.0));
        let beyond = if row > WARP { 1.0 } else { 0.0 };
        beyond * machine.traffic(job.bytes, flight, c.softmax_again)
    } else {
        let beyond = (row / (c.norm_row_kib * 1024.0) - 1.0).clamp(0.0, 1.0);
        0.5 * beyond * machine.traffic(job.bytes, machine.units * NORM_BLOCKS * row, 1.0)
    };
    // Folding a row takes its SM a number of cycles however short the row is. One warp folds a short soft-max by itself.
    let cycles = match softmax {
        true if row <= WARP => 0.0,
        true => c.softmax_cycles,
        false => c.norm_cycles,
    };
    let folds = rows * cycles / (machine.units * machine.clock);
    // A row stays on one SM, which can draw only its own share of the cache's rate.
    let alone = (rows / machine.units).ceil() * row * machine.units / machine.cache_rate;
    // And each element some, on as many lanes as it has; boards up to 2016 issue integer arithmetic in between.
    let lanes = lanes(machine.device).clamp(32.0, 256.0) / 64.0;
    let rate = if machine.generation == Generation::Early { lanes * EARLY } else { lanes.max(1.0) };
    let rate = match softmax {
        true if row <= WARP => rate * IN_WARP,
        true => rate * IN_BLOCK,
        false => rate,
    };
    let folds = folds.max(rows * width / (machine.units * machine.clock * c.rowwise_elements * rate));
    // Fewer rows than SMs: the others have nothing to do. Beyond some eighth a library splits rows.
    let idle = if softmax { 1.0 } else { (machine.units / rows.max(1.0)).clamp(1.0, 8.0) };
    // Gradients of a normalisation's weights: another kernel, down the columns of input and gradient.
    let down = if softmax || pass == Pass::Forward { 0.0 } else { machine.traffic(2.0 * rows * row, job.bytes, 1.0) };
    let launches = if down > 0.0 { 2.0 } else { 1.0 };
    Cost { memory: ((cost.memory + again) * idle).max(alone).max(folds) + down, launches, ..cost }
}

pub(super) fn scan(machine: &Machine<'_>, job: &Job) -> Cost {
    // Blocks wait for the one before: 5.9 µs for 65,536 elements on an H100.
    Cost { chain: 1.5 * machine.floor, ..stream::pass(machine, job, 0.85) }
}
