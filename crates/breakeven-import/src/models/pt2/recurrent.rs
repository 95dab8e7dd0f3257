//! Recurrent networks of several layers, which are one operator of PyTorch's: each layer and direction is a run of its own.

use breakeven::lower::ArrayRef;
use breakeven::workload::op::Cell;
use breakeven::workload::{Op, Part, Pass};

/// The op of `aten.lstm` and its kind; `None` for other operators. `weights` are those of all layers, each with biases or
/// without.
pub(super) fn of(name: &str, x: Option<&ArrayRef>, weights: &[ArrayRef], first_is_batch: bool) -> Option<Op> {
    let cell = match name {
        "aten.lstm" => Cell::Lstm,
        "aten.gru" => Cell::Gru,
        "aten.rnn_tanh" | "aten.rnn_relu" => Cell::Rnn,
        _ => return None,
    };
    let x = x?;
    let &[outer, inner, width] = x.shape.as_slice() else { return None };
    let steps = if first_is_batch { inner } else { outer };
    let rows = x.count().checked_div(width)?;
    let matrices: Vec<&[u64]> = weights.iter().map(|w| w.shape.as_slice()).filter(|shape| shape.len() == 2).collect();
    let part = |pair: &[&[u64]]| {
        let [[_, input], [_, hidden]] = pair else { return None };
        let op =
            Op::Recurrent { cell, pass: Pass::Forward, steps, rows, input: *input, hidden: *hidden, projection: 0 };
        Some(Part::new(op, x.dtype, 1))
    };
    let parts: Option<Vec<Part>> = matrices.chunks(2).map(part).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| Op::Routine { parts })
}
