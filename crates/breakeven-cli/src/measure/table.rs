//! Rows in columns, and what the report has by line of the script.

use super::side::{Fallback, Port};
use super::{Measured, Side};
use breakeven::report::words;
use std::collections::BTreeMap;

/// Text rows as columns; the first row is the heading.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| wide(at).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let pad = width - cell.chars().count();
            format!("{cell}{}", " ".repeat(pad))
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same as Markdown.
pub(super) fn piped(rows: &[Vec<String>]) -> String {
    let Some((heading, rest)) = rows.split_first() else { return String::new() };
    let line = |row: &[String]| {
        let cells = row.iter().map(|cell| cell.replace('|', "\\|"));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|{}", "---|".repeat(heading.len()));
    let rows = rest.iter().map(|row| line(row));
    [line(heading), rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

/// What is known of one line.
#[derive(Default)]
struct Line {
    cpu: Option<f64>,
    predicted: Option<String>,
    predicted_s: Option<f64>,
    measured: Option<f64>,
    copies: u64,
    bytes: u64,
    fallbacks: u64,
    code: String,
}

/// What the port did in the run that it is told of: a warm one, or the only one.
fn told(side: &Side) -> Option<&Port> {
    side.runs.iter().rev().find_map(|run| run.port.as_ref())
}

/// The lines, those that take longest on the CPU first; with `measured`, the GPU's time of each.
pub(super) fn lines(found: &Measured, most: usize) -> (Vec<Vec<String>>, usize) {
    let mut all: BTreeMap<(String, u32), Line> = BTreeMap::new();
    for line in found.predicted.iter().flat_map(|predicted| &predicted.lines) {
        let entry = all.entry((line.file.clone(), line.line)).or_default();
        entry.cpu = Some(entry.cpu.unwrap_or(0.0) + line.cpu_s);
        entry.predicted = line.gpu_s.map(words::time);
        entry.predicted_s = line.gpu_s.map(|time| time.p50);
        entry.code.clone_from(&line.code);
    }
    if let Some(side) = &found.other
        && let Some(port) = told(side)
    {
        for copy in &port.copies {
            let entry = all.entry((side.known(&copy.file).to_owned(), copy.line)).or_default();
            entry.copies += copy.count;
            entry.bytes += copy.bytes;
        }
        for fallback in &port.fallbacks {
            let entry = all.entry((side.known(&fallback.file).to_owned(), fallback.line)).or_default();
            entry.fallbacks += fallback.count;
        }
    }
    if let Some(side) = &found.by_line
        && let Some(port) = told(side)
    {
        for line in &port.lines {
            let entry = all.entry((side.known(&line.file).to_owned(), line.line)).or_default();
            entry.measured = Some(entry.measured.unwrap_or(0.0) + line.seconds);
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    let weight = |line: &Line| line.cpu.unwrap_or(0.0).max(line.measured.unwrap_or(0.0));
    all.sort_by(|(_, a), (_, b)| weight(b).total_cmp(&weight(a)));
    let hidden = all.len().saturating_sub(most);
    let ported = found.other.as_ref().is_some_and(|side| told(side).is_some());
    let heading = ["line", "CPU", "GPU, predicted"].into_iter().map(str::to_owned);
    let mut heading: Vec<String> = heading.collect();
    heading.extend(found.by_line.iter().map(|_| "measured".to_owned()));
    if ported {
        heading.extend(["copies".to_owned(), "on NumPy".to_owned()]);
    }
    heading.push("code".to_owned());
    let unknown = || words::UNKNOWN.to_owned();
    let rows = all.into_iter().take(most).map(|((file, number), line)| {
        let name = file.rsplit('/').next().unwrap_or(&file);
        let mut row = vec![
            format!("{}:{number}", words::printable(name, 40)),
            line.cpu.map_or_else(unknown, words::seconds),
            line.predicted.unwrap_or_else(unknown),
        ];
        if found.by_line.is_some() {
            let far =
                |measured: f64, predicted: f64| if !(0.5..=2.0).contains(&(measured / predicted)) { " !" } else { "" };
            row.push(line.measured.map_or_else(unknown, |s| {
                words::seconds(s) + line.predicted_s.map_or("", |predicted| far(s, predicted))
            }));
        }
        if ported {
            let copies = format!("{} ({})", words::count(line.copies), words::bytes(line.bytes as f64));
            row.push(if line.copies > 0 { copies } else { String::new() });
            row.push(if line.fallbacks > 0 { words::count(line.fallbacks) } else { String::new() });
        }
        row.push(words::printable(line.code.trim(), 40));
        row
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    (if rows.len() > 1 { rows } else { Vec::new() }, hidden)
}

/// Copies of one run: how many, bytes, seconds; by direction.
pub(super) fn copies(side: &Side) -> Option<String> {
    let port = told(side)?;
    let way = |direction: &str| {
        let of = port.copies.iter().filter(|copy| copy.direction == direction);
        of.fold((0, 0, 0.0), |(n, b, s), copy| (n + copy.count, b + copy.bytes, s + copy.seconds))
    };
    let ((to, to_bytes, to_s), (from, from_bytes, from_s)) = (way("h2d"), way("d2h"));
    let time = if side.side == "port" { format!(", {}", words::seconds(to_s + from_s)) } else { String::new() };
    Some(format!(
        "{} to the device ({}), {} back ({}){time}",
        words::count(to),
        words::bytes(to_bytes as f64),
        words::count(from),
        words::bytes(from_bytes as f64)
    ))
}

/// Calls that NumPy computed, most bytes first.
pub(super) fn fallbacks(side: &Side, most: usize) -> Vec<String> {
    let Some(port) = told(side) else { return Vec::new() };
    let mut all: Vec<&Fallback> = port.fallbacks.iter().collect();
    all.sort_by_key(|found| std::cmp::Reverse((found.bytes, found.count)));
    let told = all.iter().take(most).map(|found| {
        let file = side.known(&found.file);
        let name = file.rsplit('/').next().unwrap_or(file);
        format!(
            "{}:{} {} ×{}, {} copied: {}",
            words::printable(name, 40),
            found.line,
            words::printable(&found.function, 60),
            words::count(found.count),
            words::bytes(found.bytes as f64),
            words::printable(&found.reason, 120)
        )
    });
    let mut told: Vec<String> = told.collect();
    if all.len() > most {
        told.push(format!("… {} more: --verbose", all.len() - most));
    }
    told
}

/// How many calls the port made, and how many of them NumPy computed.
pub(super) fn calls(side: &Side) -> Option<(u64, u64)> {
    let port = told(side)?;
    let fell = port.fallbacks.iter().map(|found| found.count).sum();
    Some((port.calls + fell, fell))
}
