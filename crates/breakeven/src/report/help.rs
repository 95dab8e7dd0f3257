//! Advice as lines: for text, Markdown and the sentence that says what holds a program back.

use super::words;
use crate::estimate::{Advice, Estimate, Side};

/// `Fusing the 7 element-wise steps of heat.py:14 → 19× [14–24]`.
pub(super) fn line(advice: &Advice) -> String {
    let title = words::printable(advice.title.trim_end_matches('.'), 200);
    let side = if advice.side == Side::Cpu { " on the CPU" } else { "" };
    let gain = match (advice.saves_s, advice.saves_usd, advice.speedup_after) {
        (None, Some(usd), _) => {
            let (runs, per) = words::runs_of(usd);
            format!(" → as fast, {} less per {per}", words::usd(usd * runs))
        }
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

#[cfg(test)]
mod tests {
    use super::super::{TextOptions, examples};
    use super::*;
    use crate::estimate::Together;
    use crate::interval::Interval;

    fn advised() -> Estimate {
        let mut e = examples::program();
        let twice = Interval { p10: 1.6, p50: 2.0, p90: 2.5 };
        let solve = Advice {
            id: "solve".to_owned(),
            side: Side::Cpu,
            title: "Solving instead of inverting at a|b.py:3".to_owned(),
            why: "the inverse is only multiplied with".to_owned(),
            saves_s: Some(twice),
            speedup_after: Some(twice),
            patch: Some("-x = inv(a) @ b\n+x = solve(a, b)\n".to_owned()),
            risk: Some("nothing".to_owned()),
            ..Advice::default()
        };
        let cheaper = Advice {
            title: "L4 instead of H100 SXM".to_owned(),
            saves_usd: Some(0.02),
            speedup_after: Some(twice),
            ..Advice::default()
        };
        e.advice.extend([solve, cheaper]);
        let ids = vec!["solve".to_owned(), "float32".to_owned()];
        e.advice_together =
            vec![Together { side: Side::Cpu, ids, saves_s: twice, speedup_after: twice, time_s_after: twice }];
        e
    }

    #[test]
    fn lines_say_which_side_and_what_is_gained() {
        let e = advised();
        let lines: Vec<String> = e.advice.iter().map(line).chain(together(&e)).collect();
        assert_eq!(lines[1], "Solving instead of inverting at a|b.py:3 → 2.0× [1.6–2.5] on the CPU");
        assert_eq!(lines[2], "L4 instead of H100 SXM → as fast, $0.02 less per run");
        assert_eq!(lines[3], "solve, float32 together → 2.0× [1.6–2.5] on the CPU");
        let text = crate::report::text(&e, &TextOptions { verbose: true, ..TextOptions::default() });
        assert!(text.contains("\nwould help\n  Fusing the 7"), "{text}");
        assert!(text.contains(&lines[3]));
    }

    #[test]
    fn markdown_has_all_of_it() {
        let out = list(&advised(), str::to_owned);
        assert!(out.contains("  the inverse is only multiplied with.\n  Mind: nothing.\n"), "{out}");
        assert!(out.contains("\n      -x = inv(a) @ b\n      +x = solve(a, b)\n"), "{out}");
    }
}
