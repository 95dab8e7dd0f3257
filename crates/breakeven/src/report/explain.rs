//! The calculator's formula with every input echoed.

use super::table::{Align, Table};
use super::words;
use crate::estimate::Formula;
use crate::interval::Basis;

/// The formula, as every face prints it.
pub const FORMULA: [&str; 5] = [
    "effective rate = peak × utilisation × (1 − python overhead) × workload factor × precision factor",
    "GPU time = max(FLOP ÷ effective rate, bytes ÷ (bandwidth × 0.85)) + data ÷ link + initialisation",
    "CPU time = FLOP ÷ CPU rate",
    "with a parallel fraction p < 1 the first term becomes (1 − p) × CPU time + p × that term",
    "cost = hours × price; energy = watts × time × GPUs",
];

/// Every input with its value, basis and typical range.
pub(super) fn inputs(formula: &Formula) -> Table {
    let mut table = Table::new(&[
        ("input", Align::Left),
        ("value", Align::Right),
        ("basis", Align::Left),
        ("typical", Align::Left),
    ]);
    for input in &formula.inputs {
        table.row(vec![
            words::printable(&input.name, 40),
            words::printable(&input.text, 60),
            basis(input.basis).to_owned(),
            input.typical.as_deref().map(|t| words::printable(t, 80)).unwrap_or_default(),
        ]);
    }
    table
}

/// The inputs by basis: `given`, `flops 10 TFLOP · …`.
pub(super) fn echo(formula: &Formula) -> Vec<(&'static str, String)> {
    let of = |b: Basis| {
        let inputs = formula.inputs.iter().filter(|i| i.basis == b);
        let texts: Vec<String> =
            inputs.map(|i| format!("{} {}", i.name.replace('_', " "), words::printable(&i.text, 60))).collect();
        (!texts.is_empty()).then(|| (basis(b), texts.join(" · ")))
    };
    [Basis::Measured, Basis::Given, Basis::Modelled, Basis::Assumed].into_iter().filter_map(of).collect()
}

/// The basis as printed.
pub(super) fn basis(b: Basis) -> &'static str {
    match b {
        Basis::Measured => "measured",
        Basis::Given => "given",
        Basis::Modelled => "modelled",
        Basis::Assumed => "assumed",
    }
}
