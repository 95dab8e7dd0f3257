//! A fleet for people and programs: the sentence to act on first, then tables, JSON, Markdown, a page.

mod html;
mod json;
mod plots;
mod sentence;
mod tables;
pub mod words;

pub use html::html;
pub use json::json;
pub use sentence::sentence;

use crate::fleet::Fleet;
use breakeven::report::hanging;

/// Characters of a line where the terminal does not say.
const WIDTH: usize = 80;
/// Rows of a table in text and Markdown.
const SHOWN: usize = 10;

/// The report for a terminal.
pub fn text(fleet: &Fleet<'_>, width: Option<usize>) -> String {
    let width = width.unwrap_or(WIDTH);
    let mut lines = hanging("", &sentence(fleet), width);
    for table in tables::all(fleet, SHOWN) {
        lines.push(String::new());
        lines.extend(hanging("", &table.caption, width));
        let columns = table.table().cut("evidence", 30, width).cut("what to do", 16, width);
        let columns = columns.cut(table.columns[0].0, 12, width);
        lines.extend(columns.text(|_, _, cell| cell).lines().map(str::to_owned));
    }
    lines.push(String::new());
    for (code, note) in tables::notes(fleet) {
        lines.extend(hanging("note: ", &format!("{note} ({code})"), width));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The report for a page or a ticket.
pub fn markdown(fleet: &Fleet<'_>) -> String {
    let mut out = format!("**{}**\n", tables::escaped(&sentence(fleet)));
    for table in tables::all(fleet, SHOWN) {
        out += &format!("\n{}\n\n", tables::escaped(&table.caption));
        out += &table.table().map(tables::escaped).markdown();
    }
    let notes = tables::notes(fleet);
    if !notes.is_empty() {
        out += "\n";
    }
    for (code, note) in notes {
        out += &format!("- {} ({code})\n", tables::escaped(&note));
    }
    out
}
