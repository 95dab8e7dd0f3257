//! A session for people and programs: the sentence first, then tables, JSON, a page; samples line by line; a display.

mod csv;
mod display;
mod html;
mod json;
mod lines;
mod plots;
mod sentence;
mod tables;
mod words;

pub use csv::Csv;
pub use display::Display;
pub use html::html;
pub use json::json;
pub use lines::{jsonl, plain};
pub use sentence::sentences;

use crate::totals::Totals;
use breakeven::report::hanging;
use breakeven::report::words::printable;

/// Characters of a line where the terminal does not say.
const WIDTH: usize = 80;

/// The answer in a sentence for each GPU, tables, notes.
pub fn text(totals: &Totals, width: Option<usize>) -> String {
    let width = width.unwrap_or(WIDTH);
    let wrapped = |mark: &str, line: &str| hanging(mark, line, width);
    let mut lines: Vec<String> = sentences(totals).iter().flat_map(|line| wrapped("", line)).collect();
    for table in tables::all(totals) {
        lines.push(String::new());
        lines.extend(table.table().text(|_, _, cell| cell).lines().map(str::to_owned));
    }
    lines.push(String::new());
    lines.push(words::watched(totals));
    lines.extend(words::host(totals).map(|line| wrapped("", &line)).unwrap_or_default());
    for note in &totals.notes {
        lines.extend(wrapped("note: ", &format!("{} ({})", printable(&note.text, 300), printable(&note.code, 40))));
        let hint = note.hint.as_ref().map(|hint| wrapped(" hint: ", &printable(hint, 300)));
        lines.extend(hint.unwrap_or_default());
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}
