//! A summary for people and programs: text, Markdown, JSON.

pub mod carried;
mod json;
mod sentence;
mod tables;

pub use json::json;
pub use sentence::sentence;

use crate::summary::Summary;
use breakeven::report::words::printable;
pub(crate) use sentence::wrapped;

use sentence::more;
use tables::{copies, gpus, host, kernels, modules, source_lines, streams};

/// Lines of the report as text.
const LINES: usize = 24;
/// Characters of a line.
const WIDTH: usize = 80;
/// What the report does not do, said in each.
const RECORDED: &str = "this is what was recorded; --gpu NAME carries it to another GPU";

/// The answer first, then tables: at most 24 lines of 80 characters, the whole of it where `verbose`.
pub fn text(summary: &Summary, verbose: bool) -> String {
    let mut lines = wrapped("", &sentence(summary));
    lines.extend(more(summary).iter().flat_map(|line| wrapped("", line)));
    let mut below: Vec<String> = Vec::new();
    let notes = summary.not_read.len();
    let shown = if verbose { notes } else { notes.min(2) };
    for note in summary.not_read.iter().take(shown) {
        let said = wrapped("note: ", &format!("{} ({})", printable(&note.text, 300), note.code));
        below.extend(said.into_iter().take(if verbose { usize::MAX } else { 2 }));
    }
    if shown < notes {
        below.push(format!("note: … {} more: --verbose", notes - shown));
    }
    below.push(RECORDED.to_owned());
    let tables = [
        (gpus(summary), 4),
        (kernels(summary), 6),
        (copies(summary), 4),
        (source_lines(summary), 3),
        (modules(summary), 3),
        (host(summary), 3),
        (streams(summary), 3),
    ];
    let (tables, least): (Vec<Vec<String>>, Vec<usize>) =
        tables.into_iter().filter(|(table, _)| !table.is_empty()).unzip();
    let room = if verbose { usize::MAX } else { LINES.saturating_sub(lines.len() + below.len() + 1) };
    for (table, height) in tables.iter().zip(heights(&tables, least, room)) {
        lines.push(String::new());
        if table.len() <= height {
            lines.extend(table.iter().cloned());
        } else {
            let kept = height - 1;
            lines.extend(table.iter().take(kept).cloned());
            lines.push(format!("  … {} more: --verbose", table.len() - kept));
        }
    }
    lines.push(String::new());
    lines.extend(below);
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// How many lines each table gets of `room`, with a line before each: first its `least`, then one more in turn. Where
/// even that is too much, the last tables get none.
fn heights(tables: &[Vec<String>], least: Vec<usize>, room: usize) -> Vec<usize> {
    let mut heights: Vec<usize> = tables.iter().zip(least).map(|(table, least)| table.len().min(least)).collect();
    let used = |heights: &[usize]| heights.iter().map(|height| height + 1).sum::<usize>();
    while used(&heights) > room && heights.pop().is_some() {}
    while let Some(turn) = (0..heights.len()).filter(|&at| heights[at] < tables[at].len()).min_by_key(|&at| heights[at])
        && used(&heights) < room
    {
        heights[turn] += 1;
    }
    heights
}

/// The same for a page or a ticket, whole.
pub fn markdown(summary: &Summary) -> String {
    let mut out = format!("**{}**\n", escaped(&sentence(summary)));
    for line in more(summary) {
        out += &format!("\n{}\n", escaped(&line));
    }
    for table in tables::all(summary) {
        out += &format!("\n{}", table.map(escaped).markdown());
    }
    out.push('\n');
    for note in &summary.not_read {
        out += &format!("- {} (`{}`)\n", escaped(&printable(&note.text, 300)), note.code);
    }
    out + &format!("- {RECORDED}\n")
}

/// Names of other people's making, without what Markdown or HTML would take for its own.
pub(crate) fn escaped(text: &str) -> String {
    let special = |c: char| matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '#');
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
