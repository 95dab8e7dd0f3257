//! Element-wise maps, copies and reductions: one pass over memory, or over the cache when the arrays fit it.

use super::cost::{Cost, Job, overlap};
use super::machine::Machine;
use crate::workload::Dtype;

/// Kernels for 16 bits differ more between libraries: how many elements a thread takes, and where they are converted.
const HALF: f64 = 2.0;

/// Share of the fp64 peak (fused multiply-adds) that transcendental functions reach, by the operations of `flops.csv`: 0.6 to
/// 0.9 instructions of the fp64 units for each (exp 17 for 27, log 30 for 35, sin 15 for 26, tanh 33 for 35 with both of its
/// branches), two operations of peak an instruction. Counted in what NVRTC 12.9 compiles.
const DOUBLE_UNITS: f64 = 0.6;
/// Functions differ by as much: pow takes 1.3 instructions for each, gamma 6. A factor on the spread of fp32's.
const DOUBLE: f64 = 15.0;
/// The same of types in which no element-wise kernel was timed; they take as long as their bytes.
const UNTIMED: f64 = 3.0;

/// Cycles in which one thread alone does one operation: a multiply-add that waits for the one before takes four (Z. Jia and
/// others, Dissecting the NVIDIA Volta GPU Architecture, 2018), and so do most others of a loop; some lie side by side.
const THREAD_CYCLES: f64 = 3.0;

/// Operations an element of the longest functions that were timed.
const PLAIN: f64 = 64.0;

/// Bytes that memory hands out together.
const SECTOR: f64 = 32.0;

pub(super) fn map(machine: &Machine<'_>, job: &Job, n: f64, transcendental: bool) -> Cost {
    let one = pass(machine, job, 1.0);
    // A thread that takes one element starts, works out its place and waits for one load: so many elements a clock, in
    // single precision and in double, from memory as from the cache.
    let c = machine.constants;
    let pace = if machine.recent { c.map_threads_recent } else { c.map_threads };
    let threads = if job.one_each { n / (machine.units * machine.clock * pace) } else { 0.0 };
    let memory = overlap(one.memory, threads);
    let double = matches!(job.dtype, Dtype::F64 | Dtype::C128);
    let compute = if double && transcendental { double_function(machine, job) } else { one.compute };
    // Few threads with much to do each: none is done before its own operations are. Those of a plain function are part of
    // what the smallest kernel takes.
    let own = (job.flop / n.max(1.0) - PLAIN).max(0.0);
    let compute = compute.max(own * THREAD_CYCLES / machine.clock);
    let doubt = match job.dtype {
        Dtype::F32 | Dtype::Tf32 => 1.0,
        _ if job.dtype.bytes() == 2 => HALF,
        _ if double && transcendental => UNTIMED + (DOUBLE - UNTIMED) * compute / (compute + memory).max(1e-300),
        _ => UNTIMED,
    };
    Cost { doubt, compute, memory, ..one }
}

/// Seconds of transcendental functions in double precision: the multiply-adds of their polynomials take the fp64 units, the
/// rest (exponents, tests, places) goes at the pace of fp32. Where fp64 has half that pace this is ordinary arithmetic.
fn double_function(machine: &Machine<'_>, job: &Job) -> f64 {
    let doubles = machine.vector_peak(Dtype::F64);
    let issue = doubles.max(machine.f32_peak / 2.0) * machine.constants.map_share;
    (job.flop / (DOUBLE_UNITS * doubles)).max(job.flop / issue)
}

/// A copy of `run` elements that lie together on both sides. A single one fetches a whole sector of memory, of which neighbours
/// find some in the cache; a long row is as good as no gap.
pub(super) fn copy(machine: &Machine<'_>, job: &Job, strided: bool, run: f64) -> Cost {
    let c = machine.constants;
    let row = run * job.dtype.bytes() as f64;
    let share = c.strided_share + (c.strided_rows - c.strided_share).max(0.0) * row / (row + SECTOR);
    pass(machine, job, if strided { share } else { 1.0 })
}

/// Many results: each block folds its own. Few: blocks fold parts and a second step folds those.
pub(super) fn reduce(machine: &Machine<'_>, job: &Job, n: f64, out: f64) -> Cost {
    let two_steps = out < machine.units && n > 4096.0 * out.max(1.0);
    // The tree in a block takes its time, too: 2.8 µs for 1024 elements on an H100, 4.8 for 8192.
    let chain = 0.4 * machine.floor;
    Cost { launches: if two_steps { 2.0 } else { 1.0 }, chain, ..pass(machine, job, 0.95) }
}

/// One kernel that streams `job` at `share` of what a copy reaches.
pub(super) fn pass(machine: &Machine<'_>, job: &Job, share: f64) -> Cost {
    Cost {
        at_peak: job.flop / machine.vector_peak(job.dtype),
        ..Cost::of(job, machine.arithmetic(job.flop, job.dtype), machine.streamed(job.bytes, share))
    }
}
