//! The lines between verdict and tables (break-even, start-up), and the last one: what the answer rests on.

use super::rows::is_only_memory;
use super::sentence::{chosen, is_enough, nothing_to_run, understood};
use super::{several, words};
use crate::estimate::{BreakEven, Estimate, GpuEstimate, Verdict};
use crate::growth::{RoundsCrossing, RunPoint, RunsCrossing};

/// The size at which the GPU that the answer speaks of starts to win, and what it takes when warm.
pub(super) fn remarks(e: &Estimate) -> Vec<String> {
    let Some(g) = chosen(e).filter(|_| !is_only_memory(e) && !nothing_to_run(e)) else { return Vec::new() };
    let mut lines: Vec<String> = e.several.iter().filter_map(several::bends).collect();
    lines.extend(break_even(g));
    let told = |code| e.notes.iter().any(|note| note.code == code);
    if let (Some(parts), Some(time)) = (g.breakdown_s, g.time_s)
        && parts.startup >= 0.1 * time.p50
        && is_enough(e)
        && !told("start-up")
    {
        let warm = words::seconds((time.p50 - parts.startup).max(0.0));
        lines
            .push(format!("Start-up is {} of the GPU time; once warm it takes {warm}.", words::seconds(parts.startup)));
    }
    if let (Some(naive), Some(time)) = (g.naive_time_s, g.time_s)
        && naive > 1.5 * time.p50
        && is_enough(e)
        && !told("naive-port")
    {
        lines.push(format!("Copying in and out at each call would take {} instead.", words::seconds(naive)));
    }
    if let Some(why) = e.formula.as_ref().and_then(|f| f.differs_because.as_ref()) {
        lines.push(words::as_sentence(&words::printable(why, 400)));
    }
    lines
}

/// Break-even in the size of the problem, in rounds of the main loop, in calls that use a copied array, between runs; the
/// first line says what stays as it is.
fn break_even(g: &GpuEstimate) -> Vec<String> {
    let Some(even) = g.break_even.as_ref().filter(|_| g.verdict != Verdict::Unknown) else { return Vec::new() };
    // Where it is too close to call, the middle of the estimate crosses there, and the truth perhaps elsewhere.
    let likely = |line: String| match g.verdict {
        Verdict::Either => format!("Likely {}{}", line[..1].to_lowercase(), &line[1..]),
        _ => line,
    };
    let describes = words::printable(even.describes.trim_end_matches('.'), 200);
    let rounds = in_rounds(even);
    let rest = "all else the same";
    let mut lines = Vec::new();
    match (describes.strip_prefix("never"), describes.strip_prefix("always")) {
        // With more rounds it does.
        (Some(_), _) if rounds.is_some() => {}
        (Some(why), _) => lines.push(format!("Never breaks even{why}.")),
        (_, Some(why)) => lines.push(likely(match why.strip_prefix(": from ") {
            Some(least) => format!("Wins at each size tried, from {least}, {rest}."),
            None => format!("Wins at any size{why}."),
        })),
        _ => lines.push(likely(format!("Breaks even at {describes}, {rest}."))),
    }
    lines.extend(rounds.map(likely));
    if let Some(calls) = &even.calls {
        lines.push(likely(format!(
            "Wins if arrays stay on the GPU for {} calls or more; copied at each call it loses.",
            words::count(calls.at_least)
        )));
    }
    lines.extend(even.runs.as_ref().map(between_runs));
    lines
}

/// Break-even in rounds of the main loop.
fn in_rounds(even: &BreakEven) -> Option<String> {
    let RoundsCrossing { site, now, at } = even.rounds.as_ref()?;
    let from = match (*at)? {
        0 | 1 => "the first round".to_owned(),
        at => format!("{} rounds", words::count(at)),
    };
    let (site, now) = (words::printable(site, 80), words::count(*now));
    Some(format!("Wins from {from} of the loop of {site} on (yours: {now})."))
}

/// Break-even between runs of several sizes, and how the hottest line grows.
fn between_runs(runs: &RunsCrossing) -> String {
    let number = words::number;
    let recorded: Vec<String> = runs.points.iter().filter(|p| p.recorded).map(|p| number(p.scale)).collect();
    let of = format!("the runs at sizes {}", recorded.join(", "));
    let wins = |p: &RunPoint| p.speedup.is_some_and(|s| s.p50 >= 1.0);
    let mut line = match runs.at {
        Some(at) => {
            format!("By {of} the GPU wins above size {} ({} to {}).", number(at.p50), number(at.p10), number(at.p90))
        }
        None if runs.points.iter().all(wins) => format!("By {of} the GPU wins at each size."),
        None => match (runs.points.iter().find(|p| wins(p)), runs.points.iter().rfind(|p| wins(p))) {
            (Some(first), Some(last)) if runs.points.first().is_some_and(wins) || first.scale == last.scale => {
                format!("By {of} the GPU wins up to about size {}, and loses beyond.", number(last.scale))
            }
            (Some(first), Some(last)) => format!(
                "By {of} the GPU wins from about size {} to {}, and loses below and beyond.",
                number(first.scale),
                number(last.scale)
            ),
            _ => format!("By {of} the GPU wins at no size, nor up to 16 times beyond."),
        },
    };
    if let Some(hot) = runs.lines.first() {
        let (site, name) = (words::printable(&hot.site, 80), words::printable(&hot.name, 80));
        line += &format!(" {name} at {site} grows as {}: {} calls", hot.cpu, hot.calls);
        line += &hot.flop.map_or_else(|| ".".to_owned(), |flop| format!(", FLOP {flop}."));
    }
    line
}

/// What the answer rests on: coverage, then amounts, the most telling first.
pub(super) fn coverage(e: &Estimate) -> Vec<String> {
    let w = &e.workload;
    let unseen = e.notes.iter().filter(|note| note.code == "unseen").count() as u64;
    let rests = if e.formula.is_some() || e.estimates.is_empty() {
        "numbers as given; nothing was run".to_owned()
    } else if e.notes.iter().any(|note| note.code == "by-size") {
        "worked out from the size; nothing was run".to_owned()
    } else {
        understood(e)
    };
    let parts = [
        Some(rests),
        (unseen > 0).then(|| format!("{} {} unseen", words::count(unseen), plural(unseen, "part"))),
        (w.ops > 0 && e.formula.is_none()).then(|| words::several(w.ops, "op", "ops")),
        (w.launches > 0).then(|| words::several(w.launches, "launch", "launches")),
        w.flop.map(words::flop),
        w.bytes.map(|b| format!("{} moved", words::bytes(b))),
        w.h2d_bytes.map(|b| format!("{} to the GPU", copied(b, w.synchronisations.and(w.h2d_copies)))),
        w.d2h_bytes.map(|b| format!("{} back", copied(b, w.synchronisations.and(w.d2h_copies)))),
        w.synchronisations.map(|n| format!("{} explicit {}", words::count(n), plural(n, "synchronisation"))),
        w.peak_bytes.map(|b| format!("{} at peak", words::memory(b))),
    ];
    // Who asks what fits asks of no work.
    let told = if is_only_memory(e) { 1 } else { parts.len() };
    parts.into_iter().take(told).flatten().collect()
}

/// `64 MB in 2 copies`; the bytes alone where the program did not ask for them itself.
fn copied(bytes: f64, copies: Option<u64>) -> String {
    match copies {
        Some(n) if n > 0 => format!("{} in {} {}", words::bytes(bytes), words::count(n), plural(n, "copy")),
        _ => words::bytes(bytes),
    }
}

fn plural(n: u64, one: &str) -> String {
    match one.strip_suffix('y') {
        _ if n == 1 => one.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{one}s"),
    }
}
