//! What an op needs at least, whatever it runs on: arithmetic and bytes from its dims. A file per family.
//!
//! Counts are exact for the textbook algorithm that each file names. Dims up to `u64::MAX` are allowed: counts are
//! `f64` and saturate at [`LARGEST`].

mod attention;
mod convolution;
mod copy;
mod dataframe;
mod elementwise;
mod factor;
mod fft;
mod gather;
mod host;
mod matmul;
mod random;
mod recurrent;
mod routine;
mod rowwise;
mod sort;
mod sparse;
mod window;

pub(crate) use convolution::Dims as ConvolutionDims;
pub(crate) use dataframe::Dims as FrameDims;
pub use dataframe::memory as frame_memory;
pub(crate) use recurrent::Dims as RecurrentDims;

use super::{Dtype, Op, Pass};
use crate::units::{Bytes, Flop};

/// Counts stop growing here, so that products and sums of counts stay finite.
pub const LARGEST: f64 = 1e150;

/// What an op needs at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Need {
    /// Arithmetic operations.
    pub(crate) flop: f64,
    /// Bytes read once and written once.
    pub(crate) bytes: f64,
}

impl Need {
    const NOTHING: Self = Self { flop: 0.0, bytes: 0.0 };
}

impl Op {
    /// Arithmetic that the op needs: an add, multiply or compare counts as 1, a fused multiply-add as 2, a complex
    /// multiply-add as four real ones (8).
    ///
    /// ```
    /// use breakeven::workload::{Dtype, Op};
    /// let product = Op::Matmul { m: 2000, n: 2000, k: 2000, batch: 1, bias: false };
    /// assert_eq!(product.flop(Dtype::F64).get(), 1.6e10);
    /// ```
    pub fn flop(&self, dtype: Dtype) -> Flop {
        Flop(self.need(dtype).flop.min(LARGEST))
    }

    /// Bytes that the op must move when every input is read once and every output written once.
    pub fn min_bytes(&self, dtype: Dtype) -> Bytes {
        Bytes(self.need(dtype).bytes.min(LARGEST))
    }

    pub(crate) fn need(&self, dtype: Dtype) -> Need {
        let s = dtype.bytes() as f64;
        match *self {
            Self::Matmul { m, n, k, batch, bias } => matmul::need([m, n, k, batch].map(f), bias, dtype),
            Self::Convolution { pass, batch, cin, cout, groups, ref input, ref kernel, ref output } => {
                let dims = ConvolutionDims::new(batch, cin, cout, groups, input, kernel, output);
                convolution::need(&dims, pass, dtype)
            }
            Self::Attention { pass, batch, heads, q_len, kv_len, head_dim, causal } => {
                attention::need(pass, f(batch) * f(heads), [q_len, kv_len, head_dim].map(f), causal, dtype)
            }
            Self::Recurrent { pass, .. } => recurrent::need(&RecurrentDims::of(self), pass, dtype),
            Self::Elementwise { n, inputs, flop_per_element, .. } => {
                elementwise::map(f(n), f64::from(inputs), flop_per_element, dtype)
            }
            Self::Reduce { n, out, flop_per_element } => elementwise::reduce(f(n), f(out), flop_per_element, dtype),
            Self::Rowwise { kind, pass, rows, width } => rowwise::need(kind, pass, f(rows), f(width), dtype),
            Self::Scan { rows, width } => rowwise::scan(f(rows) * f(width), dtype),
            Self::Sort { kind, rows, width } => sort::need(kind, f(rows), f(width), s),
            Self::Gather { n, .. } => gather::gather(f(n), s),
            Self::Scatter { n, accumulate, .. } => gather::scatter(f(n), accumulate, s),
            Self::Copy { n, inputs, .. } => copy::need(f(n), inputs, s),
            Self::Fft { kind, n, batch } => fft::need(kind, f(n), f(batch), dtype),
            Self::Factor { kind, m, n, rhs, batch } => factor::need(kind, [m, n, rhs, batch].map(f), dtype),
            Self::Sparse { kind, rows, cols, nnz, n } => sparse::need(kind, [rows, cols, nnz, n].map(f), dtype),
            Self::Random { kind, n } => random::need(kind, f(n), s),
            Self::Window { kind, pass, n, input, window } => window::need(kind, pass, [n, input, window].map(f), s),
            Self::Embedding { pass, n, width, .. } => gather::embedding(pass, f(n), f(width), s),
            Self::Dataframe { .. } => dataframe::need(&FrameDims::of(self), s),
            Self::Routine { ref parts } => routine::need(parts),
            Self::Collective { kind, bytes, ranks } => host::collective(kind, f(bytes), f(ranks), s),
            Self::Transfer { bytes, .. } | Self::HostRead { bytes } => host::moved(f(bytes)),
            Self::Synchronise | Self::StreamWait | Self::View | Self::HostOnly | Self::Opaque => Need::NOTHING,
        }
    }
}

/// A dim as a float; all dims are below 2⁶⁴ ≈ 1.8e19, so that the product of seven stays below [`LARGEST`].
fn f(dim: u64) -> f64 {
    dim as f64
}

/// log₂, and 0 for what is already in order (one element or none).
fn log2(n: f64) -> f64 {
    if n > 1.0 { libm::log2(n) } else { 0.0 }
}
