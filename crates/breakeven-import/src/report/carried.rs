//! What a trace takes on other GPUs, for people and programs.

use super::sentence::wrapped;
use super::{WIDTH, escaped};
use crate::carry::{Carried, On};
use breakeven::carry::Kinship;
use breakeven::report::words::{UNKNOWN, cost, energy, memory, range, seconds, share, time, times, usd_per_h};
use breakeven::report::{Align, Table};
use serde_json::{Value, json as value};

/// So few may be replayed without a word.
const ALL: f64 = 0.999;
/// Below this nobody would speak of another time.
const SAME: f64 = 0.05;

/// The first line to act on: of one GPU all that matters, of several the fastest and the cheapest.
pub fn sentence(carried: &Carried) -> String {
    let what = if carried.of_step { "a step" } else { "what was recorded" };
    match carried.gpus.as_slice() {
        [] => "No GPU is asked about.".to_owned(),
        [one] => format!("On {} {what} takes {}{}.", one.name, told(one, carried), bound(one, &carried.source)),
        all => {
            let fits = || all.iter().filter(|on| on.fits != Some(false));
            let price = |on: &On| on.spend.cost_usd.map(|usd| usd.p50);
            let fastest = fits().min_by(|a, b| a.time.p50.total_cmp(&b.time.p50));
            let cheapest = fits()
                .filter(|on| price(on).is_some())
                .min_by(|a, b| price(a).unwrap_or(f64::MAX).total_cmp(&price(b).unwrap_or(f64::MAX)));
            let Some(fastest) = fastest else { return "None of these GPUs has memory for it.".to_owned() };
            let first = format!(
                "Fastest for {what} is {}: {}{}.",
                fastest.name,
                told(fastest, carried),
                bound(fastest, &carried.source)
            );
            match cheapest.filter(|on| on.id != fastest.id) {
                Some(on) => format!("{first} Cheapest is {}: {}.", on.name, told(on, carried)),
                None => first,
            }
        }
    }
}

/// `41 ms [33 ms–50 ms] (2.1× slower than on the A100 it was recorded on) at 0.3× the cost`.
fn told(on: &On, carried: &Carried) -> String {
    let source = &carried.source;
    if on.kinship == Kinship::Itself && carried.host_factor == 1.0 {
        return format!("{}: it was recorded on this GPU", seconds(on.time.p50));
    }
    let by = on.speedup.p50;
    let against = match by {
        _ if (by - 1.0).abs() < SAME => format!("as long as on the {} it was recorded on", source.name),
        _ if by > 1.0 => format!("{} faster than on the {} it was recorded on", times(by), source.name),
        _ => format!("{} slower than on the {} it was recorded on", times(1.0 / by), source.name),
    };
    let money = on.spend.cost_usd.zip(source.spend.cost_usd).map(|(here, there)| here.p50 / there.p50);
    let money = money.filter(|x| x.is_finite()).map_or_else(String::new, |x| format!(" at {} the cost", times(x)));
    format!("{}{} ({against}){money}", time(on.time), between(on))
}

fn between(on: &On) -> String {
    let (low, high) = (seconds(on.time.p10), seconds(on.time.p90));
    if low == high { String::new() } else { format!(" [{low}–{high}]") }
}

/// Whether the host holds it back, and did.
fn bound(on: &On, source: &On) -> &'static str {
    match (on.host_bound(), source.host_bound()) {
        (true, true) => ": host-bound, as it was",
        (true, false) => ": host-bound there",
        (false, true) => ": host-bound no more",
        (false, false) => "",
    }
}

fn table(carried: &Carried) -> Table {
    let right = Align::Right;
    let of = if carried.of_step { "a step" } else { "time" };
    let mut table = Table::new(&[
        ("GPU", Align::Left),
        (of, right),
        ("p10", right),
        ("p90", right),
        ("speed", right),
        ("busy", right),
        ("cost", right),
        ("energy", right),
        ("USD/h", right),
        ("memory", Align::Left),
    ]);
    let source = std::iter::once(&carried.source).filter(|source| !carried.gpus.iter().any(|on| on.id == source.id));
    let mut gpus: Vec<&On> = source.chain(&carried.gpus).collect();
    gpus.sort_by(|a, b| a.time.p50.total_cmp(&b.time.p50));
    for on in gpus {
        let recorded = if on.id == carried.source.id { " (recorded)" } else { "" };
        table.row(vec![
            format!("{}{recorded}", on.name),
            time(on.time),
            seconds(on.time.p10),
            seconds(on.time.p90),
            times(on.speedup.p50)
                + if on.kinship == Kinship::Itself { String::new() } else { range(on.speedup) }.as_str(),
            share(on.busy),
            on.spend.cost_usd.map_or_else(|| UNKNOWN.to_owned(), cost),
            on.spend.energy_wh.map_or_else(|| UNKNOWN.to_owned(), energy),
            on.usd_per_h.map_or_else(|| UNKNOWN.to_owned(), usd_per_h),
            match on.fits {
                Some(true) => "fits".to_owned(),
                Some(false) => "too small".to_owned(),
                None => UNKNOWN.to_owned(),
            },
        ]);
    }
    table
}

/// What the answer rests on.
fn basis(carried: &Carried) -> Vec<String> {
    let [op, class, nothing] = carried.coverage;
    let mut lines = vec![format!(
        "Kernel time carried by op and shapes {}, by the class of the name {}, not understood {}.",
        share(op),
        share(class),
        share(nothing)
    )];
    let [played, all] = carried.replayed;
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    if (played as f64) < ALL * all as f64 {
        lines.push(format!(
            "{played} of {all} kernels and copies were replayed: those of marked steps, the first 200000."
        ));
    }
    if let Some(bytes) = carried.peak_bytes {
        #[expect(clippy::cast_precision_loss, reason = "printed to three digits")]
        lines.push(format!("Memory in use at most: {}.", memory(bytes as f64)));
    }
    lines.push(if carried.host_factor == 1.0 {
        "Host work is taken as recorded; --host-factor says how much longer another host takes.".to_owned()
    } else {
        format!("Host work is taken to be {} as long as recorded.", times(carried.host_factor))
    });
    lines
}

/// Rows of the table as text.
const ROWS: usize = 12;

/// The answer, the table, what it rests on.
pub fn text(carried: &Carried, verbose: bool) -> String {
    let mut lines = wrapped("", &sentence(carried));
    lines.push(String::new());
    let table = table(carried).without(&["USD/h", "memory", "p10", "p90", "energy"], WIDTH).cut("GPU", 12, WIDTH);
    let rows: Vec<String> = table.text(|_, _, cell| cell).lines().map(str::to_owned).collect();
    let shown = if verbose { rows.len() } else { rows.len().min(ROWS + 1) };
    lines.extend(rows.iter().take(shown).cloned());
    if shown < rows.len() {
        lines.push(format!("  … {} more: --verbose", rows.len() - shown));
    }
    lines.push(String::new());
    lines.extend(basis(carried).iter().flat_map(|line| wrapped("", line)));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The same for a page or a ticket.
pub fn markdown(carried: &Carried) -> String {
    let mut out = format!("**{}**\n\n{}\n", escaped(&sentence(carried)), table(carried).map(escaped).markdown());
    for line in basis(carried) {
        out += &format!("- {}\n", escaped(&line));
    }
    out
}

/// With every digit; what is not known is `null`.
pub(super) fn json(carried: &Carried) -> Value {
    let on = |on: &On| {
        value!({
            "gpu": on.id, "name": on.name,
            "generation": on.kinship.name(),
            "time_s": on.time, "speedup": on.speedup, "kernel_s": on.kernel_s,
            "busy": on.busy, "bound_by": if on.host_bound() { "host" } else { "device" },
            "basis": if on.kinship == Kinship::Itself { "measured" } else { "modelled" },
            "cost_usd": on.spend.cost_usd, "energy_wh": on.spend.energy_wh, "co2_g": on.spend.co2_g,
            "usd_per_h": on.usd_per_h, "fits": on.fits,
        })
    };
    let [op, class, nothing] = carried.coverage;
    let classes: Vec<Value> =
        carried.classes.iter().map(|(class, s)| value!({"class": class.name(), "time_s": s})).collect();
    value!({
        "of": if carried.of_step { "step" } else { "whole" },
        "sentence": sentence(carried),
        "source": on(&carried.source),
        "gpus": carried.gpus.iter().map(on).collect::<Vec<_>>(),
        "coverage": {"op": op, "class": class, "nothing": nothing},
        "peak_bytes": carried.peak_bytes,
        "replayed": carried.replayed[0], "of_pieces": carried.replayed[1],
        "host_factor": carried.host_factor,
        "classes": classes,
    })
}
