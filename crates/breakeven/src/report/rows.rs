//! The tables of GPUs, source lines and memory.

use super::columns::{ENERGIES, MASSES, TIMES, column, costs, dollars, memory};
use super::explain::basis;
use super::sentence::chosen;
use super::table::{Align, Table};
use super::words;
use crate::estimate::{Compiled, Estimate, GpuEstimate, Price, SiteEstimate, Verdict};
use crate::interval::Interval;
use crate::kernel::Bound;
use crate::workload::{WORKER, file_name};

/// Rows of the GPU table that were asked for.
pub(super) fn top(e: &Estimate) -> Option<usize> {
    e.options.get("top")?.as_u64().map(|top| usize::try_from(top).unwrap_or(usize::MAX))
}

/// The GPUs in the order asked for; by value the one that the answer speaks of comes first.
pub(super) fn shown_first(e: &Estimate) -> impl Iterator<Item = &GpuEstimate> {
    let by = e.options.get("sort").and_then(|by| by.as_str()).unwrap_or("value");
    let shown = chosen(e).filter(|_| by == "value");
    let others = e.estimates.iter().filter(move |g| shown.is_none_or(|shown| shown.gpu != g.gpu));
    shown.into_iter().chain(others)
}

/// The columns of the GPU table that go first where there is no room, by how their headers begin.
pub(super) const SPARE: [&str; 8] = ["CO₂", "energy", "$/h", "basis", "memory", "bound by", "$/", "verdict"];

/// The same of the table of source lines.
pub(super) const SPARE_OF_LINES: [&str; 3] = ["bound by", "verdict", "share"];
/// Characters that are left of a name or a source line where there is no room.
pub(super) const LEAST: usize = 8;
/// Characters of a file's name beside its line.
const FILE: usize = 20;

/// The CPU, then the first `top` GPUs.
pub(super) fn gpus(e: &Estimate, top: usize) -> Table {
    use Align::{Left, Right};
    // Each as eager code, and once it is compiled where the script compiles itself.
    let mut rows: Vec<(&GpuEstimate, Option<Compiled>)> = Vec::new();
    for g in shown_first(e).take(top) {
        rows.push((g, None));
        rows.extend(g.compiled.map(|compiled| (g, Some(compiled))));
    }
    let cpu = Some(&e.baseline).filter(|b| b.time_s.is_some());
    // The CPU's figure, where it has a row, then the GPUs'.
    // Who asks what fits asks of no time.
    let timed = !is_only_memory(e);
    type Of<T> = fn(&T) -> Option<Interval>;
    let all = |of_cpu: Option<Interval>, of_gpu: Of<GpuEstimate>, once_compiled: Of<Compiled>| {
        let figure = |(g, compiled): &(&GpuEstimate, Option<Compiled>)| match compiled {
            Some(compiled) => once_compiled(compiled),
            None => of_gpu(g),
        };
        let gpus = rows.iter().map(|row| figure(row).filter(|_| timed));
        cpu.map(|_| of_cpu).into_iter().chain(gpus).collect::<Vec<_>>()
    };
    let (time, times) = column("time", TIMES, &all(e.baseline.time_s, |g| g.time_s, |c| Some(c.time_s)));
    let (cost, costs) = costs(&all(e.baseline.cost_usd, |g| g.cost_usd, |_| None));
    let (energy, energies) = column("energy", ENERGIES, &all(e.baseline.energy_wh, |g| g.energy_wh, |_| None));
    let (carbon, carbons) = column("CO₂", MASSES, &all(e.baseline.co2_g, |g| g.co2_g, |_| None));
    let of_gpus = usize::from(cpu.is_some());
    let mut table = Table::new(&[
        ("device", Left),
        (&time, Right),
        ("speedup", Left),
        (&cost, Right),
        ("memory, GiB", Right),
        (&energy, Right),
        (&carbon, Right),
        ("$/h", Right),
        ("bound by", Left),
        ("basis", Left),
        ("verdict", Left),
    ]);
    let mut row = |i: usize, [device, speedup, memory, price, bound, basis, verdict]: [String; 7]| {
        let [time, cost, energy, carbon] = [&times, &costs, &energies, &carbons].map(|column| column[i].clone());
        table.row(vec![device, time, speedup, cost, memory, energy, carbon, price, bound, basis, verdict]);
    };
    let price = |price: &Option<Price>| dollars(price.as_ref().map(|p| p.usd_per_h));
    if let Some(b) = cpu {
        let (basis, none) = (basis(b.basis).to_owned(), String::new);
        row(0, [cpu_name(&b.device), "1×".to_owned(), none(), price(&b.price), none(), basis, none()]);
    }
    for (i, (g, compiled)) in rows.iter().enumerate() {
        if let Some(compiled) = compiled {
            let none = String::new;
            let device = format!("{} compiled", words::printable(&g.name, 31));
            row(i + of_gpus, [device, words::speedup(compiled.speedup), none(), none(), none(), none(), none()]);
            continue;
        }
        row(
            i + of_gpus,
            [
                words::printable(&g.name, 40),
                known(g.speedup.filter(|_| timed).map(words::speedup)),
                memory(g.peak_bytes, g.memory_bytes),
                price(&g.price),
                g.bound_by.filter(|_| timed).map(bound).unwrap_or_default().to_owned(),
                if timed && g.time_s.is_some() { basis(g.basis).to_owned() } else { String::new() },
                match g.fits {
                    Some(false) => "does not fit",
                    Some(true) if !timed => "fits",
                    _ => verdict(g.verdict),
                }
                .to_owned(),
            ],
        );
    }
    table
}

/// What the costs of the first `top` GPUs rest on: the days of rents, or the price of electricity.
pub(super) fn priced(e: &Estimate, top: usize) -> Option<String> {
    let energy = e.notes.iter().find(|note| note.code == "energy-cost");
    energy.map(|note| words::printable(&note.text, 80)).or_else(|| dated(e, top))
}

/// The day of the prices that the first `top` GPUs are rented at: `prices of 2026-11-01`, of several the last.
fn dated(e: &Estimate, top: usize) -> Option<String> {
    let days = shown_first(e).take(top).filter_map(|g| g.price.as_ref()).map(|p| p.date.as_str());
    let mut days: Vec<&str> = days.filter(|day| !day.is_empty()).collect();
    days.sort_unstable();
    let (first, last) = (days.first()?, days.last()?);
    let others = if first == last { "" } else { " and earlier" };
    let run = super::sentence::chosen(e).filter(|_| !is_only_memory(e));
    let least = run.and_then(charged).unwrap_or_default();
    Some(format!("prices of {}{others}{least}", words::printable(last, 20)))
}

/// `; one run alone is charged $0.013`, where that is more than its share of an hour.
fn charged(g: &GpuEstimate) -> Option<String> {
    let (least, share) = (g.price.as_ref()?.least_usd?, g.cost_usd?.p50);
    (least > share).then(|| format!("; one run alone is charged {}", words::usd(least)))
}

/// Whether all that was asked is what fits.
pub(super) fn is_only_memory(e: &Estimate) -> bool {
    e.footprint.is_some() && e.workload.flop.is_none()
}

/// `CPU: AMD EPYC 7763`, or plainly `CPU` where it has no name.
fn cpu_name(name: &str) -> String {
    match words::printable(name, 40) {
        name if name.is_empty() || name == "the CPU" => "CPU".to_owned(),
        name if name.starts_with("CPU ") => name,
        name => format!("CPU: {name}"),
    }
}

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| words::UNKNOWN.to_owned())
}

/// Imports that take this share of the CPU's time have a row of their own.
const IMPORTS: f64 = 0.1;

/// The source lines, and the libraries' imports where these take much of the time: on either side as long.
pub(super) fn lines(e: &Estimate) -> Vec<SiteEstimate> {
    let mut lines = e.sites.clone();
    if let (Some(own), Some(all)) = (e.baseline.startup_s, e.baseline.time_s)
        && own.p50 > IMPORTS * all.p50
        && !lines.is_empty()
    {
        let there = lines.iter().any(|line| line.gpu_time_s.is_some());
        let imports = SiteEstimate {
            file: "imports".to_owned(),
            line: 0,
            text: "on either side".to_owned(),
            via: None,
            module: None,
            time_s: own,
            share: own.p50 / all.p50,
            bound_by: there.then_some(Bound::Host),
            verdict: Verdict::Cpu,
            gpu_time_s: there.then_some(own),
        };
        lines.insert(lines.partition_point(|line| line.time_s.p50 > own.p50), imports);
    }
    lines
}

/// The first `top` source lines, on the CPU and on the GPU that the answer speaks of. The code comes last, so that its
/// width disturbs nobody.
pub(super) fn sites(e: &Estimate, top: usize) -> Table {
    use Align::{Left, Right};
    let mut lines = lines(e);
    lines.truncate(top);
    let figures = |of: fn(&SiteEstimate) -> Option<Interval>| lines.iter().map(of).collect::<Vec<_>>();
    let (here, here_cells) = column("CPU", TIMES, &figures(|s| Some(s.time_s)));
    let (there, there_cells) = column("GPU", TIMES, &figures(|s| s.gpu_time_s));
    let mut table = Table::new(&[
        ("line", Left),
        (&here, Right),
        ("share", Right),
        (&there, Right),
        ("bound by", Left),
        ("verdict", Left),
        ("code", Left),
    ]);
    for (s, (here, there)) in lines.iter().zip(here_cells.into_iter().zip(there_cells)) {
        table.row(vec![
            place(s),
            here,
            words::share(s.share),
            there,
            s.bound_by.map(bound).unwrap_or_default().to_owned(),
            verdict(s.verdict).to_owned(),
            source(s, &lines),
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

/// `heat.py:14`: the file's own name, for a table; of a long one its end. Line 0 is none.
fn place(s: &SiteEstimate) -> String {
    if s.file.is_empty() {
        return WORKER.to_owned();
    }
    let name = words::printable(file_name(&s.file), 200);
    let before = name.chars().count().saturating_sub(FILE);
    let name = if before > 0 { ['…'].into_iter().chain(name.chars().skip(before + 1)).collect() } else { name };
    if s.line == 0 { name } else { format!("{name}:{}", s.line) }
}

/// The source line, and the part of the network, or the library function, between it and the arrays; that first where
/// another of the `lines` is the same one, because what comes last may have no room.
fn source(s: &SiteEstimate, lines: &[SiteEstimate]) -> String {
    let text = words::printable(s.text.trim(), 60);
    let repeated = lines.iter().filter(|other| other.line == s.line && other.file == s.file).count() > 1;
    let (what, name) = match (&s.module, &s.via) {
        (Some(module), _) => ("module", module),
        (None, Some(via)) => ("via", via),
        (None, None) => return text,
    };
    let name = words::printable(name, 60);
    if repeated { format!("{name}: {text}") } else { format!("{text} ({what} {name})") }
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

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    #[test]
    fn an_order_that_is_asked_for_has_no_first_row_of_its_own() {
        let mut e = examples::program();
        let shown = e.summary.shown_gpu.clone().unwrap();
        e.estimates.rotate_left(1);
        let first = |e: &Estimate| shown_first(e).next().unwrap().gpu.clone();
        assert_eq!(first(&e), shown);
        e.options = serde_json::json!({"sort": "cost"});
        assert_eq!(first(&e), e.estimates[0].gpu);
    }

    #[test]
    fn imports_that_take_long_have_a_row() {
        let mut e = examples::program();
        let all = e.baseline.time_s.unwrap().p50;
        for (share, at) in [(0.05, None), (0.3, Some(1)), (0.9, Some(0))] {
            e.baseline.startup_s = Some(Interval::exact(share * all));
            let table = sites(&e, 3);
            let (_, rows) = table.cells();
            assert_eq!(rows.iter().position(|row| row[0].1 == "imports"), at, "{share}: {rows:?}");
            assert_eq!(sites(&e, 2).cells().1.len(), 2);
        }
    }

    #[test]
    fn lines_that_are_the_same_begin_with_what_differs() {
        let mut e = examples::program();
        e.sites[1] = e.sites[0].clone();
        e.sites.push(SiteEstimate { line: 99, ..e.sites[0].clone() });
        for (i, module) in ["blocks.0.a", "blocks.1.a", "head"].into_iter().enumerate() {
            e.sites[i].module = Some(module.to_owned());
        }
        let code: Vec<String> = e.sites.iter().map(|s| source(s, &e.sites)).collect();
        let line = "u[1:-1, 1:-1] += k * lap";
        assert_eq!(
            code,
            [format!("blocks.0.a: {line}"), format!("blocks.1.a: {line}"), format!("{line} (module head)")]
        );
    }
}
