//! One op on one device: time, how sure, and what limits it. Device time only; dispatch belongs to the timeline.
//!
//! [`kernel_time`] goes one way: what the op needs (`workload::family`) and what the device has (`machine`) meet in
//! the family's file, which says how long the arithmetic, the memory and the fixed parts take (`cost`). Numbers
//! that a fit chooses are in `constants.csv` and `spread.csv`; what was read off the traces of one board stands in the
//! family's file, with where it is from.

mod atomic;
mod attention;
mod batchnorm;
mod blocks;
mod calibrated;
pub mod collective;
mod constants;
mod convolution;
mod cost;
mod cpu;
mod dataframe;
mod depthwise;
mod factor;
mod fft;
mod gather;
mod link;
mod machine;
mod matmul;
mod power;
mod random;
mod recurrent;
mod routine;
mod rowwise;
mod sort;
mod sparse;
mod stream;
mod window;
mod winograd;

#[cfg(test)]
mod laws;

pub use calibrated::{rests_on_measured, work};
pub use constants::{Constants, Spread, lean_constants};
pub use cpu::{CORE_MEMORY, fresh_pages};
pub use dataframe::FrameConstants;
pub use link::Link;
pub use machine::{Machine, boost, gaps};
pub use power::{PowerConstants, capped_speed, power, power_with};

use crate::hardware::{Device, DeviceKind};
use crate::units::{Bytes, Flop, Seconds};
use crate::workload::{Dtype, Entry, Op, Phase, op::Rowwise};
use serde::{Deserialize, Serialize};

/// Watts of the board with a context and no work: measured, or the share of its power limit seen on boards of its size.
/// `None` where the limit is not known.
///
/// ```
/// let l4 = &breakeven::hardware::Catalogue::embedded().gpu("l4").unwrap().device;
/// assert!((10.0..40.0).contains(&breakeven::kernel::idle_watts(l4).unwrap()));
/// ```
pub fn idle_watts(device: &Device) -> Option<f64> {
    Some(machine::floor_watts(device, device.tdp?.get()))
}

/// What limits a kernel or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Arithmetic units.
    Compute,
    /// Device memory bandwidth.
    Memory,
    /// Copies between host and device.
    Transfer,
    /// Handing kernels to the device.
    Launch,
    /// The host waiting for the device to hand a value back.
    Sync,
    /// Python and CPU code.
    Host,
}

impl Bound {
    /// The name in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Transfer => "transfer",
            Self::Launch => "launch",
            Self::Sync => "sync",
            Self::Host => "host",
        }
    }
}

/// How a device computes in a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// In units made for it.
    Native,
    /// In another dtype or in software: the time is that of the substitute.
    Emulated,
    /// Not at all: objects and strings on a GPU. The time is what numbers of the same size would take.
    Refused,
}

/// Device time of one kernel (or of the few that one op needs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTime {
    /// Median device time; never below the device's smallest kernel.
    pub p50: Seconds,
    /// Standard deviation of ln(time) shared by all kernels of this family on this device.
    pub sigma_shared: f64,
    /// Standard deviation of ln(time) of this kernel alone.
    pub sigma_own: f64,
    /// `Compute`, `Memory`, `Transfer`, or `Launch`: the work is shorter than its launches and the steps that wait for each
    /// other (reasons tell the two apart).
    pub bound: Bound,
    /// Arithmetic done.
    pub flop: Flop,
    /// Bytes moved to and from device memory.
    pub bytes: Bytes,
    /// Achieved share of the peak of what bounds it, 0–1.
    pub utilisation: f64,
    /// Kernels that one op launches.
    pub launches: u32,
    /// What so many kernels take however little they do; never above `p50`.
    pub smallest: Seconds,
    /// Whether the device has the dtype.
    pub support: Support,
}

/// Time of `op` in `dtype` on `device`. `read` and `written` are the array bytes that were recorded, both zero where
/// that is not known: then each input counts as read once and each output as written once.
///
/// Ops without work for the device (`View`, `Synchronise`, `HostOnly`, `Opaque`) take zero time and no launch;
/// `Transfer`, `HostRead` and `Collective` take the time of the device's link.
///
/// ```
/// use breakeven::hardware::{Device, DeviceKind, Peaks, device::Vendor};
/// use breakeven::kernel::{Bound, kernel_time};
/// use breakeven::units::{Bytes, BytesPerSec, FlopPerSec};
/// use breakeven::workload::{Dtype, Op};
///
/// let v100 = Device {
///     id: "v100".into(), name: "V100".into(), kind: DeviceKind::Gpu, vendor: Vendor::Nvidia,
///     architecture: "Volta".into(), year: Some(2017), announced: false, units: Some(80), boost: None,
///     cores_per_unit: None, compute_capability: None, shared_per_unit: None, unified_memory: false,
///     peaks: Peaks { f32_vector: Some(FlopPerSec::tera(14.0)), ..Peaks::default() },
///     memory: Bytes::gb(16.0), bandwidth: BytesPerSec::gb_per_s(900.0), cache: None, host_link: None,
///     tdp: None, idle: None, context_idle: None, measured: None, copies: None,
/// };
/// let product = Op::Matmul { m: 4096, n: 4096, k: 4096, batch: 1, bias: false };
/// let time = kernel_time(&product, Dtype::F32, Bytes::ZERO, Bytes::ZERO, &v100);
/// assert_eq!(time.bound, Bound::Compute);
/// assert!(time.p50.get() > 137.4e9 / 14e12); // never faster than the peak
/// ```
pub fn kernel_time(op: &Op, dtype: Dtype, read: Bytes, written: Bytes, device: &Device) -> KernelTime {
    kernel_time_with(Constants::shipped(), op, dtype, Recorded { read, written, ..Recorded::default() }, device)
}

/// [`kernel_time`] of one run of an entry of a workload, with what was recorded of it, in its own library.
pub fn entry_time(entry: &Entry, device: &Device) -> KernelTime {
    entry_time_on(&Machine::of(device), entry)
}

/// [`entry_time`] with other constants, for fitting them.
pub fn entry_time_with(constants: &Constants, entry: &Entry, device: &Device) -> KernelTime {
    entry_time_on(&Machine::new(device, constants), entry)
}

/// [`entry_time`] where the device has been worked out: for many entries.
pub fn entry_time_on(machine: &Machine<'_>, entry: &Entry) -> KernelTime {
    let recorded = Recorded {
        read: Bytes(entry.read_bytes as f64),
        written: Bytes(entry.written_bytes as f64),
        channels_last: entry.layout.as_deref() == Some("channels_last"),
        one_each: entry.one_each(),
        turned: entry.layout.as_deref() == Some("f") && entry.phase == Some(Phase::Backward),
        by_torch: entry.name.starts_with("aten."),
    };
    time_on(machine, &entry.op, entry.dtype, recorded)
}

/// The sum of the kernels of one program on one device and its standard deviation, s, of each: seconds, and the shared and
/// the own standard deviation of ln(time). What kernels share is off in the same direction in all of them, whatever their
/// family: clocks, memory, a library's version. So shared parts add, and to them comes what whole programs were seen to be
/// off by beyond that.
pub fn sum_of(constants: &Constants, kernels: impl Iterator<Item = [f64; 3]>) -> [f64; 2] {
    let (mut all, mut shared, mut own) = (0.0, 0.0, 0.0);
    for [seconds, sigma_shared, sigma_own] in kernels {
        all += seconds;
        shared += seconds * sigma_shared;
        own += (seconds * sigma_own) * (seconds * sigma_own);
    }
    [all, libm::sqrt(shared * shared + own + (all * constants.together) * (all * constants.together))]
}

/// Seconds in which one block of threads for each of `out` results folds `n` elements, beyond the pass over memory.
pub fn folded_by_blocks(machine: &Machine<'_>, n: f64, out: f64) -> f64 {
    blocks::seconds(machine, n, out)
}

/// Seconds in which `n` elements find their label among `labels` and add to its sum.
pub fn added_to_labels(machine: &Machine<'_>, n: f64, labels: f64) -> f64 {
    atomic::to_labels(machine, n, labels)
}

/// What a kernel's time depends on beside its op, dtype and device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// Array bytes, both zero where they are not known.
    pub read: Bytes,
    /// The same of what is written.
    pub written: Bytes,
    /// Images with their channels last in memory.
    pub channels_last: bool,
    /// An element-wise kernel that gives each thread one element.
    pub one_each: bool,
    /// A product whose first factor lies by columns, as in the gradient of a layer's weights.
    pub turned: bool,
    /// PyTorch's, which on a CPU has kernels for types that NumPy goes through one by one.
    pub by_torch: bool,
}

/// [`kernel_time`] with other constants, for fitting them.
pub fn kernel_time_with(
    constants: &Constants,
    op: &Op,
    dtype: Dtype,
    recorded: Recorded,
    device: &Device,
) -> KernelTime {
    time_on(&Machine::new(device, constants), op, dtype, recorded)
}

/// [`kernel_time`] of a dataframe verb with other constants, for fitting them.
pub fn frame_time_with(constants: &FrameConstants, op: &Op, dtype: Dtype, bytes: Bytes, device: &Device) -> KernelTime {
    let machine = Machine::of(device);
    let job = cost::Job {
        flop: op.need(dtype).flop,
        bytes: bytes.get(),
        written: 0.0,
        dtype,
        channels_last: false,
        one_each: false,
        turned: false,
        by_torch: false,
    };
    let dims = crate::workload::family::FrameDims::of(op);
    dataframe::cost_with(constants, &machine, &job, &dims).finish(&machine, op.family(), dtype)
}

/// The model's own time, whatever was measured on the device: what its curves start from.
pub fn kernel_time_plain(op: &Op, dtype: Dtype, recorded: Recorded, device: &Device) -> KernelTime {
    if device.measured.is_none() {
        return time_on(&Machine::of(device), op, dtype, recorded);
    }
    let plain = Device { measured: None, copies: None, ..device.clone() };
    time_on(&Machine::of(&plain), op, dtype, recorded)
}

/// [`kernel_time`] where the device has been worked out: for many ops.
pub fn time_on(
    machine: &Machine<'_>,
    op: &Op,
    dtype: Dtype,
    Recorded { read, written, channels_last, one_each, turned, by_torch }: Recorded,
) -> KernelTime {
    if let Op::Routine { parts } = op {
        return routine::time(machine, parts);
    }
    let device = machine.device;
    // Where there are no units for TF32 libraries compute what may be in it in fp32.
    let plain = dtype == Dtype::Tf32 && device.peaks.tf32_tensor.is_none();
    let (asked, dtype) = (dtype, if plain { Dtype::F32 } else { dtype });
    let mut need = op.need(dtype);
    need.flop = need.flop.min(crate::workload::family::LARGEST);
    need.bytes = need.bytes.min(crate::workload::family::LARGEST);
    let recorded = read.get() + written.get();
    let moved = if recorded > 0.0 { recorded.min(crate::workload::family::LARGEST) } else { need.bytes };
    let job = cost::Job {
        flop: need.flop,
        bytes: moved,
        written: written.get().clamp(0.0, moved),
        dtype,
        channels_last,
        one_each,
        turned,
        by_torch,
    };
    let cost = match device.kind {
        DeviceKind::Gpu => on_gpu(machine, op, &job),
        DeviceKind::Cpu => cpu::cost(machine, op, &job),
    };
    calibrated::apply(cost.finish(machine, op.family(), asked), machine, op, asked, by_torch)
}

fn on_gpu(machine: &Machine<'_>, op: &Op, job: &cost::Job) -> cost::Cost {
    match op {
        Op::Matmul { m, n, k, batch, bias } => {
            matmul::cost(machine, job, [*m, *n, *k, *batch].map(|d| d as f64), *bias)
        }
        Op::Convolution { pass, batch, cin, cout, groups, input, kernel, output } => {
            let dims =
                crate::workload::family::ConvolutionDims::new(*batch, *cin, *cout, *groups, input, kernel, output);
            convolution::cost(machine, job, &convolution::Sides { dims: &dims, input, kernel }, *pass)
        }
        Op::Attention { batch, heads, q_len, kv_len, head_dim, .. } => {
            attention::cost(machine, job, *batch as f64 * *heads as f64, [*q_len, *kv_len, *head_dim].map(|d| d as f64))
        }
        Op::Recurrent { .. } => recurrent::cost(machine, job, op),
        Op::Elementwise { n, transcendental, .. } => stream::map(machine, job, *n as f64, *transcendental),
        Op::Reduce { n, out, .. } => stream::reduce(machine, job, *n as f64, *out as f64),
        Op::Copy { strided, run, .. } => stream::copy(machine, job, *strided, *run as f64),
        Op::Rowwise { kind: Rowwise::BatchNorm, pass, rows, width } => {
            batchnorm::cost(machine, job, *pass, *rows as f64, *width as f64)
        }
        Op::Rowwise { kind, pass, rows, width } => {
            rowwise::cost(machine, job, *kind, *pass, [*rows as f64, *width as f64])
        }
        Op::Scan { .. } => rowwise::scan(machine, job),
        Op::Sort { kind, rows, width } => sort::cost(machine, job, *kind, *rows as f64, *width as f64),
        Op::Gather { n, source } => gather::gather(machine, job, *n as f64, *source as f64),
        Op::Scatter { n, target, accumulate } => gather::scatter(machine, job, *n as f64, *target as f64, *accumulate),
        Op::Embedding { .. } => gather::embedding(machine, job),
        Op::Fft { n, batch, .. } => fft::cost(machine, job, *n, *batch as f64),
        Op::Factor { kind, m, n, batch, .. } => factor::cost(machine, job, *kind, [*m, *n, *batch].map(|d| d as f64)),
        Op::Sparse { kind, cols, nnz, n, .. } => sparse::cost(machine, job, *kind, [*cols, *nnz, *n].map(|d| d as f64)),
        Op::Random { kind, n } => random::cost(machine, job, *kind, *n as f64),
        Op::Window { kind, pass, n, input, window } => {
            window::cost(machine, job, (*kind, *pass), [*n, *input, *window].map(|d| d as f64))
        }
        Op::Dataframe { .. } => dataframe::cost(machine, job, &crate::workload::family::FrameDims::of(op)),
        // Its parts, each by itself: see `routine`.
        Op::Routine { .. } => cost::Cost::NOTHING,
        Op::Transfer { .. } | Op::HostRead { .. } | Op::Collective { .. } => link::cost(machine, job, op),
        Op::Synchronise | Op::StreamWait | Op::View | Op::HostOnly | Op::Opaque => cost::Cost::NOTHING,
    }
}
