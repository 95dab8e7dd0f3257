//! The rules of the table: family and how shapes become dims.

use super::elementwise::{self, Cost};
use super::learn::{self, Algorithm, Phase};
use super::product::Product;
use super::window::Windowed;
use super::{Call, Verb, device, factor, fft, fold, index, product, random, sparse, tensor, window};
use crate::workload::Op;
use crate::workload::op::{Direction, Factor, Fft, Random, Rowwise, Sort};

/// How the shapes of a call become an op. In the table a rule is written as its name, then `:` and what it takes:
/// `map:exp`, `sort:argsort:last`, `factor:svd`. The number after a function
/// of `callables/flops.csv` (`map:iteration:4`) is how many arrays this one reads, where that differs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// A function of each element of the broadcast operands.
    Map(Cost),
    /// A function of each element of all results together.
    MapOutputs(Cost),
    /// A function of every pair of elements.
    Outer(Cost),
    /// A fold along axes.
    Reduce(Cost),
    /// A fold along the diagonal.
    Trace,
    /// A norm of vectors, or of a matrix by its singular values.
    Norm,
    /// A running fold along an axis; `whole` when it flattens unless told an axis, else along `axis` 0 or the last.
    Scan(fold::ScanAxis),
    /// Soft-max and its kind along an axis.
    Rowwise(Rowwise),
    /// An order along an axis; `whole` when it flattens unless told an axis.
    Sort(Sort, fold::Extent),
    /// Sums of products.
    Product(Product),
    /// Elements read at computed places.
    Gather,
    /// Elements chosen by truth values.
    Mask,
    /// `where`: a choice by truth values, or the places of the true ones.
    Where,
    /// Elements written where a mask says.
    MaskedWrite,
    /// Elements written at computed places.
    Scatter,
    /// Elements added at computed places.
    ScatterAdd,
    /// How often each number occurs.
    ScatterCount,
    /// `a[key]`.
    GetItem,
    /// `a[key] = value`.
    SetItem,
    /// `copyto`: into the first array.
    CopyInto,
    /// A copy.
    Copy,
    /// A copy in another order.
    Rearrange,
    /// Elements written without reading any.
    Fill,
    /// A copy when the keyword `copied` says so, else a view.
    ViewUnlessCopied,
    /// Transforms along one axis, two, or all.
    Fft(Fft, fft::Axes),
    /// A factorisation or solve.
    Factor(Factor),
    /// Random numbers.
    Random(Random),
    /// A filter over windows.
    Windowed(Windowed),
    /// A sparse matrix times something.
    SparseProduct,
    /// A layer, loss or gradient of a tensor framework.
    Tensor(tensor::Form),
    /// A call on a data frame, with its sizes in the keyword `facts`.
    Frame(Verb),
    /// A view: no kernel.
    View,
    /// The host reads values.
    HostRead,
    /// A copy between host and device that the program asks for.
    Transfer(Direction),
    /// The host waits for the device.
    Synchronise,
    /// A stream waits for the others.
    StreamWait,
    /// A graph of launches is handed over; its ops are told by themselves.
    GraphLaunch,
    /// A kernel whose work is told by keywords.
    Described,
    /// An estimator's call, by the sizes that its recorder tells.
    Learn(Algorithm, Phase),
    /// The recorder tells the op itself, in the keyword `op`.
    Told,
    /// The recorder tells the loops of a compiled function, in the keyword `facts`.
    Loops,
    /// No array work: types, settings, shapes.
    Nothing,
    /// Stays on the host.
    HostOnly,
    /// Nothing of its own: what it calls is recorded.
    Composite,
    /// Array work that no family describes.
    Opaque,
}

impl std::fmt::Display for Rule {
    /// The verb of a call on a data frame, `none`, `composite`, or `op` for all other work.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Frame(verb) => verb.fmt(f),
            Self::Nothing => f.write_str("none"),
            Self::Composite => f.write_str("composite"),
            _ => f.write_str("op"),
        }
    }
}

/// A kind by the name that the workload format gives it.
fn kind<T: serde::de::DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::from(name)).ok()
}

impl Rule {
    /// The rule that a row of the table names.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once(':').unwrap_or((text, ""));
        let (first, second) = rest.split_once(':').unwrap_or((rest, ""));
        Some(match head {
            "ufunc" | "map" => Self::Map(Cost {
                operands: if second.is_empty() { elementwise::cost(first)?.operands } else { second.parse().ok()? },
                ..elementwise::cost(first)?
            }),
            "map_outputs" => Self::MapOutputs(elementwise::cost(first)?),
            "outer" => Self::Outer(elementwise::cost(first)?),
            "reduce" => Self::Reduce(elementwise::cost(first)?),
            "trace" => Self::Trace,
            "norm" => Self::Norm,
            "scan" => Self::Scan(fold::ScanAxis::parse(first)?),
            "rowwise" => Self::Rowwise(kind(first)?),
            "sort" => Self::Sort(kind(first)?, fold::Extent::parse(second)?),
            "product" => Self::Product(Product::parse(first)?),
            "gather" => Self::Gather,
            "mask" => Self::Mask,
            "where" => Self::Where,
            "masked_write" => Self::MaskedWrite,
            "scatter" => Self::Scatter,
            "scatter_count" => Self::ScatterCount,
            "scatter_add" => Self::ScatterAdd,
            "getitem" => Self::GetItem,
            "setitem" => Self::SetItem,
            "copy_into" => Self::CopyInto,
            "copy" => Self::Copy,
            "rearrange" => Self::Rearrange,
            "fill" => Self::Fill,
            "view_unless_copied" => Self::ViewUnlessCopied,
            "fft" => Self::Fft(kind(first)?, fft::Axes::parse(second)?),
            "factor" => Self::Factor(kind(first)?),
            "random" => Self::Random(kind(first)?),
            "window" => Self::Windowed(Windowed::parse(first)?),
            "sparse" => Self::SparseProduct,
            "tensor" => Self::Tensor(tensor::Form::parse(first, second)?),
            "frame" => Self::Frame(Verb::parse(first)?),
            "view" => Self::View,
            "host_read" => Self::HostRead,
            "transfer" => Self::Transfer(kind(first)?),
            "synchronise" => Self::Synchronise,
            "stream_wait" => Self::StreamWait,
            "graph_launch" => Self::GraphLaunch,
            "described" => Self::Described,
            "learn" => Self::Learn(Algorithm::parse(first)?, Phase::parse(second)?),
            "told" => Self::Told,
            "loops" => Self::Loops,
            "none" => Self::Nothing,
            "host" => Self::HostOnly,
            "composite" => Self::Composite,
            "opaque" => Self::Opaque,
            _ => return None,
        })
    }

    /// The rules of `ufunc.reduce` and its siblings, for the ufunc with this cost.
    pub(super) fn ufunc_methods(function: &str) -> impl Iterator<Item = (&'static str, Self)> {
        let cost = function.split(':').next().and_then(elementwise::cost).filter(|c| c.operands == 2);
        let methods = cost.map(|cost| {
            [
                ("reduce", Self::Reduce(cost)),
                ("accumulate", Self::Scan(fold::ScanAxis::First)),
                ("reduceat", Self::Reduce(cost)),
                ("outer", Self::Outer(cost)),
                ("at", Self::ScatterAdd),
            ]
        });
        methods.into_iter().flatten()
    }

    /// How many of the arrays listed as read really are, where that is known; any more are `out=`.
    pub(super) fn operands(&self) -> usize {
        match self {
            Self::Map(cost) => cost.operands as usize,
            Self::Outer(_) | Self::Product(Product::Matmul | Product::Dot | Product::Vdot | Product::Inner) => 2,
            Self::Fft(..) => 1,
            _ => usize::MAX,
        }
    }

    /// The op of a call that follows this rule.
    pub(super) fn op(self, call: &Call) -> Op {
        match self {
            Self::Map(cost) => elementwise::map(cost, call),
            Self::MapOutputs(cost) => elementwise::map_all_outputs(cost, call),
            Self::Outer(cost) => elementwise::outer(cost, call),
            Self::Reduce(cost) => fold::reduce(cost, call),
            Self::Trace => fold::trace(call),
            Self::Norm => fold::norm(call),
            Self::Scan(axis) => fold::scan(axis, call),
            Self::Rowwise(kind) => fold::rowwise(kind, call),
            Self::Sort(kind, extent) => fold::sort(kind, extent, call),
            Self::Product(form) => product::op(form, call),
            Self::Gather => index::gather(call),
            Self::Mask => index::mask(call),
            Self::Where => index::choose(call),
            Self::MaskedWrite => index::masked_write(call),
            Self::ScatterCount => Op::Scatter { n: call.first(), target: call.out(), accumulate: true },
            Self::Scatter => index::scatter(call, false),
            Self::ScatterAdd => index::scatter(call, true),
            Self::GetItem => index::get_item(call),
            Self::SetItem => index::set_item(call),
            Self::CopyInto => index::copy_into(call),
            Self::Copy => index::copy(call, call.strided()),
            Self::Rearrange => index::copy(call, true),
            Self::Fill => index::fill(call),
            Self::ViewUnlessCopied if call.keyword("copied") == Some("true") => index::copy(call, call.strided()),
            Self::Fft(kind, axes) => fft::op(kind, axes, call),
            Self::Factor(kind) => factor::op(kind, call),
            Self::Random(kind) => random::op(kind, call),
            Self::Windowed(form) => window::op(form, call),
            Self::SparseProduct => sparse::op(call),
            Self::Tensor(form) => tensor::op(form, call),
            Self::View | Self::ViewUnlessCopied | Self::GraphLaunch | Self::Nothing => Op::View,
            Self::HostRead => Op::HostRead { bytes: call.inputs.first().map_or(0, super::ArrayRef::bytes) },
            Self::Transfer(direction) => device::transfer(direction, call),
            Self::Synchronise => Op::Synchronise,
            Self::StreamWait => Op::StreamWait,
            Self::Described => device::described(call),
            Self::HostOnly => Op::HostOnly,
            Self::Composite | Self::Opaque | Self::Told | Self::Frame(_) | Self::Loops => Op::Opaque,
            Self::Learn(algorithm, phase) => learn::op(algorithm, phase, call).op,
        }
    }
}
