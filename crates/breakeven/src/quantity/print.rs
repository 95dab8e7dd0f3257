//! Quantities printed for people: at most three significant digits, the unit chosen for the reader.

use crate::units::{Bytes, BytesPerSec, Flop, FlopPerSec, GramsCo2, Hertz, Seconds, Usd, UsdPerHour, WattHours, Watts};

const SI: [(&str, f64); 8] =
    [("Z", 1e21), ("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];
const BINARY: [(&str, f64); 5] =
    [("TiB", 1_099_511_627_776.0), ("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)];

/// `800 GFLOP`.
pub fn format_flop(x: Flop) -> String {
    si(x.get(), "FLOP")
}

/// `12.5 TFLOP/s`.
pub fn format_flop_per_sec(x: FlopPerSec) -> String {
    si(x.get(), "FLOP/s")
}

/// Powers of 1000: `1.05 GB`.
pub fn format_bytes(x: Bytes) -> String {
    si(x.get(), "B")
}

/// Powers of 1024: `3.73 GiB`.
pub fn format_bytes_binary(x: Bytes) -> String {
    scaled(x.get(), &BINARY, "")
}

/// `16 GB/s`.
pub fn format_bytes_per_sec(x: BytesPerSec) -> String {
    si(x.get(), "B/s")
}

/// `12 µs`, `500 ms`, `250 s`, `41.7 min`, `3.5 h`, `12 d`: seconds up to ten minutes, minutes up to two hours, hours
/// up to three days.
pub fn format_seconds(x: Seconds) -> String {
    let s = x.get();
    match unit_of_seconds(s) {
        _ if s == 0.0 => "0 s".to_owned(),
        86_400.0 => scaled(s, &[("d", 86_400.0)], ""),
        3600.0 => scaled(s, &[("h", 3600.0)], ""),
        60.0 => scaled(s, &[("min", 60.0)], ""),
        _ => scaled(s, &[("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)], ""),
    }
}

/// The unit that a time is printed in, s: a day, an hour, a minute, or one of the decimal ones.
pub(crate) fn unit_of_seconds(s: f64) -> f64 {
    match s {
        _ if s >= 259_200.0 => 86_400.0,
        _ if s >= 7200.0 => 3600.0,
        _ if s >= 600.0 => 60.0,
        _ => 1.0,
    }
}

/// `320 W`.
pub fn format_watts(x: Watts) -> String {
    scaled(x.get(), &[("GW", 1e9), ("MW", 1e6), ("kW", 1e3), ("W", 1.0)], "")
}

/// `0.12 Wh`.
pub fn format_watt_hours(x: WattHours) -> String {
    scaled(x.get(), &[("MWh", 1e6), ("kWh", 1e3), ("Wh", 1.0)], "")
}

/// `1.41 GHz`.
pub fn format_hertz(x: Hertz) -> String {
    si(x.get(), "Hz")
}

/// `58 %`.
pub fn format_fraction(share: f64) -> String {
    format!("{} %", plain(significant(share * 100.0, 3)))
}

/// A factor to two digits below ten thousand (`19×`, `6.2×`, `0.49×`), to three beyond.
pub fn format_ratio(x: f64) -> String {
    format!("{}×", plain(significant(x, if x < 100.0 { 2 } else { 3 })))
}

/// Whole cents from a dollar on, whole dollars from a thousand on, two digits below a dollar.
pub fn format_usd(x: Usd) -> String {
    let usd = x.get();
    match usd {
        _ if usd >= 999.5 => format!("${}", grouped(usd)),
        _ if usd >= 0.995 => format!("${usd:.2}"),
        _ => format!("${}", plain(significant(usd, 2))),
    }
}

/// `$1.20/h`.
pub fn format_usd_per_hour(x: UsdPerHour) -> String {
    format!("{}/h", format_usd(Usd(x.get())))
}

/// USD/kWh as `$0.12/kWh`.
pub fn format_usd_per_kwh(x: f64) -> String {
    format!("{}/kWh", format_usd(Usd(x)))
}

/// `35 g`.
pub fn format_grams_co2(x: GramsCo2) -> String {
    scaled(x.get(), &[("t", 1e6), ("kg", 1e3), ("g", 1.0), ("mg", 1e-3)], "")
}

/// g of CO₂ equivalent per kWh as `400 g/kWh`.
pub fn format_grams_per_kwh(x: f64) -> String {
    format!("{} g/kWh", plain(significant(x, 3)))
}

/// Whole, digits in groups of three from ten thousand on: `40 000`.
pub fn format_count(n: f64) -> String {
    if n < 10_000.0 { format!("{n:.0}") } else { grouped(n) }
}

fn si(x: f64, unit: &str) -> String {
    scaled(x, &SI, unit)
}

/// `x` in the first of `units` (largest first) in which it is at least 1; in the last one otherwise.
fn scaled(x: f64, units: &[(&str, f64)], suffix: &str) -> String {
    let fitting = units.iter().find(|(_, factor)| significant(x / factor, 3) >= 1.0);
    let zero = if x == 0.0 { units.iter().find(|(_, factor)| *factor == 1.0) } else { None };
    match fitting.or(zero).or(units.last()) {
        Some((name, factor)) => format!("{} {name}{suffix}", plain(significant(x / factor, 3))),
        None => plain(x),
    }
}

/// `x` to so many significant digits, at least one: through decimal text, so that it rounds as a reader would.
pub fn significant(x: f64, digits: usize) -> f64 {
    format!("{:.*e}", digits - 1, x).parse().unwrap_or(x)
}

/// The shortest digits; with an exponent only beyond what a reader can count.
fn plain(x: f64) -> String {
    if x == 0.0 || (1e-6..1e6).contains(&x) { x.to_string() } else { format!("{x:e}") }
}

/// Whole, in groups of three.
fn grouped(x: f64) -> String {
    if x >= 1e15 {
        return plain(significant(x, 3));
    }
    let digits = format!("{x:.0}");
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}
