//! A CPU running NumPy: BLAS and LAPACK on all cores, everything else on one.
//!
//! One core draws a fixed rate from memory however many channels there are, more from the last-level cache, more still
//! from its own L2. Results above the allocator's threshold are fresh pages that the kernel must first clear.

use super::cost::{Cost, Job};
use super::machine::Machine;
use crate::workload::op::{Dataframe, Factor, Random, Sort};
use crate::workload::{Dtype, Op};

/// B/s of one core from memory: the lines it can wait for at a time over the latency, whatever the channels.
pub const CORE_MEMORY: f64 = 24e9;
/// Bytes a core draws from its L2 for each double-precision FLOP of its peak: ports are as wide as vectors; and the
/// share of it that comes from the last-level cache.
const L2_PER_FLOP: f64 = 1.0;
const CACHE_SHARE: f64 = 0.6;
/// Double-precision FLOP a cycle from which vectors have 512 bits; NumPy's ufuncs and sorts have kernels for those.
const WIDE: f64 = 20.0;
/// Cycles of pandas' group-by: to set it up, to find the group of one row, to add one number to its group, and what that takes
/// more where a column is larger than the last cache. On an EPYC of the fourth generation 67 ms for 10⁶ rows of 10 columns,
/// 0.55 s for 10⁷ of 4, 2.6 s for 10⁷ of 20, 43 ms for 3·10⁵ of 40 (doubles in columns of their own, a hundred rows to a group,
/// pandas 3.1.1); about as long on a virtual Xeon of 2023; published runs of 10⁸ rows by 20 columns take about 9 s.
const GROUP_CYCLES: f64 = 2e6;
const KEY_CYCLES: f64 = 90.0;
const SUM_CYCLES: f64 = 14.0;
const FAR_CYCLES: f64 = 12.0;
/// Cycles of pandas' other verbs, to set them up and for each row: to find its match in a join, to compare its key in each round
/// of a sort and then to gather a number of it, to look at a mask and to keep a number; and for each letter that is searched.
/// CPU time on a virtual Xeon of 2.8 GHz (2026-11-30, pandas 3.1.1, floats of 4 bytes, least of four runs, other programs at
/// work): with 10⁶ rows of 3 and 11 columns a join takes 50 and 33 ms, a sort 93 and 142, a filter 8.7 and 15; a search through
/// 10⁶ texts of 19 letters 114 ms.
const FRAME_CYCLES: f64 = 2e6;
const MATCH_CYCLES: f64 = 110.0;
const COMPARE_CYCLES: f64 = 10.5;
const GATHER_CYCLES: f64 = 16.0;
const MASK_CYCLES: f64 = 16.0;
const KEEP_CYCLES: f64 = 2.5;
const LETTER_CYCLES: f64 = 16.0;
/// Cycles to begin the fold of one row.
const ROW_CYCLES: f64 = 150.0;
/// A cache line, bytes.
const LINE: f64 = 64.0;
/// Seconds of a read at a random place, several under way: beyond L2, beyond the last-level cache.
const MISS_L2: f64 = 1.5e-9;
const MISS_CACHE: f64 = 6e-9;
/// L2 of a core, bytes.
const L2: f64 = 1e6;
/// glibc maps allocations above this anew, bytes; clearing their pages goes at `FRESH`, B/s (NumPy asks for huge pages,
/// so that the faults themselves are few).
const MAPPED: f64 = 32e6;
const FRESH: f64 = 12e9;
/// Waking and joining the threads of a BLAS call, s.
const FORK: f64 = 8e-6;

pub(super) fn cost(machine: &Machine<'_>, op: &Op, job: &Job) -> Cost {
    let all = machine.vector_peak(job.dtype);
    let one = all / machine.units;
    // Scalar code retires about an operation a cycle.
    let scalar = machine.clock;
    let core = Core::new(machine);
    let n = |x: u64| x as f64;
    let single = |compute: f64| {
        let memory = core.traffic(job.bytes) + fresh_pages(job.written);
        Cost { at_peak: job.flop / all, ..Cost::of(job, compute, memory) }
    };
    match op {
        Op::Matmul { m, n: columns, k, batch, .. } => match loop_cycles(job.dtype) {
            // oneDNN: 23 GFLOP/s in fp16 where fp32 has 94, on two cores of a virtual EPYC (PyTorch 2.15).
            Some(_) if job.by_torch => blas(machine, job, 0.2, n(*batch)),
            Some(cycles) => single(job.flop / 2.0 * cycles / scalar),
            None => {
                // Thin products load more than they compute: smoothly from a third of the rate to all of it.
                let thin = n(*m).min(n(*columns)).min(n(*k));
                blas(machine, job, 0.75 * (thin + 4.0) / (thin + 12.0), n(*batch))
            }
        },
        // The weights are read again for each step's rows.
        Op::Recurrent { steps, rows, .. } => {
            let thin = n(*rows) / n(*steps).max(1.0);
            blas(machine, job, 0.75 * (thin + 4.0) / (thin + 12.0), 1.0)
        }
        Op::Convolution { .. } => blas(machine, job, 0.45, 1.0),
        Op::Attention { .. } => blas(machine, job, 0.40, 1.0),
        Op::Factor { kind, batch, .. } => blas(machine, job, factor_share(*kind), n(*batch)),
        Op::Elementwise { transcendental, .. } => {
            // No fused multiply-adds in ufuncs; polynomials run in vectors with table look-ups between.
            let share = if core.wide || !*transcendental { 0.4 } else { 0.12 };
            single(job.flop / (one * share))
        }
        // Pairwise sums keep eight partial ones and gain nothing from a narrower type.
        Op::Reduce { .. } => single(job.flop / (1.6 * scalar)),
        Op::Copy { strided: true, .. } => {
            // The strided side uses one element of each line, which is gone before its neighbour's turn comes.
            let cost = single(0.0);
            let element = job.dtype.bytes() as f64;
            let lines = if job.bytes > L2 { job.bytes / 2.0 * (LINE / element).max(1.0) } else { 0.0 };
            Cost { memory: cost.memory + lines / core.rate(job.bytes), ..cost }
        }
        Op::Copy { .. } | Op::Window { .. } => single(job.flop / (one * 0.25)),
        Op::Rowwise { rows, width, .. } => {
            // Five ufuncs one after the other, each with a temporary; two of them fold each row, at some cost a row.
            let folds = 2.0 * (n(*rows) * n(*width) / 1.6 + n(*rows) * ROW_CYCLES) / scalar;
            let cost = single(job.flop / (one * if core.wide { 0.4 } else { 0.12 }) + folds);
            Cost { memory: cost.memory * 4.0, ..cost }
        }
        // Each addition (four cycles) reads what the one before has stored (eight).
        Op::Scan { .. } => single(job.flop / (scalar / 12.0)),
        Op::Sort { kind, .. } => single(job.flop * sort_cycles(*kind) * if core.wide { 0.55 } else { 1.0 } / scalar),
        Op::Gather { n: count, source } => {
            single(n(*count) * (4.0 / scalar + core.miss(n(*source) * job.dtype.bytes() as f64)))
        }
        Op::Scatter { n: count, target, accumulate } => {
            let cycles = if *accumulate { 12.0 } else { 5.0 };
            single(n(*count) * (cycles / scalar + core.miss(n(*target) * job.dtype.bytes() as f64)))
        }
        Op::Embedding { .. } => single(0.0),
        Op::Fft { .. } => single(job.flop / (core.f64_rate * 0.08)), // pocketfft: single precision is no faster
        Op::Sparse { .. } => single(job.flop * 1.5 / scalar),
        Op::Random { kind, n: count } => single(n(*count) * random_cycles(*kind) / scalar),
        Op::Dataframe { kind: Dataframe::GroupBy, rows, columns, .. } => {
            let column = n(*rows) * job.dtype.bytes() as f64;
            let far = FAR_CYCLES * (column / core.resident.max(1.0) - 1.0).clamp(0.0, 1.0);
            let each = KEY_CYCLES + n(*columns) * (SUM_CYCLES + far);
            single((GROUP_CYCLES + n(*rows) * each) / scalar)
        }
        &Op::Dataframe { kind, rows, columns, out_rows, keys, other_rows, .. } => {
            let (rows, columns, out, keys) = (n(rows), n(columns), n(out_rows), n(keys.max(1)));
            let cycles = match kind {
                Dataframe::Join => MATCH_CYCLES * keys * (rows + n(other_rows)) + KEEP_CYCLES * out * columns,
                Dataframe::Sort => rows * (COMPARE_CYCLES * keys * libm::log2(rows.max(2.0)) + GATHER_CYCLES * columns),
                Dataframe::Filter => MASK_CYCLES * rows + KEEP_CYCLES * rows * columns,
                Dataframe::Text => LETTER_CYCLES * job.bytes,
                _ => return single(job.flop * 4.0 / scalar),
            };
            single((FRAME_CYCLES + cycles) / scalar)
        }
        Op::Transfer { .. } | Op::HostRead { .. } | Op::Collective { .. } => single(0.0),
        Op::Routine { .. } | Op::Synchronise | Op::StreamWait | Op::View | Op::HostOnly | Op::Opaque => Cost::NOTHING,
    }
}

/// Calls into BLAS or LAPACK, one after the other, at `share` of the peak; all cores when that is worth waking them.
fn blas(machine: &Machine<'_>, job: &Job, share: f64, calls: f64) -> Cost {
    let all = machine.vector_peak(job.dtype) * share;
    let alone = job.flop / (all / machine.units);
    let compute = (job.flop / all + calls * FORK).min(alone);
    let memory = (job.bytes / machine.stream).max(if machine.units > 1.0 { 0.0 } else { job.bytes / CORE_MEMORY });
    Cost {
        at_peak: job.flop / machine.vector_peak(job.dtype),
        ..Cost::of(job, compute, memory + fresh_pages(job.written))
    }
}

/// Cycles of a multiply-add in NumPy's own loop, on one core, for what BLAS does not know: numbers of 16 bits go through
/// software, objects and long doubles one by one. 0.4 and 2.9 ns on an EPYC of the ninth series, NumPy 2.4.6.
const fn loop_cycles(dtype: Dtype) -> Option<f64> {
    match dtype {
        Dtype::F16 | Dtype::Other => Some(12.0),
        Dtype::F32 | Dtype::F64 | Dtype::C64 | Dtype::C128 | Dtype::Tf32 | Dtype::Bf16 | Dtype::F8 => None,
        _ => Some(1.8),
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
        Random::Uniform | Random::Integers => 8.0,
        Random::Normal | Random::Exponential => 30.0,
        Random::Gamma => 90.0,
        Random::Permutation | Random::Choice => 30.0,
    }
}

/// One core and what it draws.
struct Core {
    /// Double-precision FLOP/s.
    f64_rate: f64,
    wide: bool,
    /// B/s from memory.
    memory: f64,
    /// Bytes that stay in the last-level cache.
    resident: f64,
}

impl Core {
    fn new(machine: &Machine<'_>) -> Self {
        let f64_rate = machine.vector_peak(Dtype::F64) / machine.units;
        let memory = CORE_MEMORY.min(machine.stream).max(1.0);
        Self { f64_rate, wide: f64_rate >= WIDE * machine.clock, memory, resident: machine.resident }
    }

    /// B/s for a working set of so many bytes.
    fn rate(&self, set: f64) -> f64 {
        let l2 = (L2_PER_FLOP * self.f64_rate).max(self.memory);
        match set {
            b if b <= L2 => l2,
            b if b <= self.resident => (CACHE_SHARE * l2).max(self.memory),
            _ => self.memory,
        }
    }

    /// Seconds to move `bytes`.
    fn traffic(&self, bytes: f64) -> f64 {
        bytes / self.rate(bytes)
    }

    /// Seconds that a read at a random place among so many bytes costs beyond its instructions.
    fn miss(&self, among: f64) -> f64 {
        match among {
            b if b <= L2 => 0.0,
            b if b <= self.resident => MISS_L2,
            _ => MISS_CACHE,
        }
    }
}

/// Seconds that the system takes to clear the pages of a new array of `written` bytes; 0 where the allocator has them.
pub fn fresh_pages(written: f64) -> f64 {
    if written > MAPPED { written / FRESH } else { 0.0 }
}
