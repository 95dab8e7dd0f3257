//! The whole report for a terminal (`--verbose`).

use super::terminal::Terminal;
use super::wrap::hanging;
use super::{first_fix, help, remarks, rows, several, text, why, words};
use crate::estimate::Estimate;

/// Pieces of advice shown.
const ADVICE: usize = 3;
/// Rows of a table unless the user says otherwise.
const TOP: usize = 10;

/// What follows the first lines.
pub(super) fn lines(e: &Estimate, terminal: &Terminal, explain: bool) -> Vec<String> {
    let mut lines = text::gpus(e, terminal, TOP, true);
    if e.several.is_some() {
        lines.extend(terminal.table(&several::table(e).without(&several::SPARE, terminal.width)));
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        lines.extend(terminal.table(&footprint.cut("for", rows::LEAST, terminal.width)));
    }
    if !e.sites.is_empty() {
        lines.extend(terminal.table(&rows::sites(e, TOP).cut("code", rows::LEAST, terminal.width)));
        let hidden = rows::lines(e).len().saturating_sub(TOP);
        if hidden > 0 {
            lines.push(terminal.dim(&format!("  … {hidden} more lines: --format json lists all")));
        }
    }
    for (heading, marked) in why::blocks(e) {
        lines.extend([String::new(), terminal.dim(&heading)]);
        lines.extend(marked.iter().flat_map(|(mark, line)| hanging(mark, line, terminal.width)));
    }
    lines.extend(advice(e, terminal));
    lines.extend(text::timeline(e));
    lines.extend(text::formula(e, terminal, explain));
    lines.push(String::new());
    // The clocks have a block of their own.
    let told = |code: &str| !e.timers.is_empty() && matches!(code, "timer-without-wait" | "own-clocks");
    let notes = e.notes.iter().filter(|note| !told(&note.code));
    lines.extend(notes.flat_map(|note| terminal.marked("note: ", &words::printable(&note.text, 600))));
    let coverage = hanging("coverage: ", &remarks::coverage(e).join(" · "), terminal.width);
    lines.extend(coverage.iter().map(|line| terminal.dim(line)));
    lines
}

/// All of it, but for a single piece that stands in the first lines already.
fn advice(e: &Estimate, terminal: &Terminal) -> Vec<String> {
    if e.advice.is_empty() || (e.advice.len() == 1 && first_fix(e).is_some()) {
        return Vec::new();
    }
    let told = e.advice.iter().take(ADVICE).map(help::line).chain(help::together(e));
    let told = told.flat_map(|line| hanging("  ", &line, terminal.width));
    let mut lines: Vec<String> = [String::new(), terminal.dim("would help")].into_iter().chain(told).collect();
    if e.advice.len() > ADVICE {
        let more = format!("  … {} more: --format markdown or json lists all", e.advice.len() - ADVICE);
        lines.push(terminal.dim(&more));
    }
    lines
}
