//! The tables and closing lines that text and Markdown share.

use super::explain::basis;
use super::sentence::{chosen, is_enough, understood};
use super::table::{Align, Table};
use super::words;
use crate::estimate::{BreakEven, Estimate, GpuEstimate, SiteEstimate, Verdict};
use crate::growth::{RoundsCrossing, RunPoint, RunsCrossing};
use crate::kernel::Bound;
use crate::workload::file_name;

/// The CPU, then the first `top` GPUs.
pub(super) fn gpus(e: &Estimate, top: usize) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("device", Left),
        ("time", Right),
        ("speedup", Left),
        ("cost", Right),
        ("energy", Right),
        ("CO₂", Right),
        ("price", Right),
        ("bound by", Left),
        ("basis", Left),
        ("verdict", Left),
    ]);
    let b = &e.baseline;
    if b.time_s.is_some() {
        table.row(vec![
            cpu(&b.device),
            known(b.time_s.map(words::time)),
            "1×".to_owned(),
            known(b.cost_usd.map(words::cost)),
            known(b.energy_wh.map(words::energy)),
            known(b.co2_g.map(words::carbon)),
            known(b.price.as_ref().map(|p| words::usd_per_h(p.usd_per_h))),
            String::new(),
            basis(b.basis).to_owned(),
            String::new(),
        ]);
    }
    for g in e.estimates.iter().take(top) {
        table.row(gpu(g));
    }
    table
}

/// `CPU: AMD EPYC 7763`, or plainly `CPU` where it has no name.
fn cpu(name: &str) -> String {
    match words::printable(name, 40) {
        name if name.is_empty() || name == "the CPU" => "CPU".to_owned(),
        name if name.starts_with("CPU ") => name,
        name => format!("CPU: {name}"),
    }
}

fn gpu(g: &GpuEstimate) -> Vec<String> {
    vec![
        words::printable(&g.name, 40),
        known(g.time_s.map(words::time)),
        known(g.speedup.map(words::speedup)),
        known(g.cost_usd.map(words::cost)),
        known(g.energy_wh.map(words::energy)),
        known(g.co2_g.map(words::carbon)),
        known(g.price.as_ref().map(|p| words::usd_per_h(p.usd_per_h))),
        g.bound_by.map(bound).unwrap_or_default().to_owned(),
        if g.time_s.is_some() { basis(g.basis).to_owned() } else { String::new() },
        if g.fits == Some(false) { "does not fit".to_owned() } else { verdict(g.verdict).to_owned() },
    ]
}

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| words::UNKNOWN.to_owned())
}

/// The first `top` source lines. The code comes last, so that its width disturbs nobody.
pub(super) fn sites(e: &Estimate, top: usize) -> Table {
    use Align::{Left, Right};
    let on = chosen(e).map_or_else(|| "on the GPU".to_owned(), |g| format!("on {}", words::printable(&g.name, 30)));
    let mut table = Table::new(&[
        ("line", Left),
        ("CPU", Right),
        ("share", Right),
        (&on, Right),
        ("bound by", Left),
        ("verdict", Left),
        ("code", Left),
    ]);
    for s in e.sites.iter().take(top) {
        table.row(vec![
            place(s),
            words::time(s.time_s),
            words::percent(s.share),
            known(s.gpu_time_s.map(words::time)),
            s.bound_by.map(bound).unwrap_or_default().to_owned(),
            verdict(s.verdict).to_owned(),
            source(s),
        ]);
    }
    table
}

/// What the values take by precision, where memory was asked about.
pub(super) fn footprint(e: &Estimate) -> Table {
    let mut table = Table::new(&[("precision", Align::Left), ("memory", Align::Right), ("for", Align::Left)]);
    for row in e.footprint.iter().flatten() {
        table.row(vec![row.precision.clone(), row.text.clone(), row.role.clone()]);
    }
    table
}

/// `heat.py:14`: the file's own name, for a table.
fn place(s: &SiteEstimate) -> String {
    format!("{}:{}", words::printable(file_name(&s.file), 40), s.line)
}

/// The source line, and the part of the network, or the library function, between it and the arrays.
fn source(s: &SiteEstimate) -> String {
    let text = words::printable(s.text.trim(), 60);
    match (&s.module, &s.via) {
        (Some(module), _) => format!("{text} (module {})", words::printable(module, 60)),
        (None, Some(via)) => format!("{text} (via {})", words::printable(via, 60)),
        (None, None) => text,
    }
}

/// A verdict as printed in a table.
pub(super) fn verdict(v: Verdict) -> &'static str {
    match v {
        Verdict::Gpu => "gpu",
        Verdict::Cpu => "cpu",
        Verdict::Either => "either",
        Verdict::Unknown => "unknown",
    }
}

/// A bound as printed in a table.
pub(super) fn bound(b: Bound) -> &'static str {
    match b {
        Bound::Compute => "compute",
        Bound::Memory => "memory",
        Bound::Transfer => "transfer",
        Bound::Launch => "launch",
        Bound::Sync => "sync",
        Bound::Host => "host",
    }
}

/// The size at which the chosen GPU starts to win, and what it takes when warm.
pub(super) fn remarks(e: &Estimate) -> Vec<String> {
    if e.footprint.is_some() && e.workload.flop.is_none() {
        return Vec::new();
    }
    let Some(g) = chosen(e) else { return Vec::new() };
    let mut lines = Vec::new();
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
    if let Some(even) = g.break_even.as_ref().filter(|_| g.verdict != Verdict::Unknown) {
        let describes = words::printable(even.describes.trim_end_matches('.'), 200);
        let rounds = in_rounds(even);
        match (describes.strip_prefix("never"), describes.strip_prefix("always")) {
            // With more rounds it does.
            (Some(_), _) if !rounds.is_empty() => {}
            (Some(why), _) => lines.push(format!("Never breaks even{why}.")),
            (_, Some(why)) => lines.push(match why.strip_prefix(": from ") {
                Some(least) => format!("Wins at each size tried, from {least}."),
                None => format!("Wins at any size{why}."),
            }),
            _ => lines.push(format!("Breaks even at {describes}.")),
        }
        lines.extend(rounds);
        lines.extend(even.runs.as_ref().map(between_runs));
    }
    if let Some(why) = e.formula.as_ref().and_then(|f| f.differs_because.as_ref()) {
        lines.push(words::as_sentence(&words::printable(why, 400)));
    }
    lines
}

/// Break-even in rounds of the main loop, and in calls that use a copied array.
fn in_rounds(even: &BreakEven) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(RoundsCrossing { site, now, at: Some(at) }) = &even.rounds {
        let (site, now) = (words::printable(site, 80), words::count(*now));
        lines.push(match at {
            0 | 1 => format!("Wins from the first round of the loop at {site} on (yours: {now})."),
            at => format!("Wins from {} rounds of the loop at {site} on (yours: {now}).", words::count(*at)),
        });
    }
    if let Some(calls) = &even.calls {
        lines.push(format!(
            "Wins if arrays stay on the GPU for {} calls or more; copied at each call it loses.",
            words::count(calls.at_least)
        ));
    }
    lines
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
        None => match runs.points.iter().rfind(|point| wins(point)) {
            Some(last) => format!("By {of} the GPU wins up to about size {}, and loses beyond.", number(last.scale)),
            None => format!("By {of} the GPU wins at no size, nor up to 16 times beyond."),
        },
    };
    if let Some(hot) = runs.lines.first() {
        let (site, name) = (words::printable(&hot.site, 80), words::printable(&hot.name, 80));
        line += &format!(" {name} at {site} grows as {}: {} calls", hot.cpu, hot.calls);
        line += &hot.flop.map_or_else(|| ".".to_owned(), |flop| format!(", FLOP {flop}."));
    }
    line
}

/// What the answer rests on: coverage and amounts. Always the last line.
pub(super) fn coverage(e: &Estimate) -> String {
    let w = &e.workload;
    let unseen = e.notes.iter().filter(|note| note.code == "unseen").count() as u64;
    let amounts = [
        (w.ops > 0 && e.formula.is_none()).then(|| format!("{} ops", words::count(w.ops))),
        (w.launches > 0).then(|| format!("{} launches", words::count(w.launches))),
        w.flop.map(words::flop),
        w.bytes.map(|b| format!("{} moved", words::bytes(b))),
        w.h2d_bytes.map(|b| format!("{} to the GPU", copied(b, w.synchronisations.and(w.h2d_copies)))),
        w.d2h_bytes.map(|b| format!("{} back", copied(b, w.synchronisations.and(w.d2h_copies)))),
        w.synchronisations.map(|n| format!("{} explicit {}", words::count(n), plural(n, "synchronisation"))),
        w.peak_bytes.map(|b| format!("{} at peak", words::memory(b))),
        (unseen > 0).then(|| format!("{} {} unseen", words::count(unseen), plural(unseen, "part"))),
    ];
    let amounts: Vec<String> = amounts.into_iter().flatten().collect();
    let rests = if e.formula.is_some() { "numbers as given; nothing was run".to_owned() } else { understood(e) };
    let sep = if amounts.is_empty() { "" } else { " · " };
    format!("coverage: {rests}{sep}{}", amounts.join(" · "))
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
