//! Recurrent layers as cuDNN 9 runs them: the inputs' products at once, then step after step a product with the state and
//! a kernel for the cell, each waiting for the one before; or, where the state's weights fit the registers of one SM, all
//! steps in one kernel, a block for each sequence. Kernels and figures as traces of an H100 show them.

use super::cost::{Cost, Job};
use super::machine::Machine;
use super::matmul;
use crate::workload::op::Cell;
use crate::workload::{Op, Pass, family::RecurrentDims};

/// Kernels of a layer besides those of its steps, forward and back: the inputs' products and their gradients, sums.
const AROUND: [f64; 2] = [2.0, 15.0];
/// Of the smallest kernel: what the cell's takes more, which waits for the product.
const CELL: f64 = 0.1;
/// s. A step of the kernel that runs all: its blocks wait for one another, gate after gate.
const STEP: [f64; 3] = [0.48e-6, 0.82e-6, 0.9e-6];
/// Weights that stay in an SM's registers, in fp32 whatever their type is, and most that a block keeps, bytes; B/s at which
/// it reads what is between these again each step.
const HELD: f64 = 196_608.0;
const KEPT: f64 = 262_144.0;
const AGAIN: f64 = 55e9;
/// s. The gradient of the biases: a thread sums a column, row after row.
const SUM: [f64; 3] = [3.5e-9, 42e-9, 13e-9];
/// What a gradient's product takes more where its numbers have 32 bits: kernels of the generation before.
const BACK: f64 = 2.0;

pub(super) fn cost(machine: &Machine<'_>, job: &Job, op: &Op) -> Cost {
    let d = RecurrentDims::of(op);
    let back = usize::from(!matches!(op, Op::Recurrent { pass: Pass::Forward, .. }));
    let steps = d.steps.min(d.rows).max(1.0);
    let batch = (d.rows / steps).max(1.0);
    let (gates, state, kind) = (d.gates(), d.state(), d.cell as usize);
    let size = job.dtype.bytes() as f64;
    // Beyond the start of one kernel.
    let product = |m, n, k| matmul::product(machine, job.dtype, [m, n, k, 1.0], false, false);

    // The state's own chain: a product and the cell at each step, and where it is projected another product.
    let mut step = if back > 0 { product(batch, state, gates) } else { product(batch, gates, state) };
    if batch <= 1.0 {
        // A vector: each weight is used once.
        let read = gates * state * size;
        (step.seconds, step.launches) = (step.seconds.min(machine.traffic(read, read, 1.0)), 1.0);
    }
    if back > 0 && size == 4.0 {
        step.seconds *= BACK;
    }
    let (mut seconds, mut kernels, mut started) = (step.seconds, step.launches + 1.0, 2.0);
    if d.projection > 0.0 {
        let more = product(batch, d.projection, d.hidden);
        (seconds, kernels, started) = (seconds + more.seconds, kernels + more.launches, started + 1.0);
    }
    let numbers = batch * d.hidden * (2.0 * d.cell.gates() + 3.0) * size;
    let cell = machine.traffic(numbers, numbers, 1.0) + CELL * machine.floor;
    let apart = steps * (seconds + cell + started * machine.floor);
    // Or all steps in one kernel.
    let weights = gates * state * 4.0;
    let waves = (batch / machine.units).ceil();
    let at_once = steps * waves * (STEP[kind] + (weights - HELD).max(0.0) / AGAIN) + machine.floor;

    // What is done for all steps together: the inputs' product, or the gradients of inputs, weights and biases.
    let whole = match back {
        0 => product(d.rows, gates, d.input).seconds,
        _ => {
            let gradients = [(d.rows, d.input, gates), (d.input, gates, d.rows), (state, gates, d.rows)];
            gradients.into_iter().map(|(m, n, k)| product(m, n, k).seconds).sum::<f64>() + d.rows * SUM[kind]
        }
    };
    let around = AROUND[back] * machine.floor;
    let peak = job.flop / machine.matrix_peak(job.dtype).0;
    let least = peak.max(machine.traffic(job.bytes, job.bytes, 1.0));
    let (launches, total, body) = match weights <= KEPT && at_once < apart {
        true => (1.0, at_once + whole, whole),
        false => (steps * kernels, apart + whole, steps * seconds + whole),
    };
    let launches = launches + AROUND[back];
    let total = (total + around).max(least);
    // Kernels' starts are counted with the launches; what is no product waits.
    let body = body.max(least).min(total - launches * machine.floor).max(0.0);
    let chain = (total - body - launches * machine.floor).max(0.0);
    let (compute, memory) = if step.compute >= step.memory { (body, 0.0) } else { (0.0, body) };
    Cost { launches, chain, at_peak: peak, ..Cost::of(job, compute, memory) }
}

/// Which of the figures of a cell's kind are its own.
const _: () = assert!(Cell::Rnn as usize == 0 && Cell::Gru as usize == 1 && Cell::Lstm as usize == 2);
