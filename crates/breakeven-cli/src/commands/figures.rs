//! A device of the catalogue as tables show it: every figure with its source.

use crate::output;
use breakeven::hardware::figure::{Figure, Value};
use breakeven::report::{Align, Table, hanging, words};

/// The name of one device above its figures.
pub(super) fn heading(name: &str, id: &str) -> String {
    format!("{} ({id})\n\n", words::printable(name, 60))
}

/// Every figure of one device with its source.
pub(super) fn figures(figures: &[Figure]) -> Table {
    use Align::{Left, Right};
    let columns = [
        ("figure", Left),
        ("value", Right),
        ("known from", Left),
        ("confidence", Left),
        ("read", Left),
        ("note", Left),
    ];
    let mut table = Table::new(&columns);
    for figure in figures {
        let cells = [value(figure), figure.source.to_string(), figure.confidence.name().replace('_', " ")];
        let [value, source, confidence] = cells.map(|cell| words::printable(&cell, 120));
        let read = figure.read.to_string();
        let name = figure.kind.name.replace('_', " ");
        table.row(vec![name, value, source, confidence, read, words::printable(&figure.note, 200)]);
    }
    table
}

/// A figure with its unit; words as they are.
pub(super) fn value(figure: &Figure) -> String {
    match (&figure.value, figure.kind.unit) {
        (Value::Number(n), "count" | "year") => n.to_string(),
        (Value::Number(n), unit) => format!("{n} {unit}"),
        (Value::Text(text), _) => text.clone(),
    }
}

/// Notes below a table, if there are any.
pub(super) fn notes_below(notes: &[String]) -> String {
    let lines: String = notes.iter().map(|n| noted(n)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A note of a list, within the terminal.
pub(super) fn noted(note: &str) -> String {
    let note = words::printable(note, 400);
    let lines =
        output::columns().map_or_else(|| vec![format!("note: {note}")], |width| hanging("note: ", &note, width));
    lines.join("\n") + "\n"
}

/// A list without its `spare` columns and with the one called `cut` shortened, as far as a terminal needs it.
pub(super) fn narrow(table: Table, spare: &[&str], cut: &str) -> Table {
    const LEAST: usize = 8;
    match output::columns() {
        Some(width) => table.without(spare, width).cut(cut, LEAST, width),
        None => table,
    }
}
