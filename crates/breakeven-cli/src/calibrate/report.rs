//! What a calibration found, for people: the error before and after, rates, factors, costs.

use breakeven::calibration::{Error, MachineFile, On};
use breakeven::report::words;
use std::fmt::Write;

/// From this share on, what others had of the processors is told.
const BUSY: f64 = 0.2;

/// The first line, then what was found in tables.
pub(crate) fn text(file: &MachineFile, quiet: bool) -> String {
    let mut out = first(file) + "\n";
    if quiet {
        return out;
    }
    notes(file).iter().for_each(|note| out += &format!("note: {note}\n"));
    for (title, rows) in tables(file) {
        let _ = writeln!(out, "\n{title}");
        let widths: Vec<usize> =
            (0..rows[0].len()).map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
        for row in &rows {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
        }
    }
    out
}

/// The same in Markdown.
pub(crate) fn markdown(file: &MachineFile, quiet: bool) -> String {
    let mut out = format!("**{}**\n", first(file));
    if quiet {
        return out;
    }
    notes(file).iter().for_each(|note| out += &format!("\n- {note}"));
    for (title, rows) in tables(file) {
        let _ = writeln!(out, "\n\n{title}\n");
        for (i, row) in rows.iter().enumerate() {
            let _ = writeln!(out, "| {} |", row.join(" | "));
            if i == 0 {
                let _ = writeln!(out, "|{}", "---|".repeat(row.len()));
            }
        }
    }
    out
}

fn name(on: On) -> &'static str {
    match on {
        On::Cpu => "CPU",
        On::Gpu => "GPU",
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// How far the models were off, and are.
fn first(file: &MachineFile) -> String {
    let one = |e: &Error| {
        let kernels = e.kernels;
        format!("{}: error {} → {} on {kernels} kernels held back", name(e.on), percent(e.before), percent(e.after))
    };
    let errors: Vec<String> = file.errors.iter().map(one).collect();
    if errors.is_empty() { "calibrated: too few kernels to tell the error".to_owned() } else { errors.join(" · ") }
}

fn notes(file: &MachineFile) -> Vec<String> {
    let mut notes = file.notes.clone();
    if file.gpu.is_none() {
        notes.push("the CPU alone was measured: times on GPUs are modelled as before".to_owned());
    }
    if let Some(share) = file.busy.filter(|share| *share >= BUSY) {
        let share = percent(share);
        notes.push(format!(
            "other programs had {share} of the processors: intervals are wider for it; measure again when they are done"
        ));
    }
    notes
}

/// Each table with its title and its head.
fn tables(file: &MachineFile) -> Vec<(&'static str, Vec<Vec<String>>)> {
    let head = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut rates = vec![head(&["on", "what", "type", "library", "threads", "rate"])];
    for rate in &file.rates {
        let (amount, unit) =
            if rate.what == "matmul" { (rate.per_s / 1e9, "GFLOP/s") } else { (rate.per_s / 1e9, "GB/s") };
        let threads = rate.threads.map_or_else(|| "all".to_owned(), |n| n.to_string());
        let figure = format!("{} {unit}", breakeven::quantity::significant(amount, 3));
        rates.push(vec![
            name(rate.on).to_owned(),
            rate.what.clone(),
            rate.dtype.name().to_owned(),
            rate.library.clone(),
            threads,
            figure,
        ]);
    }
    let mut factors = vec![head(&["on", "family", "type", "kernels", "measured ÷ modelled", "spread"])];
    for factor in &file.factors {
        factors.push(vec![
            name(factor.on).to_owned(),
            factor.family.clone(),
            factor.dtype.name().to_owned(),
            factor.kernels.to_string(),
            format!("{:.2}", factor.factor),
            format!("±{}", percent(factor.spread)),
        ]);
    }
    let mut costs = vec![head(&["library", "cost", "time"])];
    for cost in &file.costs {
        costs.push(vec![cost.library.clone(), cost.what.replace('_', " "), words::time(cost.seconds)]);
    }
    let all = [("Rates", rates), ("Factors on modelled times", factors), ("Costs on the host", costs)];
    all.into_iter().filter(|(_, rows)| rows.len() > 1).collect()
}
