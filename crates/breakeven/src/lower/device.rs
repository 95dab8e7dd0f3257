//! What a program that uses a GPU library says of the device: copies, and kernels whose work it describes.

use super::{Call, callable, elementwise, rule::Rule};
use crate::workload::Op;
use crate::workload::op::Direction;

/// A copy of the first array between host and device; `pinned` and `asynchronous` are keywords.
pub(super) fn transfer(direction: Direction, call: &Call) -> Op {
    let arrays = match direction {
        Direction::D2h | Direction::D2d | Direction::H2h => [call.inputs, call.outputs],
        Direction::H2d => [call.outputs, call.inputs],
    };
    let is = |keyword| matches!(call.keyword(keyword), Some("true" | "True"));
    Op::Transfer {
        direction,
        bytes: arrays.iter().find_map(|side| side.first()).map_or(0, super::ArrayRef::bytes),
        pinned: is("pinned"),
        asynchronous: is("asynchronous"),
    }
}

/// A kernel of the program's own: `flops` in all over `n` threads, or `functions` of each element of its arrays (names
/// of `callables/flops.csv` or of element-wise callables, each with `*` and how often, commas between).
pub(super) fn described(call: &Call) -> Op {
    let n = call.number("n").map_or_else(|| elementwise::broadcast_count(call), |n| n.max(0.0) as u64);
    let mut flop = 0.0;
    let mut transcendental = false;
    for function in call.keyword("functions").into_iter().flat_map(|list| list.split(',')) {
        let (name, times) = function.trim().split_once('*').unwrap_or((function.trim(), "1"));
        if let Some(cost) = elementwise::cost(name).or_else(|| map_cost(name)) {
            flop += cost.flop * f64::from(times.parse::<u32>().unwrap_or(1));
            transcendental |= cost.transcendental;
        }
    }
    if let Some(flops) = call.number("flops").filter(|flops| *flops >= 0.0) {
        flop = flops / n.max(1) as f64;
    }
    Op::Elementwise { n: n.max(1), inputs: call.inputs.len() as u32, flop_per_element: flop.min(1e12), transcendental }
}

/// Bytes read, where the program says how many its kernel moves in all.
pub(super) fn described_bytes(call: &Call) -> Option<u64> {
    call.number("bytes").filter(|bytes| *bytes >= 0.0).map(|bytes| bytes as u64)
}

fn map_cost(name: &str) -> Option<elementwise::Cost> {
    match callable(name)?.rule {
        Rule::Map(cost) | Rule::MapOutputs(cost) => Some(cost),
        Rule::Where => elementwise::cost("select"),
        _ => None,
    }
}
