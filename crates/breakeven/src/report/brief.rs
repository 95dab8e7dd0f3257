//! The report in 24 lines: what matters most comes first, and what has no room is left to `--verbose`.

use super::terminal::Terminal;
use super::wrap::{cut, hanging_at_most};
use super::{first_fix, help, notes, remarks, rows, text, why, words};
use crate::estimate::Estimate;

/// Lines of the report, but for what the user asked for by `--top`, `--timeline` or `--explain`.
const LINES: usize = 24;
/// Blank line, coverage, and the way to the rest.
const LAST: usize = 3;
/// Rows of a table, and of one below many first lines.
const ROWS: usize = 3;
const FEW_ROWS: usize = 2;
/// Characters of a source line before other columns go.
const CODE: usize = 16;
/// More first lines are many.
const MANY: usize = 5;

/// What follows the `first` lines.
pub(super) fn lines(e: &Estimate, terminal: &Terminal, explain: bool, first: usize) -> Vec<String> {
    let rows = if first > MANY { FEW_ROWS } else { ROWS };
    let mut page = Page { lines: Vec::new(), room: LINES.saturating_sub(first + LAST) };
    let gpus = text::gpus(e, terminal, rows, false);
    if rows::top(e).is_some() {
        page.lines.extend(gpus);
    } else {
        page.add(gpus);
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        page.add(terminal.table(&footprint.cut("for", rows::LEAST, terminal.width)));
    }
    if !e.sites.is_empty() {
        let lines = rows::sites(e, rows).cut("code", CODE, terminal.width);
        let lines = lines.without(&rows::SPARE_OF_LINES, terminal.width).cut("code", rows::LEAST, terminal.width);
        page.add(terminal.table(&lines));
    }
    page.lines.extend(text::timeline(e));
    let formula = text::formula(e, terminal, explain);
    if explain {
        page.lines.extend(formula);
    } else {
        page.add(formula);
    }
    page.lines.push(String::new());
    let two = |mark: &str, line: &str| terminal.dim_mark(mark, hanging_at_most(2, mark, line, terminal.width));
    if let Some(reason) = why::main(e) {
        page.add(two("why: ", &reason));
    }
    for advice in e.advice.iter().skip(usize::from(first_fix(e).is_some())).take(2) {
        page.add(two("would help: ", &help::line(advice)));
    }
    for note in notes::first(e).into_iter().take(3) {
        page.add(two("note: ", &words::printable(&note.text, 600)));
    }
    page.lines.push(terminal.dim(&coverage(e, terminal.width)));
    page.lines.push(terminal.dim("more: --verbose"));
    page.lines
}

/// As much of the coverage line as one line holds.
fn coverage(e: &Estimate, width: usize) -> String {
    let mut parts = remarks::coverage(e).into_iter();
    let mut line = format!("coverage: {}", parts.next().unwrap_or_default());
    for part in parts {
        let longer = format!("{line} · {part}");
        if longer.chars().count() > width {
            break;
        }
        line = longer;
    }
    cut(&line, width)
}

/// Lines as long as there is room.
struct Page {
    lines: Vec<String>,
    room: usize,
}

impl Page {
    /// All of these lines, or none.
    fn add(&mut self, lines: Vec<String>) {
        if lines.len() <= self.room {
            self.room -= lines.len();
            self.lines.extend(lines);
        }
    }
}
