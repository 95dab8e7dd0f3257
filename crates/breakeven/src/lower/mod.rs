//! From a framework's call to an op: what `numpy.linalg.svd` of a 1000×50 array does, free of NumPy.
//!
//! A recorder hands a [`Call`] (a name, shapes, dtypes) to [`lower`] and gets a family with its dims, the dtype it
//! computes in, and the bytes its arrays hold. The knowledge is a table of text, one row a callable
//! (`callables/*.csv`); its rules are [`Rule`]. Lowering is total: an unknown name, or shapes that make no sense, give
//! `Op::Opaque` or saturated dims, never a panic.
//!
//! ```
//! use breakeven::lower::{ArrayRef, Call, lower};
//! use breakeven::workload::{Dtype, Op};
//!
//! let a = ArrayRef::new(Dtype::F64, &[2000, 2000]);
//! let (inputs, outputs) = ([a.clone(), a.clone()], [a]);
//! let call = Call { name: "numpy.matmul", inputs: &inputs, outputs: &outputs, keywords: &[], scalar_result: false };
//! let lowered = lower(&call);
//! assert_eq!(lowered.op, Op::Matmul { m: 2000, n: 2000, k: 2000, batch: 1, bias: false });
//! assert_eq!((lowered.read, lowered.written), (64_000_000, 32_000_000));
//! ```

mod bytes;
mod call;
mod callable;
mod device;
mod elementwise;
mod factor;
mod fft;
mod fold;
mod frames;
mod index;
mod learn;
mod loops;
mod product;
mod random;
mod rule;
mod sparse;
mod tensor;
mod told;
mod window;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod laws;

pub use call::{ArrayRef, Call, Layout};
pub(crate) use callable::rows;
pub use callable::{Callable, callable, callables, canonical, numpy_name};
pub use elementwise::Cost;
pub(crate) use elementwise::function_cost;
#[cfg(test)]
pub(crate) use elementwise::has_cost;
pub use frames::Verb;
pub use learn::{Algorithm, Phase};
pub use rule::Rule;
pub use tensor::Form;

use crate::workload::op::{Fft, Rowwise};
use crate::workload::{Dtype, Op};

/// What a call comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// Family and dims.
    pub op: Op,
    /// What it computes in.
    pub dtype: Dtype,
    /// Bytes of the arrays it reads, whole.
    pub read: u64,
    /// Bytes of the arrays it writes.
    pub written: u64,
}

/// The op of a call. What is not understood is `Op::Opaque`; arrays of strings, objects or records are `Op::HostOnly`
/// unless the call only views them.
pub fn lower(call: &Call) -> Lowered {
    if let Some(told) = told::op(call) {
        return told;
    }
    let rule = callable(call.name).map_or(Rule::Opaque, |c| c.rule);
    if let Rule::Frame(verb) = rule {
        return frames::lower(verb, call);
    }
    if let Rule::Learn(algorithm, phase) = rule {
        return learn::op(algorithm, phase, call);
    }
    if rule == Rule::Loops
        && let Some(lowered) = loops::op(call)
    {
        return lowered;
    }
    let inputs = &call.inputs[..call.inputs.len().min(rule.operands())];
    let call = &Call { inputs, ..*call };
    let op = match rule.op(call) {
        op @ (Op::View | Op::Transfer { .. } | Op::Synchronise | Op::StreamWait) => op,
        _ if call.inputs.iter().chain(call.outputs).any(|a| a.dtype == Dtype::Other) => Op::HostOnly,
        op => op,
    };
    let (read, written) = bytes::read_written(rule, call, &op);
    Lowered { dtype: dtype(&op, call), op, read, written }
}

/// The type the arithmetic is done in: of what is indexed, ordered, normalised by channels or attended to that of the
/// source, whatever type its weights and sums are kept in; else the widest among arguments and results, where a result
/// of truth values (a comparison) or of places (`argmax`) says nothing.
fn dtype(op: &Op, call: &Call) -> Dtype {
    let source = call.inputs.first().or(call.outputs.first()).map_or(Dtype::F64, |a| a.dtype);
    let widest = |arrays: &[ArrayRef]| arrays.iter().map(|a| a.dtype).filter(|&d| d != Dtype::Bool).max_by_key(rank);
    match op {
        Op::Gather { .. } | Op::Sort { .. } | Op::View => source,
        Op::Attention { .. } | Op::Rowwise { kind: Rowwise::BatchNorm, .. } => source,
        // A real transform computes in the real type, whichever side is complex.
        Op::Fft { kind: Fft::R2c | Fft::C2r, .. } => {
            match [call.inputs, call.outputs].into_iter().filter_map(widest).max_by_key(rank) {
                Some(Dtype::C64) => Dtype::F32,
                Some(Dtype::C128) | None => Dtype::F64,
                Some(real) => real,
            }
        }
        // 8-bit factors are summed in 32 bits: what the units multiply is what counts.
        Op::Matmul { .. } => widest(call.inputs).unwrap_or(source),
        Op::Scatter { .. } => call.outputs.first().map_or(source, |a| a.dtype),
        _ => {
            let inputs = widest(call.inputs);
            let outputs =
                widest(call.outputs).filter(|&d| inputs.is_none_or(|i| rank(&d) >= FLOATS || rank(&i) < FLOATS));
            inputs.into_iter().chain(outputs).max_by_key(rank).unwrap_or(source)
        }
    }
}

/// From here on types have a fraction.
const FLOATS: u8 = 10;

/// Order of promotion.
fn rank(dtype: &Dtype) -> u8 {
    match dtype {
        Dtype::Bool => 0,
        Dtype::I8 | Dtype::U8 => 1,
        Dtype::I16 | Dtype::U16 => 2,
        Dtype::I32 | Dtype::U32 => 3,
        Dtype::I64 | Dtype::U64 => 4,
        Dtype::F8 => FLOATS,
        Dtype::F16 => FLOATS + 1,
        Dtype::Bf16 => FLOATS + 2,
        Dtype::Tf32 => FLOATS + 3,
        Dtype::F32 => FLOATS + 4,
        Dtype::F64 => FLOATS + 5,
        Dtype::C64 => FLOATS + 6,
        Dtype::C128 => FLOATS + 7,
        Dtype::Other => FLOATS + 8,
    }
}
