//! Element-wise functions: how much each element costs, and how many elements there are.

use super::call::{Call, broadcast, product};
use crate::workload::Op;
use std::sync::OnceLock;

/// What one element of an element-wise function costs (`callables/flops.csv` says where each figure comes from).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Arrays read, when none of the operands is a scalar.
    pub operands: u32,
    /// FLOP per element: an add, a multiply or a compare is 1.
    pub flop: f64,
    /// Whether it is computed by a polynomial (`exp`, `sin`) rather than an instruction.
    pub transcendental: bool,
}

/// One element of a function named in `callables/flops.csv`.
pub(super) fn cost(function: &str) -> Option<Cost> {
    static COSTS: OnceLock<Vec<(String, Cost)>> = OnceLock::new();
    let costs = COSTS.get_or_init(|| {
        super::callable::rows(include_str!("../../callables/flops.csv"))
            .filter_map(|r| {
                let cost = Cost {
                    operands: r.get(1)?.parse().ok()?,
                    flop: r.get(2)?.parse().ok()?,
                    transcendental: r.get(3)? == "yes",
                };
                Some((r.get(0)?.to_owned(), cost))
            })
            .collect()
    });
    costs.iter().find(|(name, _)| name == function).map(|&(_, cost)| cost)
}

/// [`cost`] of a function that has a row; nothing known costs nothing.
pub(crate) fn function_cost(function: &str) -> Cost {
    cost(function).unwrap_or(Cost { operands: 1, flop: 0.0, transcendental: false })
}

/// Whether a function has a row.
#[cfg(test)]
pub(crate) fn has_cost(function: &str) -> bool {
    cost(function).is_some()
}

/// Elements of the broadcast of everything read and written.
pub(super) fn broadcast_count(call: &Call) -> u64 {
    product(&broadcast(call.inputs.iter().chain(call.outputs).map(|a| a.shape.as_slice())))
}

/// A power whose exponent is known beforehand, where it is products and roots (`pow_tensor_scalar_kernel_impl` of ATen's
/// PowKernel.cu and of its PowKernel.cpp); `None` for one that is not.
fn powered(exponent: &str) -> Option<Cost> {
    const FUNCTIONS: [(f64, &[&str]); 8] = [
        (0.0, &[]),
        (1.0, &[]),
        (2.0, &["one"]),
        (3.0, &["one", "one"]),
        (0.5, &["sqrt"]),
        (-0.5, &["sqrt"]),
        (-1.0, &["reciprocal"]),
        (-2.0, &["one", "reciprocal"]),
    ];
    let exponent: f64 = exponent.parse().ok()?;
    let (_, functions) = FUNCTIONS.iter().find(|(known, _)| *known == exponent)?;
    let flop = functions.iter().map(|function| function_cost(function).flop).sum();
    Some(Cost { operands: 1, flop, transcendental: false })
}

/// The function applied to the broadcast of its operands.
pub(super) fn map(cost: Cost, call: &Call) -> Op {
    let cost = call.keyword("exponent").and_then(powered).unwrap_or(cost);
    Op::Elementwise {
        n: broadcast_count(call),
        inputs: call.inputs.len() as u32,
        flop_per_element: cost.flop,
        transcendental: cost.transcendental,
    }
}

/// The function applied to every pair of elements of two arrays: `ufunc.outer`, `kron`.
pub(super) fn outer(cost: Cost, call: &Call) -> Op {
    Op::Elementwise {
        n: call.input(0).saturating_mul(call.input(1)),
        inputs: call.inputs.len() as u32,
        flop_per_element: cost.flop,
        transcendental: cost.transcendental,
    }
}

/// As many elements as all results have together: `meshgrid`, `gradient`, `modf`.
pub(super) fn map_all_outputs(cost: Cost, call: &Call) -> Op {
    let n = call.outputs.iter().fold(0, |n: u64, a| n.saturating_add(a.count()));
    Op::Elementwise {
        n,
        inputs: call.inputs.len() as u32,
        flop_per_element: cost.flop,
        transcendental: cost.transcendental,
    }
}
