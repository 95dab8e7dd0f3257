//! Charts of plain HTML and SVG.

use super::{behind, drawing, escape, on, table};
use crate::estimate::{Breakdown, Estimate, KernelBin};
use crate::interval::Interval;
use crate::report::rows;
use crate::report::sentence::chosen;
use crate::report::table::{Align, Table};
use crate::report::words;

/// Bars of GPUs beside that of the CPU.
const BARS: usize = 6;

/// Time of the CPU, of the GPU that the page speaks of, and of the first others; lower is better.
pub(super) fn bars(e: &Estimate) -> String {
    let cpu = e.baseline.time_s.map(|time| ("CPU".to_owned(), time, "fill cpu"));
    let gpus = rows::shown_first(e).filter_map(|g| Some((words::printable(&g.name, 40), g.time_s?, "fill")));
    let all: Vec<(String, Interval, &str)> = cpu.into_iter().chain(gpus.take(BARS)).collect();
    let longest = |pick: fn(&Interval) -> f64| all.iter().map(|(_, time, _)| pick(time)).fold(0.0, f64::max);
    // Lines of what is hardly known would leave no room for bars.
    let longest = longest(|time| time.p90).min(2.0 * longest(|time| time.p50));
    if longest <= 0.0 {
        return String::new();
    }
    let share = |t: f64| (100.0 * t / longest).clamp(0.0, 100.0);
    let bar = |(name, time, class): &(String, Interval, &str)| {
        let (from, to) = (share(time.p10), share(time.p90));
        format!(
            "<div class=\"bar\"><span>{}</span><svg class=\"track\"><rect class=\"{class}\" width=\"{:.2}%\" height=\"100%\" \
             rx=\"3\"/><rect class=\"spread\" x=\"{from:.2}%\" y=\"46%\" width=\"{:.2}%\" height=\"8%\"/></svg>\
             <span class=\"value\">{}</span></div>\n",
            escape(name),
            share(time.p50).max(0.3),
            (to - from).max(0.1),
            words::time(*time),
        )
    };
    let bars: String = all.iter().map(bar).collect();
    format!(
        "<div class=\"bars\" aria-hidden=\"true\">\n{bars}<p class=\"soft\">Time, shorter is better; thin lines go from p10 \
         to p90.</p>\n</div>\n"
    )
}

/// What each of so many GPUs does of what one alone does.
pub(super) fn scaling(e: &Estimate) -> String {
    let curve = e.several.iter().flat_map(|several| &several.curve);
    let bar = |p: &crate::several::Point| {
        let efficiency = p.efficiency?;
        Some(format!(
            "<div class=\"bar\"><span>{}</span><svg class=\"track\"><rect class=\"fill\" width=\"{:.2}%\" height=\"100%\" \
             rx=\"3\"/></svg><span class=\"value\">{}</span></div>\n",
            words::several(p.gpus, "GPU", "GPUs"),
            (100.0 * efficiency).clamp(0.3, 100.0),
            words::percent(efficiency),
        ))
    };
    let bars: String = curve.filter_map(bar).collect();
    if bars.is_empty() {
        return bars;
    }
    let text = "What each GPU does of what one alone does, longer is better.";
    format!("<div class=\"bars\" aria-hidden=\"true\">\n{bars}<p class=\"soft\">{text}</p>\n</div>\n")
}

/// The parts of the critical path on the GPU that the page speaks of.
pub(super) fn parts(e: &Estimate) -> String {
    let Some(parts) = chosen(e).and_then(|g| g.breakdown_s) else { return String::new() };
    let total = parts.total();
    let Breakdown { host, launch, compute, memory, transfer, sync, startup } = parts;
    let named = [
        ("arithmetic", "compute", compute),
        ("device memory", "memory", memory),
        ("copies", "transfer", transfer),
        ("kernel launches", "launch", launch),
        ("waiting", "sync", sync),
        ("Python and CPU code", "host", host),
        ("start-up", "startup", startup),
    ];
    let some: Vec<_> = named.into_iter().filter(|(.., time)| *time > 0.0 && total > 0.0).collect();
    if some.is_empty() {
        return String::new();
    }
    let mut from = 0.0;
    let mut strip = String::new();
    for (_, key, time) in &some {
        let width = 100.0 * time / total;
        strip += &format!("<rect class=\"{key}\" x=\"{from:.3}%\" width=\"{width:.3}%\" height=\"100%\"/>");
        from += width;
    }
    let keys: String = some
        .iter()
        .map(|(name, key, time)| {
            let (share, time) = (words::share(time / total), words::seconds(*time));
            format!("<li><span class=\"key {key}\"></span>{name} <b>{share}</b>, {time}</li>\n")
        })
        .collect();
    format!(
        "<div class=\"strip\"><p class=\"soft\">On {}, {} in all.</p>\n<svg class=\"parts\" aria-hidden=\"true\">{strip}</svg>\n\
         <ul class=\"keys\">\n{keys}</ul></div>\n",
        on(e),
        words::seconds(total)
    )
}

/// Who is busy when.
pub(super) fn timeline(e: &Estimate) -> String {
    let Some(sketch) = &e.timeline else { return String::new() };
    let columns = sketch.rows.first().map_or(0, |row| row.busy.len()).max(1);
    let width = 620.0 / columns as f64;
    let mut svg = String::new();
    let mut rows = Table::new(&[("who", Align::Left), ("busy", Align::Right)]);
    for (i, row) in sketch.rows.iter().enumerate() {
        let bottom = 34.0 * (i + 1) as f64;
        let color = match row.name.as_str() {
            "start-up" => "startup",
            "Python" => "host",
            "launching" => "launch",
            "waiting" => "sync",
            "kernels" => "compute",
            _ => "transfer",
        };
        svg += &format!("<text x=\"0\" y=\"{:.1}\">{}</text>\n", bottom - 8.0, escape(&row.name));
        svg += &format!("<line x1=\"92\" x2=\"712\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\" class=\"rule\"/>\n");
        for (column, busy) in row.busy.iter().enumerate().filter(|(_, busy)| **busy > 0.0) {
            let height = (28.0 * busy).max(1.0);
            svg += &format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" class=\"{color}\"/>\n",
                92.0 + width * column as f64,
                bottom - height,
                width - 0.5,
            );
        }
        rows.row(vec![row.name.clone(), words::percent(row.busy.iter().sum::<f64>() / columns as f64)]);
    }
    let height = 34.0 * sketch.rows.len() as f64 + 4.0;
    format!(
        "<p class=\"soft\">On {}, {} in all, left to right; as high as each was busy.</p>\n\
         <div class=\"look\" data-gpu=\"{}\"><svg class=\"drawing\" viewBox=\"0 0 720 {height}\" role=\"img\" \
         aria-label=\"Host, kernels and copies in the course of the run\">\n{svg}</svg></div>\n{}",
        on(e),
        words::seconds(sketch.span_s),
        escape(&sketch.gpu),
        behind(table(&rows, "Share of the run that each is busy"))
    )
}

/// Array memory, by how many ops have run.
pub(super) fn memory(e: &Estimate) -> String {
    let Some(curve) = e.timeline.as_ref().and_then(|sketch| sketch.memory.as_ref()) else { return String::new() };
    let most = curve.bytes.iter().copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let (width, height) = (720.0, 150.0);
    let column = (width - 60.0) / curve.bytes.len() as f64;
    let mut svg = String::new();
    for (share, text) in [(1.0, words::memory(most)), (0.5, words::memory(most / 2.0)), (0.0, "0".to_owned())] {
        let y = height - 20.0 - (height - 36.0) * share;
        svg += &format!(
            "<line x1=\"60\" x2=\"{width}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"rule\"/>\
             <text x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
            y + 4.0
        );
    }
    for (i, bytes) in curve.bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0) {
        let high = ((height - 36.0) * bytes / most).max(1.0);
        svg += &format!(
            "<rect class=\"fill\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{high:.1}\"/>\n",
            60.0 + column * i as f64,
            height - 20.0 - high,
            column + 0.2,
        );
    }
    let ops = words::count(e.workload.ops);
    svg += &format!(
        "<text x=\"60\" y=\"{0}\">first operation</text><text x=\"{width}\" y=\"{0}\" text-anchor=\"end\">{ops}</text>\n",
        height - 5.0
    );
    let mut rows = Table::new(&[("operations", Align::Right), ("memory, at most", Align::Right)]);
    for (i, bytes) in curve.bytes.iter().enumerate().step_by(6) {
        let done = (e.workload.ops as f64 * i as f64 / curve.bytes.len() as f64) as u64;
        rows.row(vec![words::count(done), words::memory(*bytes)]);
    }
    format!(
        "<p class=\"soft\">Arrays that may live at once, at most, by the operations that have run.</p>\n{}{}",
        drawing("Memory in the course of the run", (width, height), &svg),
        behind(table(&rows, "Array memory by operations run"))
    )
}

/// Kernels by their length: what they take together, and how many there are.
pub(super) fn kernels(e: &Estimate) -> String {
    let Some(bins) = e.timeline.as_ref().map(|sketch| &sketch.kernels) else { return String::new() };
    let all: f64 = bins.iter().map(|bin| bin.time_s).sum();
    let most = bins.iter().map(|bin| bin.time_s).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let range = |bin: &KernelBin| format!("{}–{}", words::seconds(bin.from_s), words::seconds(bin.to_s));
    let mut bars = String::new();
    let mut rows = Table::new(&[
        ("kernel length", Align::Left),
        ("launches", Align::Right),
        ("time together", Align::Right),
        ("share", Align::Right),
    ]);
    for bin in bins {
        let launches = words::count(bin.launches);
        bars += &format!(
            "<div class=\"bar\"><span>{}</span><svg class=\"track\"><rect class=\"fill\" width=\"{:.2}%\" height=\"100%\" \
             rx=\"3\"/></svg><span class=\"value\">{launches}</span></div>\n",
            range(bin),
            100.0 * bin.time_s / most,
        );
        rows.row(vec![range(bin), launches, words::seconds(bin.time_s), words::percent(bin.time_s / all)]);
    }
    format!(
        "<p class=\"soft\">On {}: as long as kernels of that length take together, {} in all; the number is how many are \
         launched.</p>\n<div class=\"bars\" aria-hidden=\"true\">\n{bars}</div>\n{}",
        on(e),
        words::seconds(all),
        behind(table(&rows, "Kernels by their length"))
    )
}
