//! The answer as text and as Markdown.

use super::sections::{Section, sections, with_range};
use crate::answer::Answer;
use breakeven::report::hanging;

/// Lines are no narrower, and where nobody says no wider.
const WIDTH: usize = 120;

/// The first lines: what to do, at what cost, how sure.
fn head(a: &Answer) -> Vec<String> {
    let mut lines = vec![format!("{}.", a.summary.sentence)];
    if let (Some(cost), Some(basis)) = (a.summary.cost, a.summary.basis) {
        let basis = format!("{basis:?}").to_lowercase();
        lines.push(format!(
            "Over {} months {}, resale counted; times of runs: {basis}, prices as of {}.",
            a.months,
            with_range(cost, &a.currency),
            a.today
        ));
    }
    lines
}

/// For a terminal of `width` characters; `quiet` for the first lines alone.
pub fn text(a: &Answer, quiet: bool, width: Option<usize>) -> String {
    let width = width.unwrap_or(WIDTH);
    let mut out = String::new();
    for line in head(a) {
        hanging("", &line, width).iter().for_each(|line| out += &format!("{line}\n"));
    }
    if quiet {
        return out;
    }
    for section in sections(a) {
        out += &format!("\n{}\n", section.title);
        if !section.rows.is_empty() {
            out += &fitted(&section, width);
        }
        for line in &section.lines {
            hanging("  ", line, width).iter().for_each(|line| out += &format!("{line}\n"));
        }
    }
    out
}

/// The table without its least columns where the terminal is narrow; all of it is in Markdown and HTML.
fn fitted(section: &Section, width: usize) -> String {
    const LEAST: [&str; 6] = ["basis", "CO2e", "energy", "bound by", "over the", "to result"];
    section.table().without(&LEAST, width).text(|_, _, cell| cell)
}

/// For a page or a ticket.
pub fn markdown(a: &Answer, quiet: bool) -> String {
    let escape = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*");
    let mut lines = head(a).into_iter();
    let mut out = format!("**{}**\n", escape(&lines.next().unwrap_or_default()));
    lines.for_each(|line| out += &format!("\n{}\n", escape(&line)));
    if quiet {
        return out;
    }
    for section in sections(a) {
        out += &format!("\n### {}\n\n", section.title);
        if !section.rows.is_empty() {
            out += &section.table().map(escape).markdown();
            out += "\n";
        }
        section.lines.iter().for_each(|line| out += &format!("- {}\n", escape(line)));
    }
    out
}
