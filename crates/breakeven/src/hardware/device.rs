//! What the models may know of a device: a GPU or a CPU as numbers.

pub use super::curves::{Copies, Curve, Curves, Pair, Work};
use crate::units::{Bytes, BytesPerSec, FlopPerSec, Hertz, Watts};
use crate::workload::Dtype;
use std::sync::Arc;

/// GPU or CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DeviceKind {
    Gpu,
    Cpu,
}

/// Who makes it; decides which software stack a port would use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Vendor {
    Nvidia,
    Amd,
    Intel,
    Apple,
    Other,
}

/// Dense peak rates (never with sparsity), FMA counted as two. `None` when the unit does not exist or is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "precision and unit are in the name")]
pub struct Peaks {
    pub f64_vector: Option<FlopPerSec>,
    pub f64_tensor: Option<FlopPerSec>,
    pub f32_vector: Option<FlopPerSec>,
    pub f16_vector: Option<FlopPerSec>,
    pub f32_tensor: Option<FlopPerSec>,
    pub tf32_tensor: Option<FlopPerSec>,
    pub f16_tensor: Option<FlopPerSec>,
    pub bf16_tensor: Option<FlopPerSec>,
    pub f8_tensor: Option<FlopPerSec>,
    pub i8_tensor: Option<FlopPerSec>,
}

/// A GPU or CPU as the kernel model sees it. Models are handed one; they never look one up.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Catalogue id, in kebab case.
    pub id: String,
    /// Marketing name.
    pub name: String,
    /// GPU or CPU.
    pub kind: DeviceKind,
    /// Maker.
    pub vendor: Vendor,
    /// Architecture as the maker calls it: `Ampere`, `CDNA3`, `Zen 4`.
    pub architecture: String,
    /// Year of release.
    pub year: Option<u32>,
    /// Its figures are the maker's word before it is sold: they may change.
    pub announced: bool,
    /// Streaming multiprocessors, compute units, Xe cores, or CPU cores.
    pub units: Option<u32>,
    /// Scalar fp32 lanes in each of those ("CUDA cores per SM", 64 or 128).
    pub cores_per_unit: Option<u32>,
    /// Boost clock.
    pub boost: Option<Hertz>,
    /// What the compiler targets: `8.0` for CUDA, `gfx942` for ROCm.
    pub compute_capability: Option<String>,
    /// Dense peak rates.
    pub peaks: Peaks,
    /// Device memory, all of it.
    pub memory: Bytes,
    /// Peak bandwidth of that memory.
    pub bandwidth: BytesPerSec,
    /// Last-level cache.
    pub cache: Option<Bytes>,
    /// Scratchpad (shared memory, LDS) of each unit.
    pub shared_per_unit: Option<Bytes>,
    /// Host link, each direction. `None` when the memory is shared with the host, or the link is not known.
    pub host_link: Option<BytesPerSec>,
    /// Host and device use the same memory: nothing has to be copied.
    pub unified_memory: bool,
    /// Board power limit.
    pub tdp: Option<Watts>,
    /// Power with nothing loaded, as measured.
    pub idle: Option<Watts>,
    /// Power with a context and no work, as measured.
    pub context_idle: Option<Watts>,
    /// What its own kernels were measured to take; `None` where nobody measured on it.
    pub measured: Option<Arc<Curves>>,
    /// The same of copies between it and its host.
    pub copies: Option<Copies>,
}

impl Device {
    /// The fastest dense rate for matrix products in `dtype`, and whether a tensor unit gives it.
    pub fn matrix_peak(&self, dtype: Dtype) -> Option<(FlopPerSec, bool)> {
        let p = &self.peaks;
        let tensor = match dtype {
            Dtype::F64 | Dtype::C128 => p.f64_tensor,
            Dtype::F32 | Dtype::C64 => p.f32_tensor,
            Dtype::Tf32 => p.tf32_tensor.or(p.f32_tensor),
            Dtype::F16 => p.f16_tensor,
            Dtype::Bf16 => p.bf16_tensor,
            Dtype::F8 => p.f8_tensor.or(p.f16_tensor),
            Dtype::I8 | Dtype::U8 => p.i8_tensor,
            _ => None,
        };
        match (tensor, self.vector_peak(dtype)) {
            (Some(t), Some(v)) if t >= v => Some((t, true)),
            (Some(t), None) => Some((t, true)),
            (_, Some(v)) => Some((v, false)),
            (None, None) => None,
        }
    }

    /// The dense rate of the ordinary cores in `dtype`; integers run at the fp32 rate (64-bit ones at a quarter), and so do
    /// 16-bit numbers on boards that have next to no units for them: libraries convert.
    pub fn vector_peak(&self, dtype: Dtype) -> Option<FlopPerSec> {
        let p = &self.peaks;
        match dtype {
            Dtype::F64 | Dtype::C128 | Dtype::Other => p.f64_vector,
            Dtype::F16 => p.f16_vector.into_iter().chain(p.f32_vector).reduce(|a, b| if a >= b { a } else { b }),
            Dtype::I64 | Dtype::U64 => p.f32_vector.map(|r| r / 4.0),
            Dtype::F32 | Dtype::Tf32 | Dtype::Bf16 | Dtype::F8 | Dtype::C64 => p.f32_vector,
            Dtype::I32 | Dtype::U32 | Dtype::I16 | Dtype::U16 | Dtype::I8 | Dtype::U8 | Dtype::Bool => p.f32_vector,
        }
    }
}
