//! Numbers as people read them: two or three digits, the unit that fits, never more than is known.

use crate::interval::Interval;

/// What stands where a figure is not known.
pub const UNKNOWN: &str = "?";

/// Two digits below 10, whole numbers above, thousands apart: `4.3`, `19`, `1 234`.
///
/// ```
/// use breakeven::report::words::number;
/// assert_eq!([number(4.31), number(9.96), number(19.23), number(1234.4)], ["4.3", "10", "19", "1 234"]);
/// ```
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    if x.abs() >= 1e15 {
        return format!("{x:.1e}");
    }
    if x.abs() < 9.95 {
        return format!("{x:.1}");
    }
    group(&format!("{x:.0}"))
}

/// A count, thousands apart by a space.
///
/// ```
/// assert_eq!(breakeven::report::words::count(40_000), "40 000");
/// ```
pub fn count(n: u64) -> String {
    group(&n.to_string())
}

fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 3 {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// A ratio of times: `19×`, `4.3×`, `0.49×`.
///
/// ```
/// use breakeven::report::words::times;
/// assert_eq!([times(19.23), times(4.31), times(0.492)], ["19×", "4.3×", "0.49×"]);
/// ```
pub fn times(x: f64) -> String {
    format!("{}×", ratio(x))
}

fn ratio(x: f64) -> String {
    if x > 0.0 && x < 0.995 { significant(x, 2) } else { number(x) }
}

/// A duration in s, in the unit that fits: `31 ms`, `1.3 s`, `4.2 min`.
///
/// ```
/// use breakeven::report::words::seconds;
/// assert_eq!([seconds(1.3), seconds(0.508), seconds(0.9996), seconds(250.0)], ["1.3 s", "508 ms", "1.0 s", "4.2 min"]);
/// ```
pub fn seconds(x: f64) -> String {
    const UNITS: &[(f64, &str, f64)] = &[
        (1e-9, "ns", 999.5),
        (1e-6, "µs", 999.5),
        (1e-3, "ms", 999.5),
        (1.0, "s", 119.5),
        (60.0, "min", 119.5),
        (3600.0, "h", 47.5),
    ];
    if x == 0.0 {
        return "0 s".to_owned();
    }
    scaled(x, UNITS, (86_400.0, "d"))
}

/// An amount of data in decimal units: `1.0 GB`.
pub fn bytes(x: f64) -> String {
    const UNITS: &[(f64, &str, f64)] =
        &[(1.0, "B", 999.5), (1e3, "kB", 999.5), (1e6, "MB", 999.5), (1e9, "GB", 999.5), (1e12, "TB", 999.5)];
    whole_or_scaled(x, "B", UNITS, (1e15, "PB"))
}

/// A memory footprint in binary units, as device memory is sold: `3.7 GiB`.
pub fn memory(x: f64) -> String {
    const K: f64 = 1024.0;
    const UNITS: &[(f64, &str, f64)] =
        &[(1.0, "B", 1023.5), (K, "KiB", 1023.5), (K * K, "MiB", 1023.5), (K * K * K, "GiB", 1023.5)];
    whole_or_scaled(x, "B", UNITS, (K * K * K * K, "TiB"))
}

/// An amount of arithmetic: `16 GFLOP`.
pub fn flop(x: f64) -> String {
    const UNITS: &[(f64, &str, f64)] = &[
        (1.0, "FLOP", 999.5),
        (1e3, "kFLOP", 999.5),
        (1e6, "MFLOP", 999.5),
        (1e9, "GFLOP", 999.5),
        (1e12, "TFLOP", 999.5),
        (1e15, "PFLOP", 999.5),
    ];
    whole_or_scaled(x, "FLOP", UNITS, (1e18, "EFLOP"))
}

/// A rate of arithmetic: `8.1 TFLOP/s`.
pub fn flop_per_s(x: f64) -> String {
    format!("{}/s", flop(x))
}

/// A rate of data: `320 GB/s`.
pub fn bytes_per_s(x: f64) -> String {
    format!("{}/s", bytes(x))
}

/// Energy in Wh: `0.12 Wh`, `4.0 mWh`, `1.2 kWh`.
///
/// ```
/// use breakeven::report::words::watt_hours;
/// assert_eq!([watt_hours(0.1156), watt_hours(0.004), watt_hours(1234.0)], ["0.12 Wh", "4.0 mWh", "1.2 kWh"]);
/// ```
pub fn watt_hours(x: f64) -> String {
    if (0.0995..0.995).contains(&x) {
        return format!("{x:.2} Wh");
    }
    scaled(x, &[(1e-6, "µWh", 999.5), (1e-3, "mWh", 999.5), (1.0, "Wh", 999.5), (1e3, "kWh", 999.5)], (1e6, "MWh"))
}

/// Carbon in g: `45 mg`, `1.2 kg`.
pub fn grams(x: f64) -> String {
    scaled(x, &[(1e-6, "µg", 999.5), (1e-3, "mg", 999.5), (1.0, "g", 999.5), (1e3, "kg", 999.5)], (1e6, "t"))
}

/// Money: four decimals below a cent (one digit where even that is 0), three below ten cents, else cents.
///
/// ```
/// use breakeven::report::words::usd;
/// assert_eq!([usd(0.000_09), usd(0.000_018), usd(0.0123), usd(3.2), usd(12_345.6)], ["$0.0001", "$0.00002", "$0.012", "$3.20", "$12 346"]);
/// ```
pub fn usd(x: f64) -> String {
    match x {
        x if !x.is_finite() => UNKNOWN.to_owned(),
        0.0 => "$0".to_owned(),
        x if x < 0.000_001 => "<$0.000001".to_owned(),
        x if x < 0.000_05 => format!("${}", significant(x, 1)),
        x if x < 0.01 => format!("${x:.4}"),
        x if x < 0.1 => format!("${x:.3}"),
        x if x < 999.995 => format!("${x:.2}"),
        x => format!("${}", number(x)),
    }
}

/// A price by the hour: `$0.80/h`.
pub fn usd_per_h(x: f64) -> String {
    format!("{}/h", usd(x))
}

/// A share, 0–1: `58 %`; `<1 %` and `>99 %` rather than a rounded nothing or all.
///
/// ```
/// use breakeven::report::words::percent;
/// assert_eq!([percent(0.58), percent(0.001), percent(0.998), percent(1.0)], ["58 %", "<1 %", ">99 %", "100 %"]);
/// ```
pub fn percent(x: f64) -> String {
    match x {
        x if !x.is_finite() => UNKNOWN.to_owned(),
        x if x > 0.0 && x < 0.005 => "<1 %".to_owned(),
        x if (0.995..1.0).contains(&x) => ">99 %".to_owned(),
        x => format!("{:.0} %", x * 100.0),
    }
}

/// The middle of an interval in words.
pub fn p50(interval: Option<Interval>, word: fn(f64) -> String) -> String {
    interval.map_or_else(|| UNKNOWN.to_owned(), |i| word(i.p50))
}

/// `6.2× [4.8–7.9]`; the brackets go when the interval is narrower than the digits shown.
///
/// ```
/// use breakeven::{interval::Interval, report::words::speedup};
/// assert_eq!(speedup(Interval { p10: 4.8, p50: 6.2, p90: 7.94 }), "6.2× [4.8–7.9]");
/// assert_eq!(speedup(Interval::exact(19.23)), "19×");
/// ```
pub fn speedup(i: Interval) -> String {
    times(i.p50) + &range(i)
}

/// ` [4.8–7.9]` of a ratio, or nothing when both ends print the same.
pub fn range(i: Interval) -> String {
    let (low, high) = (ratio(i.p10), ratio(i.p90));
    if low == high { String::new() } else { format!(" [{low}–{high}]") }
}

/// `names` of other people's making, made harmless: control characters, direction marks and invisible characters
/// become `�`; more than `max` characters end in `…`.
///
/// ```
/// use breakeven::report::words::printable;
/// assert_eq!(printable("a\u{1b}[31mb\nc", 80), "a�[31mb�c");
/// assert_eq!(printable("abcdef", 4), "abc…");
/// ```
pub fn printable(name: &str, max: usize) -> String {
    let mut out: String = name.chars().take(max).map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect();
    if name.chars().nth(max).is_some() {
        out.pop();
        out.push('…');
    }
    out
}

fn harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `digits` significant digits of a number between 0 and 1, without an exponent.
fn significant(x: f64, digits: usize) -> String {
    let mut decimals = digits;
    let mut limit = 0.1;
    while x < limit && decimals < 12 {
        limit /= 10.0;
        decimals += 1;
    }
    format!("{x:.decimals$}")
}

fn scaled(x: f64, units: &[(f64, &str, f64)], last: (f64, &str)) -> String {
    if !x.is_finite() {
        return UNKNOWN.to_owned();
    }
    let fit = units.iter().find(|(size, _, below)| x.abs() / size < *below);
    let (size, unit) = fit.map_or(last, |(size, unit, _)| (*size, *unit));
    let sized = x / size;
    if sized.abs() > 0.0 && sized.abs() < 0.05 {
        return format!("<0.1 {unit}");
    }
    format!("{} {unit}", number(sized))
}

/// As [`scaled`], but whole counts of the base unit have no decimals: `0 B`, `12 B`.
fn whole_or_scaled(x: f64, base: &str, units: &[(f64, &str, f64)], last: (f64, &str)) -> String {
    if x.abs() < 10.0 && x == x.floor() { format!("{x:.0} {base}") } else { scaled(x, units, last) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_that_fit() {
        let words = [bytes(1e9), bytes(0.0), bytes(12.0), memory(4e9), flop(1.6e10), flop(206.6e9), flop(1e19)];
        assert_eq!(words, ["1.0 GB", "0 B", "12 B", "3.7 GiB", "16 GFLOP", "207 GFLOP", "10 EFLOP"]);
        assert_eq!([seconds(0.0), seconds(31.25e-3), seconds(3e-10), seconds(1e6)], ["0 s", "31 ms", "0.3 ns", "12 d"]);
        assert_eq!([grams(0.0451), grams(1200.0)], ["45 mg", "1.2 kg"]);
        assert_eq!([flop_per_s(8.1e12), bytes_per_s(320e9)], ["8.1 TFLOP/s", "320 GB/s"]);
    }

    #[test]
    fn what_is_not_a_number_is_unknown() {
        for word in [seconds, bytes, flop, usd, watt_hours, percent, number] {
            assert_eq!(word(f64::NAN), UNKNOWN);
            assert_eq!(word(f64::INFINITY), UNKNOWN);
        }
    }

    #[test]
    fn direction_marks_do_not_reach_the_terminal() {
        assert_eq!(printable("x\u{202e}gpj.exe\u{2066}", 80), "x\u{fffd}gpj.exe\u{fffd}");
        assert_eq!(printable("日本語", 80), "日本語");
    }

    proptest! {
        #[test]
        fn no_positive_figure_prints_as_nothing(x in prop::num::f64::POSITIVE) {
            prop_assume!(x.is_normal() && x < 1e300);
            for word in [seconds, bytes, flop, usd, watt_hours, grams] {
                let text = word(x);
                let digits = text.chars().any(|c| c.is_ascii_digit() && c != '0');
                prop_assert!(digits, "{x:e} printed as {text}");
            }
        }

        #[test]
        fn printable_keeps_to_its_length(name in "\\PC{0,40}|.{0,40}", max in 1usize..30) {
            let out = printable(&name, max);
            prop_assert!(out.chars().count() <= max);
            prop_assert!(!out.chars().any(harmful));
        }
    }
}
