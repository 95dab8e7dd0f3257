//! Unit texts and their factors to the base unit.

use super::{Measure, number};

const PREFIXES: [(&str, &str, f64); 8] = [
    ("k", "kilo", 1e3),
    ("m", "mega", 1e6),
    ("g", "giga", 1e9),
    ("t", "tera", 1e12),
    ("p", "peta", 1e15),
    ("e", "exa", 1e18),
    ("z", "zetta", 1e21),
    ("y", "yotta", 1e24),
];

/// `GB per second` → `GB/second`; no spaces.
pub(super) fn normalise(unit: &str) -> String {
    unit.replace(" per ", "/").split_whitespace().collect()
}

/// What one `unit` is in the base unit of `measure`; `None` when it is none of its units.
pub(super) fn factor(measure: Measure, unit: &str) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    match measure {
        Measure::Flop => prefixed(&lower, &["flops", "flop", "ops", "op", ""]),
        Measure::FlopPerSec => match lower.split_once('/') {
            Some((flop, "s" | "sec" | "second")) => prefixed(flop, &["flops", "flop", "ops", "op"]),
            Some(_) => None,
            None => prefixed(&lower, &["flops", "ops"]),
        },
        Measure::Bytes => bytes(unit),
        Measure::BytesPerSec => match unit.split_once('/') {
            Some((data, "s" | "S" | "sec" | "second")) => bytes(data),
            _ => None,
        },
        Measure::Seconds => time(&lower),
        Measure::Watts => watts(unit.strip_suffix("att").or(unit.strip_suffix("atts")).unwrap_or(unit)),
        Measure::WattHours => watts(unit.strip_suffix('h')?),
        Measure::Hertz => lower.strip_suffix("hz").and_then(decimal_prefix),
        Measure::Fraction => (unit == "%").then_some(0.01),
        Measure::Ratio => match unit {
            "%" => Some(0.01),
            "x" | "×" => Some(1.0),
            _ => None,
        },
        Measure::Usd => money(&lower),
        Measure::UsdPerHour => match lower.split_once('/') {
            Some((usd, per)) => Some(money(usd)? * 3600.0 / time(per)?),
            None => money(&lower),
        },
        Measure::UsdPerKwh => {
            let (usd, per) = unit.split_once('/')?;
            Some(money(&usd.to_ascii_lowercase())? * 1000.0 / watts(per.strip_suffix('h')?)?)
        }
        Measure::GramsCo2 => mass(&lower),
        Measure::GramsPerKwh => {
            let (grams, per) = unit.split_once('/')?;
            Some(mass(&grams.to_ascii_lowercase())? * 1000.0 / watts(per.strip_suffix('h')?)?)
        }
        Measure::Count => match lower.as_str() {
            "k" | "m" | "g" | "t" => decimal_prefix(&lower),
            "thousand" => Some(1e3),
            "mn" | "million" => Some(1e6),
            "b" | "bn" | "billion" => Some(1e9),
            "trillion" => Some(1e12),
            _ => None,
        },
    }
}

/// `Gb`, `Mb/s`, `Gbps`: written like bits, often meant as bytes.
pub(super) fn bit_or_byte(unit: &str) -> bool {
    let data = unit.split('/').next().unwrap_or(unit);
    let data = data.strip_suffix("ps").unwrap_or(data);
    let mut chars = data.chars();
    matches!((chars.next(), chars.as_str()), (Some('k' | 'K' | 'M' | 'G' | 'T' | 'P' | 'g' | 'm' | 't'), "b"))
}

/// A decimal prefix (or none) before one of the stems, all in lower case. A bare `e` reads as a broken exponent.
fn prefixed(lower: &str, stems: &[&str]) -> Option<f64> {
    stems.iter().find_map(|stem| match lower.strip_suffix(stem)? {
        "e" if stem.is_empty() => None,
        prefix => decimal_prefix(prefix),
    })
}

fn decimal_prefix(lower: &str) -> Option<f64> {
    if lower.is_empty() {
        return Some(1.0);
    }
    PREFIXES.iter().find(|(short, word, _)| lower == *short || lower == *word).map(|&(_, _, factor)| factor)
}

/// `GB`, `gb`, `GiB`, `gigabytes`, `G`, `Gbit`; not `Gb`, which may mean either.
fn bytes(unit: &str) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    if let Some(prefix) = lower.strip_suffix("bits").or(lower.strip_suffix("bit")) {
        return decimal_prefix(prefix).map(|factor| factor / 8.0);
    }
    if unit.ends_with('b') && unit != lower {
        return None;
    }
    let prefix = ["bytes", "byte", "b", ""].iter().find_map(|stem| lower.strip_suffix(stem))?;
    match prefix.strip_suffix('i') {
        Some(short) => {
            let power = PREFIXES.iter().position(|&(p, _, _)| p == short)?;
            Some((0..=power).fold(1.0, |factor, _| factor * 1024.0))
        }
        None if lower == "e" => None,
        None => decimal_prefix(prefix),
    }
}

fn time(lower: &str) -> Option<f64> {
    Some(match lower {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// Seconds of a duration in parts, each in a smaller unit than the one before: `1h30m`, `2 d 4 h`, `90m`. `None` where it
/// is none. Here `m` are minutes.
pub(super) fn duration(text: &str) -> Option<f64> {
    let text = number::normalise(&text.to_ascii_lowercase());
    let (mut rest, mut seconds, mut last) = (text.trim(), 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let (value, tail) = number::read(rest).ok()?;
        let tail = tail.trim_start();
        let (unit, after) = tail.split_at(tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len()));
        let unit = if unit == "m" { 60.0 } else { time(unit)? };
        if unit >= last {
            return None;
        }
        (seconds, last, rest) = (seconds + value * unit, unit, after.trim_start());
    }
    Some(seconds).filter(|sum| last.is_finite() && sum.is_finite())
}

/// Case matters here alone: mW and MW are nine powers of ten apart.
fn watts(unit: &str) -> Option<f64> {
    Some(match unit {
        "mW" => 1e-3,
        "W" | "w" => 1.0,
        "kW" | "KW" | "kw" => 1e3,
        "MW" => 1e6,
        "GW" => 1e9,
        _ => return None,
    })
}

fn money(lower: &str) -> Option<f64> {
    Some(match lower {
        "$" | "us$" | "usd" | "dollar" | "dollars" => 1.0,
        "ct" | "cts" | "cent" | "cents" | "¢" => 0.01,
        _ => return None,
    })
}

fn mass(lower: &str) -> Option<f64> {
    let mass = ["co2eq", "co2e", "co2", "co₂"].iter().find_map(|gas| lower.strip_suffix(gas)).unwrap_or(lower);
    Some(match mass {
        "mg" => 1e-3,
        "g" => 1.0,
        "kg" => 1e3,
        "t" => 1e6,
        _ => return None,
    })
}
