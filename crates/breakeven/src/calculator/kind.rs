//! What kinds of work usually reach.

use crate::hardware::Device;
use crate::interval::Interval;
use crate::kernel::kernel_time;
use crate::request::Kind;
use crate::units::{Bytes, FlopPerSec};
use crate::workload::{Dtype, Op};
use crate::{Error, Result};

/// Share of the peak reached by any kind of work where nothing is known of the GPU.
pub const UNKNOWN_GPU_UTILISATION: f64 = 0.40;

/// Reads a kind as people write it.
///
/// # Errors
/// `unknown-kind`, with the four there are.
pub fn read_kind(text: &str) -> Result<Kind> {
    match text.trim().to_ascii_lowercase().as_str() {
        "training" | "train" => Ok(Kind::Training),
        "inference" | "infer" => Ok(Kind::Inference),
        "simulation" | "sim" | "hpc" => Ok(Kind::Simulation),
        "array" | "numpy" | "other" => Ok(Kind::Array),
        _ => Err(Error::new("unknown-kind", format!("there is no kind of work called `{}`", short(text)))
            .hint("training, inference, simulation or array")
            .field("kind")),
    }
}

/// Reads a precision as people write it.
///
/// # Errors
/// `unknown-precision`, with those there are.
pub fn read_precision(text: &str) -> Result<Dtype> {
    match text.trim().to_ascii_lowercase().as_str() {
        "fp64" | "float64" | "f64" | "double" => Ok(Dtype::F64),
        "fp32" | "float32" | "f32" | "single" | "float" => Ok(Dtype::F32),
        "tf32" => Ok(Dtype::Tf32),
        "fp16" | "float16" | "f16" | "half" => Ok(Dtype::F16),
        "bf16" | "bfloat16" => Ok(Dtype::Bf16),
        "fp8" | "float8" | "f8" => Ok(Dtype::F8),
        "int8" | "i8" => Ok(Dtype::I8),
        _ => Err(Error::new("unknown-precision", format!("there is no precision called `{}`", short(text)))
            .hint("fp64, fp32, tf32, fp16, bf16, fp8 or int8")
            .field("precision")),
    }
}

/// How a precision is written for people.
pub const fn precision_name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "fp64",
        Dtype::Tf32 => "tf32",
        Dtype::F16 => "fp16",
        Dtype::Bf16 => "bf16",
        Dtype::F8 => "fp8",
        Dtype::I8 => "int8",
        _ => "fp32",
    }
}

/// How a kind is written for people.
pub const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Training => "training",
        Kind::Inference => "inference",
        Kind::Simulation => "simulation",
        Kind::Array => "array work",
    }
}

/// The calculators' factor by kind of work, where the utilisation is a mere default.
pub const fn workload_factor(kind: Kind) -> f64 {
    match kind {
        Kind::Training => 1.0,
        Kind::Inference => 0.9,
        Kind::Simulation => 0.8,
        Kind::Array => 0.6,
    }
}

/// The calculators' factor on a given fp32 peak.
pub const fn precision_factor(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F64 => 0.5,
        Dtype::Tf32 | Dtype::F16 | Dtype::Bf16 => 2.0,
        Dtype::F8 | Dtype::I8 => 4.0,
        _ => 1.0,
    }
}

/// The peak that this kind of work runs at in `dtype`: matrix units for networks, the ordinary cores for the rest
/// where they know the type. `None` when the device has no figure for it.
pub fn peak(kind: Kind, dtype: Dtype, device: &Device) -> Option<FlopPerSec> {
    let matrix = device.matrix_peak(dtype).map(|(rate, _)| rate);
    match (kind, dtype) {
        (Kind::Simulation | Kind::Array, Dtype::F64 | Dtype::F32) => device.vector_peak(dtype).or(matrix),
        _ => matrix,
    }
}

/// Share of [`peak`] that this kind of work reaches on this GPU.
///
/// The kernel model's efficiency of a large product, times what whole programs of the kind keep of it: published
/// model-FLOP utilisations of training lie at 0.21–0.46 (PaLM, Chowdhery et al. 2022, table 3) where products alone
/// reach 0.8; inference keeps a little less; simulations and array code are held back by memory and spread wide.
pub fn utilisation(kind: Kind, dtype: Dtype, device: &Device) -> Interval {
    let (kept, sigma) = match kind {
        Kind::Training => (0.50, 0.25),
        Kind::Inference => (0.45, 0.35),
        Kind::Simulation => (0.40, 0.45),
        Kind::Array => (0.30, 0.60),
    };
    let op = Op::Matmul { m: 4096, n: 4096, k: 4096, batch: 1, bias: false };
    let side = 4096.0 * 4096.0 * dtype.bytes() as f64;
    let k = kernel_time(&op, dtype, Bytes(2.0 * side), Bytes(side), device);
    let efficiency = k.utilisation.clamp(0.05, 1.0);
    let sigma = (sigma * sigma + k.sigma_shared * k.sigma_shared).sqrt();
    let i = Interval::log_normal(kept * efficiency, sigma);
    Interval { p10: i.p10, p50: i.p50.min(0.95), p90: i.p90.min(0.95) }
}

/// What this kind of work reaches on a CPU, FLOP/s: in single precision where it has no figure for `dtype`. `None` where it
/// has none for that either.
pub fn reached(kind: Kind, dtype: Dtype, cpu: &Device) -> Option<Interval> {
    let peak = peak(kind, dtype, cpu).or_else(|| cpu.vector_peak(Dtype::F32))?;
    Some(utilisation(kind, dtype, cpu).scale(peak.get()))
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}
