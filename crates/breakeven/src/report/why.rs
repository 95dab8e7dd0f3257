//! Why, what the script's own clocks would show, and what would turn the answer: for text and Markdown.

use super::sentence::chosen;
use super::words;
use crate::estimate::{Estimate, Reason};

/// Reasons and lines of each kind in text; Markdown and JSON have all.
const REASONS: usize = 4;
const TIMERS: usize = 3;
const FLIPS: usize = 3;

/// Lines for a terminal, each with what stands before it, below their heading; the whole program's reasons only, as the
/// lines have a table.
pub(super) fn blocks(e: &Estimate) -> Vec<(String, Vec<(String, String)>)> {
    let on = chosen(e).map_or_else(String::new, |g| format!(", on {}", words::printable(&g.name, 40)));
    let mut reasons = Vec::new();
    for (i, reason) in told(e).into_iter().enumerate() {
        let share = reason.share.map_or_else(String::new, words::share);
        let cause = words::printable(&reason.cause, 300);
        reasons.push((format!("{share:>6}  "), format!("{}: {cause}", reason.code)));
        if i == 0 {
            reasons.push((format!("{:>6}  → ", ""), words::printable(&reason.remedy, 300)));
        }
    }
    let line = |text: &str| ("  ".to_owned(), words::printable(text, 300));
    let timers = e.timers.iter().take(TIMERS).map(|timer| line(&timer.text)).collect();
    // That too little is understood is said by the verdict, the reasons and the notes.
    let turns = e.robustness.iter().filter(|flip| flip.what != "coverage");
    let turns = turns.filter(|flip| flip.to.is_some() || flip.what == "none").take(FLIPS);
    let turns = turns.map(|flip| line(&flip.text)).collect();
    [
        (format!("why{on}"), reasons),
        ("the script's own clocks".to_owned(), timers),
        ("what would turn it".to_owned(), turns),
    ]
    .into_iter()
    .filter(|(_, lines)| !lines.is_empty())
    .collect()
}

/// The main reason of the whole program in a sentence: `launch-bound (58 %): 40 000 launches of …`.
pub(super) fn main(e: &Estimate) -> Option<String> {
    let reason = e.reasons.iter().find(|reason| reason.site.is_none())?;
    let share = reason.share.map_or_else(String::new, |share| format!(" ({})", words::share(share)));
    Some(format!("{}{share}: {}", reason.code, words::printable(&reason.cause, 300)))
}

/// The first reasons of the whole program; of start-up, which comes after what decides more, too where it is larger.
fn told(e: &Estimate) -> Vec<&Reason> {
    let mut whole: Vec<&Reason> = e.reasons.iter().filter(|reason| reason.site.is_none()).collect();
    let later = whole.split_off(REASONS.min(whole.len()));
    let share = |reason: &&Reason| reason.share.unwrap_or(0.0);
    let largest = later.into_iter().reduce(|a, b| if share(&b) > share(&a) { b } else { a });
    if let (Some(largest), Some(last)) = (largest, whole.last_mut())
        && share(&largest) > share(last)
    {
        *last = largest;
    }
    whole
}

/// The same for Markdown, all of it, as headings with lists.
pub(super) fn lists(e: &Estimate, escape: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    if !e.reasons.is_empty() {
        out += "\n### Why\n\n";
    }
    for reason in &e.reasons {
        let place = reason.site.iter().chain(&reason.also).map(|line| words::printable(line, 120));
        let place: Vec<String> = reason.share.map(words::share).into_iter().chain(place).collect();
        let place = if place.is_empty() { String::new() } else { format!(" ({})", escape(&place.join(", "))) };
        let (cause, remedy) = (words::printable(&reason.cause, 600), words::printable(&reason.remedy, 600));
        out += &format!("- **{}**{place}: {} {}\n", reason.code, escape(&cause), escape(&remedy));
        let figures = reason.evidence.iter().map(|figure| format!("{} {}", figure.name.replace('_', " "), figure.text));
        let figures: Vec<String> = figures.collect();
        if !figures.is_empty() {
            out += &format!("  {}\n", escape(&words::printable(&figures.join(" · "), 600)));
        }
    }
    let list = |heading: &str, lines: Vec<&String>| {
        if lines.is_empty() {
            return String::new();
        }
        let items: String =
            lines.into_iter().map(|line| format!("- {}\n", escape(&words::printable(line, 600)))).collect();
        format!("\n### {heading}\n\n{items}")
    };
    out += &list("The script's own clocks", e.timers.iter().map(|timer| &timer.text).collect());
    out += &list("What would turn it", e.robustness.iter().map(|flip| &flip.text).collect());
    out
}
