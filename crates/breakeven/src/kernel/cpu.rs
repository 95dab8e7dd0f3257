//! A CPU running NumPy: BLAS and LAPACK on all cores, everything else on one.
//!
//! One core draws a fixed rate from memory however many channels there are, more from the last-level cache, more still
//! from its own L2. Results above the allocator's threshold are fresh pages that the kernel must first clear.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::{Op, op::Factor, op::Random, op::Sort};

/// B/s of one core from memory, from the last-level cache, from its own L2.
const CORE_MEMORY: f64 = 12e9;
const CORE_CACHE: f64 = 30e9;
const CORE_L2: f64 = 60e9;
/// L2 of a core, bytes.
const L2: f64 = 1e6;
/// glibc maps allocations above this anew, bytes; clearing and mapping their pages goes at `FRESH`, B/s.
const MAPPED: f64 = 32e6;
const FRESH: f64 = 4e9;
/// Waking and joining the threads of a BLAS call, s.
const FORK: f64 = 8e-6;

pub(super) fn cost(machine: &Machine<'_>, op: &Op, job: &Job) -> Cost {
    let all = machine.vector_peak(job.dtype);
    let one = all / machine.units;
    // Scalar code retires about an operation a cycle.
    let scalar = machine.clock;
    let n = |x: u64| x as f64;
    let single = |compute: f64| {
        let memory = core_traffic(machine, job.bytes) + fresh_pages(job.written);
        Cost { at_peak: job.flop / all, ..Cost::of(job, compute, memory) }
    };
    match op {
        Op::Matmul { m, n: columns, k, .. } => {
            // Thin products load more than they compute: smoothly from a third of the rate to all of it.
            let thin = n(*m).min(n(*columns)).min(n(*k));
            blas(machine, job, 0.75 * (thin + 4.0) / (thin + 12.0))
        }
        Op::Convolution { .. } => blas(machine, job, 0.45),
        Op::Attention { .. } => blas(machine, job, 0.40),
        Op::Factor { kind, .. } => blas(machine, job, factor_share(*kind)),
        Op::Elementwise { transcendental, .. } => {
            // No fused multiply-adds in ufuncs; polynomials run in vectors with table look-ups between.
            single(job.flop / (one * if *transcendental { 0.12 } else { 0.4 }))
        }
        Op::Reduce { .. } | Op::Copy { .. } | Op::Window { .. } => single(job.flop / (one * 0.25)),
        Op::Rowwise { .. } => {
            // Five ufuncs one after the other, each with a temporary.
            let cost = single(job.flop / (one * 0.12));
            Cost { memory: cost.memory * 4.0, ..cost }
        }
        Op::Scan { .. } => single(job.flop / (scalar / 4.0)), // one dependent addition takes four cycles
        Op::Sort { kind, .. } => single(job.flop * sort_cycles(*kind) / scalar),
        Op::Gather { n: count, .. } => single(n(*count) * 4.0 / scalar),
        Op::Scatter { n: count, accumulate, .. } => single(n(*count) * if *accumulate { 12.0 } else { 5.0 } / scalar),
        Op::Embedding { .. } => single(0.0),
        Op::Fft { .. } => single(job.flop / (one * 0.08)), // pocketfft
        Op::Sparse { .. } => single(job.flop * 1.5 / scalar),
        Op::Random { kind, n: count } => single(n(*count) * random_cycles(*kind) / scalar),
        Op::Dataframe { .. } => single(job.flop * 4.0 / scalar),
        Op::Transfer { .. } | Op::HostRead { .. } | Op::Collective { .. } => single(0.0),
        Op::Synchronise | Op::StreamWait | Op::View | Op::HostOnly | Op::Opaque => Cost::NOTHING,
    }
}

/// A call into BLAS or LAPACK at `share` of the peak; all cores when that is worth waking them.
fn blas(machine: &Machine<'_>, job: &Job, share: f64) -> Cost {
    let all = machine.vector_peak(job.dtype) * share;
    let alone = job.flop / (all / machine.units);
    let compute = (job.flop / all + FORK).min(alone);
    let memory = (job.bytes / machine.stream).max(if machine.units > 1.0 { 0.0 } else { job.bytes / CORE_MEMORY });
    Cost {
        at_peak: job.flop / machine.vector_peak(job.dtype),
        ..Cost::of(job, compute, memory + fresh_pages(job.written))
    }
}

/// Share of the peak that LAPACK reaches, all cores together: panels and matrix–vector products hold it down.
const fn factor_share(kind: Factor) -> f64 {
    match kind {
        Factor::Cholesky => 0.45,
        Factor::Lu | Factor::Det | Factor::Solve | Factor::Inverse => 0.40,
        Factor::TriangularSolve | Factor::Qr => 0.30,
        Factor::Svd | Factor::Lstsq => 0.15,
        Factor::Eigh => 0.12,
        Factor::Svdvals | Factor::Eigvalsh => 0.08,
        Factor::Eig => 0.03,
    }
}

/// Cycles of one comparison: vectorised sorts (Bramas 2017, as in NumPy), mispredicted branches elsewhere.
const fn sort_cycles(kind: Sort) -> f64 {
    match kind {
        Sort::Sort | Sort::Unique => 1.0,
        Sort::Partition | Sort::TopK => 2.0,
        Sort::Argsort | Sort::SearchSorted => 6.0,
        Sort::Histogram => 15.0,
    }
}

/// Cycles of one number (PCG64 and the ziggurat, as in NumPy).
const fn random_cycles(kind: Random) -> f64 {
    match kind {
        Random::Uniform | Random::Integers => 10.0,
        Random::Normal | Random::Exponential => 25.0,
        Random::Gamma => 90.0,
        Random::Permutation | Random::Choice => 30.0,
    }
}

/// Seconds for one core to move `bytes`.
fn core_traffic(machine: &Machine<'_>, bytes: f64) -> f64 {
    let rate = match bytes {
        b if b <= L2 => CORE_L2,
        b if b <= machine.resident => CORE_CACHE,
        _ => CORE_MEMORY,
    };
    bytes / rate.min(machine.stream.max(CORE_CACHE)).max(1.0)
}

fn fresh_pages(written: f64) -> f64 {
    if written > MAPPED { written / FRESH } else { 0.0 }
}
