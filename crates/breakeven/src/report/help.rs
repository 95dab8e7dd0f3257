//! Advice as lines: for text, Markdown and the sentence that says what holds a program back.

use super::words;
use crate::estimate::{Advice, Estimate, Side};

/// `Fusing the 7 element-wise steps of heat.py:14 → 19× [14–24]`.
pub(super) fn line(advice: &Advice) -> String {
    let title = words::printable(advice.title.trim_end_matches('.'), 200);
    let side = if advice.side == Side::Cpu { " on the CPU" } else { "" };
    let gain = match (advice.saves_s, advice.saves_usd, advice.speedup_after) {
        (None, Some(usd), _) => format!(" → as fast, {} less a run", words::usd(usd)),
        (_, _, Some(s)) => format!(" → {}{side}", words::speedup(s)),
        _ => String::new(),
    };
    title + &gain
}

/// The edits of one side taken together: `fuse, float32 together → 24× [18–31]`.
pub(super) fn together(e: &Estimate) -> Vec<String> {
    let side = |s| if s == Side::Cpu { " on the CPU" } else { "" };
    let of = |t: &crate::estimate::Together| {
        format!(
            "{} together → {}{}",
            words::printable(&t.ids.join(", "), 200),
            words::speedup(t.speedup_after),
            side(t.side)
        )
    };
    e.advice_together.iter().map(of).collect()
}

/// The same for Markdown, with why, what to write and what may go wrong.
pub(super) fn list(e: &Estimate, escape: impl Fn(&str) -> String) -> String {
    if e.advice.is_empty() {
        return String::new();
    }
    let mut out = "\n### Would help\n\n".to_owned();
    for advice in &e.advice {
        out += &format!("- {}\n", escape(&line(advice)));
        let risk = advice.risk.as_ref().map(|risk| format!("Mind: {risk}"));
        for text in [Some(advice.why.clone()), risk].into_iter().flatten().filter(|text| !text.is_empty()) {
            out += &format!("  {}.\n", escape(&words::printable(text.trim_end_matches('.'), 400)));
        }
        for code in [&advice.patch, &advice.ready].into_iter().flatten() {
            out.push('\n');
            for line in code.lines().take(12) {
                // Four spaces inside a list item and four for code: nothing in it is markup.
                out += &format!("      {}\n", words::printable(line, 300));
            }
            out.push('\n');
        }
    }
    for line in together(e) {
        out += &format!("- {}\n", escape(&line));
    }
    out
}
