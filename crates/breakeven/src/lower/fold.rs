//! Folds, scans and orders along axes: what is folded to what.

use super::Call;
use super::call::product;
use super::elementwise::Cost;
use crate::workload::Op;
use crate::workload::op::{Pass, Rowwise, Sort};

/// Along which axis a scan runs unless told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanAxis {
    /// The flattened array (`cumsum`).
    Whole,
    /// The first axis (`ufunc.accumulate`).
    First,
    /// The last axis (`lfilter`).
    Last,
}

impl ScanAxis {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "whole" => Self::Whole,
            "first" => Self::First,
            "last" => Self::Last,
            _ => return None,
        })
    }
}

/// What is put in order unless an axis is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The flattened array (`unique`).
    Whole,
    /// Each row along the last axis (`sort`).
    Last,
    /// As many rows as the result has elements (`median`).
    PerResult,
    /// The first array is a sorted table, the second holds what is looked up (`searchsorted`).
    Lookup,
    /// The first array holds what is looked up, the second is the sorted table (`digitize`, `interp`).
    Values,
}

impl Extent {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "whole" => Self::Whole,
            "last" => Self::Last,
            "result" => Self::PerResult,
            "lookup" => Self::Lookup,
            "values" => Self::Values,
            _ => return None,
        })
    }
}

/// `(rows, width)` of the first array along the axes told; `None` when none was.
fn told(call: &Call) -> Option<(u64, u64)> {
    let shape = &call.inputs.first()?.shape;
    let axes = call.axes(shape.len())?;
    let along: Vec<u64> = axes.iter().map(|&a| shape[a]).collect();
    let width = product(&along);
    Some((rows(product(shape), width), width))
}

fn rows(n: u64, width: u64) -> u64 {
    n.checked_div(width).unwrap_or(0)
}

fn last_axis(call: &Call) -> (u64, u64) {
    let width = call.inputs.first().or(call.outputs.first()).map_or(1, super::ArrayRef::last);
    (rows(call.first(), width), width)
}

/// All elements of the first array folded into those of the result.
pub(super) fn reduce(cost: Cost, call: &Call) -> Op {
    Op::Reduce { n: call.first(), out: call.out(), flop_per_element: cost.flop }
}

/// The diagonal of the first two axes folded.
pub(super) fn trace(call: &Call) -> Op {
    let n = match call.inputs.first().map_or(&[][..], |a| &a.shape) {
        [m, n, rest @ ..] => (*m).min(*n).saturating_mul(product(rest)),
        shape => product(shape),
    };
    Op::Reduce { n, out: call.out(), flop_per_element: 1.0 }
}

/// Squares folded; a matrix by its singular values where `ord` says so.
pub(super) fn norm(call: &Call) -> Op {
    let matrix = call.inputs.first().is_some_and(|a| a.shape.len() == 2);
    if matrix && matches!(call.keyword("ord"), Some("2" | "-2" | "nuc" | "'nuc'")) {
        return super::factor::op(crate::workload::op::Factor::Svdvals, call);
    }
    Op::Reduce { n: call.first(), out: call.out(), flop_per_element: 2.0 }
}

/// A running fold of the largest array read: filters have their coefficients before it.
pub(super) fn scan(axis: ScanAxis, call: &Call) -> Op {
    let largest = call.inputs.iter().rev().max_by_key(|array| array.count());
    let call = &Call { inputs: largest.map_or(call.inputs, std::slice::from_ref), ..*call };
    let n = call.first();
    let (rows, width) = told(call).unwrap_or_else(|| match axis {
        // A result with as many axes as the array was not flattened: the axis is then most likely the last.
        ScanAxis::Whole if call.outputs.first().is_some_and(|o| o.shape.len() > 1) => last_axis(call),
        ScanAxis::Whole => (1, n),
        ScanAxis::First => {
            let width = call.inputs.first().and_then(|a| a.shape.first()).copied().unwrap_or(1);
            (rows(n, width), width)
        }
        ScanAxis::Last => last_axis(call),
    });
    Op::Scan { rows, width }
}

/// A soft-max or its kind, along the axis told or the last.
pub(super) fn rowwise(kind: Rowwise, call: &Call) -> Op {
    let (rows, width) = told(call).unwrap_or_else(|| last_axis(call));
    Op::Rowwise { kind, pass: Pass::Forward, rows, width }
}

/// An order. For a look-up, `rows` is the number of look-ups and `width` the length of the table.
pub(super) fn sort(kind: Sort, extent: Extent, call: &Call) -> Op {
    let n = call.first();
    let (rows, width) = match extent {
        Extent::Lookup => (if call.inputs.len() > 1 { call.input(1) } else { call.out() }, n),
        // `interp` of a scalar: only the table and its values are arrays, of one length.
        Extent::Values if call.scalar_result => (1, n),
        Extent::Values => (n, call.input(1)),
        extent => told(call).unwrap_or_else(|| match extent {
            Extent::Last if call.keyword("axis") != Some("None") => last_axis(call),
            Extent::PerResult if call.out() > 0 && n.is_multiple_of(call.out()) => (call.out(), n / call.out()),
            _ => (1, n),
        }),
    };
    Op::Sort { kind, rows, width }
}
