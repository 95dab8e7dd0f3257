//! Numbers as people read them: two digits of what is uncertain, three of what is known, in the unit that fits.

use crate::interval::Interval;
use crate::quantity::{self as print, Measure};
use crate::units::{Bytes, Flop, GramsCo2, Seconds, WattHours};

/// What stands where a figure is not known.
pub const UNKNOWN: &str = "?";

/// A duration in s: `31.3 ms`, `1.3 s`, `41.7 min`.
pub fn seconds(x: f64) -> String {
    known(x, |x| if 0.0 < x && x < 5e-10 { "<1 ns".to_owned() } else { print::format_seconds(Seconds(x)) })
}

/// A point in time, s, to a hundredth of the window of `width` seconds that it lies in.
///
/// ```
/// use breakeven::report::words::moment;
/// assert_eq!([moment(1.234_567_8, 1e-4), moment(0.02, 1.0), moment(0.0, 1.0)], ["1.234568 s", "20 ms", "0 s"]);
/// ```
pub fn moment(at: f64, width: f64) -> String {
    known(at, |at| {
        let (unit, name) = match at {
            at if at >= 1.0 || at <= 0.0 => (1.0, "s"),
            at if at >= 1e-3 => (1e-3, "ms"),
            _ => (1e-6, "µs"),
        };
        let digits = libm::ceil(libm::log10(unit * 100.0 / width.max(1e-12))).clamp(0.0, 12.0);
        if at <= 0.0 { "0 s".to_owned() } else { format!("{:.*} {name}", digits as usize, at / unit) }
    })
}

/// The middle of an uncertain duration, s.
///
/// ```
/// use breakeven::{interval::Interval, report::words::time};
/// assert_eq!(time(Interval::exact(0.508)), "508 ms");
/// assert_eq!(time(Interval { p10: 0.4, p50: 0.508, p90: 0.6 }), "510 ms");
/// ```
///
/// ```
/// use breakeven::{interval::Interval, report::words::time};
/// assert_eq!(time(Interval::log_normal(21.4 * 86_400.0, 0.3)), "21 d");
/// ```
pub fn time(i: Interval) -> String {
    // The digits that are known are those of the unit: 210 000 s would be 58.3 h.
    let unit = print::unit_of_seconds(i.p50);
    seconds(middle(i.scale(1.0 / unit)) * unit)
}

/// An amount of data: `1.05 GB`.
pub fn bytes(x: f64) -> String {
    known(x, |x| print::format_bytes(Bytes(x)))
}

/// A memory footprint, as device memory is sold: `3.73 GiB`.
pub fn memory(x: f64) -> String {
    known(x, |x| print::format_bytes_binary(Bytes(x)))
}

/// An amount of arithmetic: `16 GFLOP`.
pub fn flop(x: f64) -> String {
    known(x, |x| print::format_flop(Flop(x)))
}

/// An amount of arithmetic to four digits, for figures that people check by hand: `206.6 GFLOP`.
pub fn flop_precise(x: f64) -> String {
    let sizes = [(1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP")];
    let (size, unit) = sizes.into_iter().find(|(size, _)| x >= *size).unwrap_or((1.0, "FLOP"));
    format!("{} {unit}", significant_digits(x / size, 4))
}

/// A rate of arithmetic: `12.5 TFLOP/s`.
pub fn flop_per_s(x: f64) -> String {
    known(x, |x| Measure::FlopPerSec.format(x))
}

/// A memory bandwidth: `760 GB/s`.
pub fn bytes_per_s(x: f64) -> String {
    known(x, |x| Measure::BytesPerSec.format(x))
}

/// Operational intensity: `12.5 FLOP/B`.
///
/// ```
/// use breakeven::report::words::flop_per_byte;
/// assert_eq!([flop_per_byte(0.083_33), flop_per_byte(39.2), flop_per_byte(1e4)], ["0.083 FLOP/B", "39 FLOP/B", "10 000 FLOP/B"]);
/// ```
pub fn flop_per_byte(x: f64) -> String {
    known(x, |x| match print::significant(x, 2) {
        x if x >= 10_000.0 => format!("{} FLOP/B", print::format_count(x)),
        x if x >= 0.001 => format!("{x} FLOP/B"),
        x => format!("{x:e} FLOP/B"),
    })
}

/// `digits` significant digits of a number from 1 to 1000, trailing zeros dropped.
fn significant_digits(x: f64, digits: usize) -> String {
    let whole = if x >= 100.0 {
        3
    } else if x >= 10.0 {
        2
    } else {
        1
    };
    let text = format!("{x:.*}", digits.saturating_sub(whole));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A plain number to three digits: `0.25`, `2.31`, `500`.
pub fn number(x: f64) -> String {
    known(x, |x| format!("{}", print::significant(x, 3)))
}

/// A count with its noun: `1 chain`, `40 000 chains`.
pub fn several(n: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { more })
}

/// What start-up is weighed against: `; warm it would be 3.3×`. Nothing where the CPU's time without it is not known.
pub fn warm(speedup: f64) -> String {
    if speedup > 0.0 { format!("; warm it would be {}", times(speedup)) } else { String::new() }
}

/// A count: `40 000`.
pub fn count(n: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "printed to three digits beyond 2⁵³")]
    print::format_count(n as f64)
}

/// The middle of an energy in Wh: `0.12 Wh`.
pub fn energy(i: Interval) -> String {
    known(i.p50, |x| print::format_watt_hours(WattHours(print::significant(x, 2))))
}

/// The middle of an emission in g of CO₂ equivalent: `45 mg`.
pub fn carbon(i: Interval) -> String {
    known(i.p50, |x| print::format_grams_co2(GramsCo2(print::significant(x, 2))))
}

/// Money: two digits below a dollar, then cents, then whole dollars.
///
/// ```
/// use breakeven::report::words::usd;
/// assert_eq!([usd(0.000_091), usd(0.0123), usd(0.1), usd(3.2)], ["$0.000091", "$0.012", "$0.10", "$3.20"]);
/// ```
pub fn usd(x: f64) -> String {
    known(x, |x| match x {
        0.0 => "$0".to_owned(),
        x if x < 0.000_001 => "<$0.000001".to_owned(),
        x if (0.095..999.0).contains(&x) => format!("${x:.2}"),
        x => print::format_usd(crate::units::Usd(x)),
    })
}

/// What a run costs: `$3.20 per run`, `$0.16 per 1 000 runs` where one costs less than a cent.
///
/// ```
/// use breakeven::{interval::Interval, report::words::cost};
/// assert_eq!(cost(Interval::exact(3.2)), "$3.20 per run");
/// assert_eq!(cost(Interval::exact(0.000_16)), "$0.16 per 1 000 runs");
/// ```
pub fn cost(i: Interval) -> String {
    let (runs, per) = runs_of(i.p50);
    format!("{} per {per}", usd(i.p50 * runs))
}

/// How many runs costs are told for, and in words, where the least of those compared is so much for one.
pub fn runs_of(usd: f64) -> (f64, &'static str) {
    if usd > 0.0 && usd < 0.01 { (1000.0, "1 000 runs") } else { (1.0, "run") }
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
    known(x, |x| match x {
        x if x > 0.0 && x < 0.005 => "<1 %".to_owned(),
        x if (0.995..1.0).contains(&x) => ">99 %".to_owned(),
        x => format!("{:.0} %", x * 100.0),
    })
}

/// A part of a whole that stands beside others: rounded down, so that the parts never add up to more than 100 %.
///
/// ```
/// use breakeven::report::words::share;
/// assert_eq!([share(0.589), share(0.001), share(0.998), share(1.0)], ["58 %", "<1 %", ">99 %", "100 %"]);
/// ```
pub fn share(x: f64) -> String {
    // 0.29 × 100 is a little less than 29.
    if (0.01..0.99).contains(&x) { percent(libm::floor(x * 100.0 + 1e-9) / 100.0) } else { percent(x.min(1.0)) }
}

/// A ratio of times: `19×`, `2.0×`, `0.49×`.
pub fn times(x: f64) -> String {
    known(x, |x| if (0.995..9.95).contains(&x) { format!("{x:.1}×") } else { print::format_ratio(x) })
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
    let (low, high) = (times(i.p10), times(i.p90));
    if low == high {
        String::new()
    } else {
        format!(" [{}–{}]", low.trim_end_matches('×'), high.trim_end_matches('×'))
    }
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

/// The middle, to as many digits as it is known to.
pub(super) fn middle(i: Interval) -> f64 {
    if i.p10 == i.p90 { print::significant(i.p50, 3) } else { two_digits(i.p50) }
}

/// Two significant digits.
pub(super) fn two_digits(x: f64) -> f64 {
    print::significant(x, 2)
}

fn known(x: f64, word: impl Fn(f64) -> String) -> String {
    if x.is_finite() { word(x) } else { UNKNOWN.to_owned() }
}

/// A remark of the engine as a sentence among others.
pub fn as_sentence(text: &str) -> String {
    let mut chars = text.trim_end_matches('.').chars();
    let first: String = chars.next().map(|first| first.to_ascii_uppercase()).into_iter().collect();
    format!("{first}{}.", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_number_is_unknown() {
        for word in [seconds, bytes, memory, flop, usd, percent, times, flop_per_s, bytes_per_s, flop_per_byte] {
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
            for word in [seconds, bytes, memory, flop, usd, times, flop_per_s, bytes_per_s, flop_per_byte] {
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
