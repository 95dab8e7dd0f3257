//! The figures of a column, all in one unit.

use super::words;
use crate::interval::Interval;

/// A unit's name and what it is in the base unit.
type Unit = (&'static str, f64);

pub(super) const TIMES: &[Unit] =
    &[("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
pub(super) const ENERGIES: &[Unit] = &[("MWh", 1e6), ("kWh", 1e3), ("Wh", 1.0), ("mWh", 1e-3), ("µWh", 1e-6)];
pub(super) const MASSES: &[Unit] = &[("t", 1e6), ("kg", 1e3), ("g", 1.0), ("mg", 1e-3), ("µg", 1e-6)];
const MEMORY: f64 = (1_u64 << 30) as f64;

/// `time, ms`, and the figures in that unit: the one in which the column is the narrowest.
pub(super) fn column(name: &str, units: &[Unit], figures: &[Option<Interval>]) -> (String, Vec<String>) {
    let cells = |size: f64| figures.iter().map(move |i| cell(i.map(|i| words::middle(i.scale(1.0 / size)))));
    let width = |unit: &&Unit| {
        let widths = cells(unit.1).map(|cell| cell.chars().count());
        let largest = figures.iter().flatten().map(|i| i.p50).fold(0.0, f64::max);
        // Short counts of huge numbers (`1.8e19`) are narrow, and no unit to read a time in. Of two as narrow ones 6.1 s says more
        // than 0.1 min.
        let beyond = libm::log10((largest / unit.1).max(1.0) * 1e-6).ceil().max(0.0) as u32;
        (beyond, widths.clone().max(), widths.sum::<usize>(), largest < unit.1)
    };
    let (unit, size) = units.iter().min_by_key(width).copied().unwrap_or(("", 1.0));
    (format!("{name}, {unit}"), cells(size).collect())
}

/// `$/run`, and what each costs; by 1 000 runs where one run costs less than a cent.
pub(super) fn costs(figures: &[Option<Interval>]) -> (String, Vec<String>) {
    let least = figures.iter().flatten().map(|cost| cost.p50).filter(|usd| *usd > 0.0).reduce(f64::min);
    let (runs, per) = words::runs_of(least.unwrap_or(1.0));
    (format!("$/{per}"), figures.iter().map(|i| dollars(i.map(|i| i.p50 * runs))).collect())
}

/// Money without its sign.
pub(super) fn dollars(usd: Option<f64>) -> String {
    usd.map_or_else(|| words::UNKNOWN.to_owned(), |usd| words::usd(usd).replacen('$', "", 1))
}

/// `9.1 of 24`, GiB: what is needed of what there is.
pub(super) fn memory(needs: Option<f64>, has: Option<f64>) -> String {
    match (needs, has) {
        (Some(needs), Some(has)) => {
            format!("{} of {}", cell(Some(words::two_digits(needs / MEMORY))), words::number(has / MEMORY))
        }
        _ => words::UNKNOWN.to_owned(),
    }
}

fn cell(figure: Option<f64>) -> String {
    match figure {
        Some(x) if x.is_finite() && x >= 10_000.0 => words::count(x as u64),
        Some(x) if x.is_finite() => x.to_string(),
        _ => words::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seconds: &[f64]) -> (String, Vec<String>) {
        let uncertain = |s: f64| Interval { p10: 0.9 * s, p50: s, p90: 1.1 * s };
        column("CPU", TIMES, &seconds.iter().map(|s| Some(uncertain(*s))).chain([None]).collect::<Vec<_>>())
    }

    #[test]
    fn a_column_has_the_unit_that_makes_it_narrow() {
        assert_eq!(
            times(&[1.1, 0.39, 0.000_53]),
            ("CPU, ms".to_owned(), ["1100", "390", "0.53", "?"].map(str::to_owned).to_vec())
        );
        assert_eq!(times(&[25.0, 1.3]).0, "CPU, s");
        assert_eq!(times(&[7200.0, 14_000.0]).0, "CPU, h");
        assert_eq!(times(&[2.1e8, 1.9e11]).0, "CPU, d");
    }

    #[test]
    fn money_is_by_the_run_from_a_cent_on() {
        let costs = |usd: &[f64]| costs(&usd.iter().map(|usd| Some(Interval::exact(*usd))).collect::<Vec<_>>());
        assert_eq!(costs(&[0.002, 0.000_31]), ("$/1 000 runs".to_owned(), vec!["2.00".to_owned(), "0.31".to_owned()]));
        assert_eq!(costs(&[0.02, 3.2]), ("$/run".to_owned(), vec!["0.02".to_owned(), "3.20".to_owned()]));
        assert_eq!(memory(Some(9.1 * MEMORY), Some(24.0 * MEMORY)), "9.1 of 24");
    }
}
