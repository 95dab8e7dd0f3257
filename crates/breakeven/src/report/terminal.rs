//! A terminal: how wide its lines are, and whether they have colours.

use super::table::Table;
use super::words;
use super::wrap::hanging;

/// Colours as ANSI sequences, or none.
pub(super) struct Terminal {
    pub(super) width: usize,
    pub(super) color: bool,
}

impl Terminal {
    fn with(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(&self, text: &str) -> String {
        self.with("2", text)
    }

    /// `text` behind a dim mark.
    pub(super) fn marked(&self, mark: &str, text: &str) -> Vec<String> {
        self.dim_mark(mark, hanging(mark, text, self.width))
    }

    /// Lines that begin with a mark, which becomes dim.
    pub(super) fn dim_mark(&self, mark: &str, mut lines: Vec<String>) -> Vec<String> {
        if let Some(first) = lines.first_mut().filter(|_| !mark.trim().is_empty()) {
            *first = first.replacen(mark, &self.dim(mark), 1);
        }
        lines
    }

    /// A blank line and the table.
    pub(super) fn table(&self, table: &Table) -> Vec<String> {
        let text = table.text(|row, cell, padded| self.cell(row, cell, padded));
        [""].into_iter().chain(text.lines()).map(str::to_owned).collect()
    }

    /// Headers are dim; verdicts and unknowns have their colour.
    fn cell(&self, row: Option<usize>, cell: &str, padded: String) -> String {
        match (row, cell) {
            (None, _) | (_, words::UNKNOWN | "assumed") => self.dim(&padded),
            (_, "gpu" | "fits") => self.with("32", &padded),
            (_, "cpu" | "does not fit") => self.with("31", &padded),
            (_, "either" | "unknown") => self.with("33", &padded),
            _ => padded,
        }
    }
}
