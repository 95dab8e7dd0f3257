//! A kernel's measured time on one GPU, carried to another.
//!
//! What was measured knows more than a model alone: how the shape suits the library, what the op really is. So the time
//! on another GPU is the measured one times the ratio of the modelled ones, target to source. How far the source was off
//! from its model tells something of how far the target will be, and not all: [`Spread::weight`] of it is kept. The
//! interval is that of the ratio. Both are in `spread.csv`: assumed by hand until `accuracy carry` fits them to pairs of
//! measured GPUs; each row says which.
//!
//! A kernel of which only the name is known is carried as a [`StandIn`]: an op of its class that takes as long.

mod spread;
mod standin;

#[cfg(test)]
mod laws;

pub use spread::{Kinship, Spread, Spreads};
pub use standin::StandIn;

use crate::hardware::Device;
use crate::interval::Interval;
use crate::kernel::{Bound, KernelTime, Machine, Recorded, time_on};
use crate::workload::{Dtype, Op};

/// How far off the source may be from its model before it is taken for another kernel than the model knows: that many
/// standard deviations. What is beyond is kept whole.
const FAR: f64 = 2.0;

/// What is known of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Family and dims.
    pub op: Op,
    /// What it computes in.
    pub dtype: Dtype,
    /// How its dims are known: the op itself, or one of its class in its place.
    pub known: Known,
}

/// How a kernel's op is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Its shapes and dtypes are.
    Op,
    /// What it does is told by its name.
    Class,
    /// Nothing is: it is taken for a pass over memory.
    Nothing,
}

/// A kernel's time on the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carried {
    /// Median, s.
    pub seconds: f64,
    /// Standard deviation of ln(time) common to all kernels of its family.
    pub shared: f64,
    /// The same of this kernel alone.
    pub own: f64,
    /// What limits it there.
    pub bound: Bound,
    /// Achieved share of the peak of that, 0–1.
    pub utilisation: f64,
}

/// Two GPUs: where it was measured, and where it is asked for.
pub struct Pair<'a> {
    from: Machine<'a>,
    to: Machine<'a>,
    kinship: Kinship,
    spreads: &'a Spreads,
}

impl<'a> Pair<'a> {
    /// ```
    /// use breakeven::{carry::{Known, Pair, Work}, hardware::Catalogue, workload::{Dtype, Op}};
    /// let gpu = |id| &Catalogue::embedded().gpu(id).unwrap().device;
    /// let work = Work {
    ///     op: Op::Matmul { m: 4096, n: 4096, k: 4096, batch: 1, bias: false }, dtype: Dtype::F16, known: Known::Op,
    /// };
    /// let on_l4 = Pair::new(gpu("a100-sxm4-80gb"), gpu("l4")).carry(&work, 560e-6);
    /// assert!((2.0..10.0).contains(&(on_l4.seconds / 560e-6)));
    /// assert_eq!(Pair::new(gpu("l4"), gpu("l4")).carry(&work, 560e-6).seconds, 560e-6);
    /// ```
    pub fn new(from: &'a Device, to: &'a Device) -> Self {
        Self::of(Machine::of(from), Machine::of(to), Spreads::shipped())
    }

    /// The same with other constants, for fitting them.
    pub fn of(from: Machine<'a>, to: Machine<'a>, spreads: &'a Spreads) -> Self {
        let kinship = Kinship::of(from.device(), to.device());
        Self { from, to, kinship, spreads }
    }

    /// The GPU that it was measured on.
    pub fn source(&self) -> &Machine<'a> {
        &self.from
    }

    /// How near they are to each other.
    pub fn kinship(&self) -> Kinship {
        self.kinship
    }

    /// The time of `work`, which took `measured` s on the source. On the source itself that is the measured one, to the
    /// digit. A target that the model says is faster is never slower than what was measured.
    pub fn carry(&self, work: &Work, measured: f64) -> Carried {
        let [before, after] = self.modelled(work);
        let Spread { weight, shared, own } = self.spreads.of(work.known, work.op.family(), self.kinship);
        let ratio = after.p50.get() / before.p50.get();
        let untold = !(ratio.is_finite() && ratio > 0.0 && measured > 0.0);
        let seconds = if self.kinship == Kinship::Itself || untold {
            measured
        } else {
            // What the source took beyond its model, as far as that is a usual error.
            let usual = FAR * libm::hypot(before.sigma_shared, before.sigma_own);
            let excess = libm::log(measured / before.p50.get()).clamp(-usual, usual);
            let plain = measured * ratio;
            let shrunk = plain * libm::exp((weight - 1.0) * excess);
            if ratio <= 1.0 { shrunk.min(measured) } else { shrunk.max(measured) }
        };
        let [shared, own] = if untold && self.kinship != Kinship::Itself { [UNTOLD; 2] } else { [shared, own] };
        Carried { seconds, shared, own, bound: after.bound, utilisation: after.utilisation }
    }

    /// What the model says of it on both.
    pub fn modelled(&self, work: &Work) -> [KernelTime; 2] {
        let on = |machine: &Machine<'a>| time_on(machine, &work.op, work.dtype, Recorded::default());
        [on(&self.from), on(&self.to)]
    }

    /// The time of many kernels together: what they share is off in the same direction, to which comes what whole programs
    /// are off by beyond that. Each is so many seconds in all its runs.
    pub fn together(&self, kernels: impl Iterator<Item = Carried>) -> Interval {
        let (mut all, mut shared, mut own) = (0.0, 0.0, 0.0);
        for kernel in kernels {
            all += kernel.seconds;
            shared += kernel.seconds * kernel.shared;
            own += (kernel.seconds * kernel.own) * (kernel.seconds * kernel.own);
        }
        let whole = all * self.spreads.whole(self.kinship);
        let sigma = if all > 0.0 { libm::sqrt(shared * shared + own + whole * whole) / all } else { 0.0 };
        Interval::log_normal(all, sigma)
    }
}

/// Standard deviation of ln(time) where the model has no time of it.
const UNTOLD: f64 = 0.5;

/// The dtype of a kernel's numbers by its name, where that says it: `sgemm`, `_bf16_`, `s16816`.
///
/// ```
/// use breakeven::{carry::dtype_of, workload::Dtype};
/// assert_eq!(dtype_of("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"), Some(Dtype::Bf16));
/// assert_eq!(dtype_of("ampere_sgemm_128x64_tn"), Some(Dtype::F32));
/// assert_eq!(dtype_of("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32"), Some(Dtype::Tf32));
/// assert_eq!(dtype_of("reduce_kernel"), None);
/// ```
pub fn dtype_of(name: &str) -> Option<Dtype> {
    const PARTS: [(Dtype, &[&str]); 6] = [
        (Dtype::Tf32, &["tf32", "s1688gemm"]),
        (Dtype::F8, &["e4m3", "e5m2", "float8", "fp8"]),
        (Dtype::Bf16, &["bf16", "bfloat16", "nvjet_tst"]),
        (Dtype::F16, &["f16", "fp16", "half", "hgemm", "h884", "h1688", "h16816", "hshhs", "_hhs_", "nvjet_hs"]),
        (Dtype::F64, &["f64", "dgemm", "double", "d884gemm"]),
        (Dtype::F32, &["sgemm", "f32", "float", "scudnn", "fp32"]),
    ];
    let name = name.to_ascii_lowercase();
    let found = PARTS.iter().find(|(_, parts)| parts.iter().any(|part| name.contains(part)));
    found.map(|(dtype, _)| *dtype)
}
