//! Quantities as people type and read them: `10,000 GFLOPS`, `80GiB`, `16GB/s`, `40%`, `$1.20/h`.
//!
//! Reading gives the newtype of [`crate::units`] (or a plain number in the base unit), printing gives at most three
//! significant digits in the unit that suits the reader. What is printed can be typed: `parse(format(x))` is `x` within
//! rounding. A bare number is in the base unit. Nothing negative, infinite or unclear is accepted.
//!
//! ```
//! use breakeven::quantity::{format_flop_per_sec, format_seconds, parse_flop, parse_flop_per_sec};
//! let work = parse_flop("10,000 GFLOPS")?;
//! let rate = parse_flop_per_sec("12.5TFLOP/s")?;
//! assert_eq!(format_seconds(work / rate), "800 ms");
//! assert_eq!(format_flop_per_sec(rate), "12.5 TFLOP/s");
//! # Ok::<(), breakeven::Error>(())
//! ```

mod number;
mod print;
mod unit;

pub(crate) use print::unit_of_seconds;
pub use print::{
    format_bytes, format_bytes_binary, format_bytes_per_sec, format_count, format_flop, format_flop_per_sec,
    format_fraction, format_grams_co2, format_grams_per_kwh, format_hertz, format_ratio, format_seconds, format_usd,
    format_usd_per_hour, format_usd_per_kwh, format_watt_hours, format_watts, significant,
};

use crate::error::{Error, Result};
use crate::request::Typed;
use crate::units::{Bytes, BytesPerSec, Flop, FlopPerSec, GramsCo2, Hertz, Seconds, Usd, UsdPerHour, WattHours, Watts};

/// The least of an input other than 0; the most is as far beyond 1. Products and ratios of several still are numbers.
const LEAST: f64 = 1e-60;

/// What a number measures, and so which units it may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// An amount of computation, FLOP. `FLOPS` is read as its plural.
    Flop,
    /// A rate of computation, FLOP/s. `FLOPS` is read as FLOP/s.
    FlopPerSec,
    /// An amount of data, bytes.
    Bytes,
    /// A data rate, B/s.
    BytesPerSec,
    /// A duration, s.
    Seconds,
    /// Power, W.
    Watts,
    /// Energy, Wh.
    WattHours,
    /// A frequency, Hz.
    Hertz,
    /// A share from 0 to 1.
    Fraction,
    /// A factor, 0 or more; may exceed 1.
    Ratio,
    /// Money, USD.
    Usd,
    /// A price of time, USD/h.
    UsdPerHour,
    /// A price of electricity, USD/kWh.
    UsdPerKwh,
    /// Emissions, g of CO₂ equivalent.
    GramsCo2,
    /// Carbon intensity of a grid, g of CO₂ equivalent per kWh.
    GramsPerKwh,
    /// A whole number of things.
    Count,
}

impl Measure {
    /// Every measure.
    pub const ALL: &'static [Self] = &[
        Self::Flop,
        Self::FlopPerSec,
        Self::Bytes,
        Self::BytesPerSec,
        Self::Seconds,
        Self::Watts,
        Self::WattHours,
        Self::Hertz,
        Self::Fraction,
        Self::Ratio,
        Self::Usd,
        Self::UsdPerHour,
        Self::UsdPerKwh,
        Self::GramsCo2,
        Self::GramsPerKwh,
        Self::Count,
    ];

    /// The measure in words, with its article.
    pub const fn what(self) -> &'static str {
        self.words().0
    }

    /// The units a person may choose from.
    pub const fn units(self) -> &'static str {
        self.words().1
    }

    /// (what it is, units to choose from, how to write it)
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Flop => {
                ("an amount of computation", "FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP", "10,000 GFLOP")
            }
            Self::FlopPerSec => (
                "a rate of computation",
                "FLOP/s, kFLOP/s, MFLOP/s, GFLOP/s, TFLOP/s, PFLOP/s, EFLOP/s",
                "12.5 TFLOP/s",
            ),
            Self::Bytes => (
                "an amount of data",
                "B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)",
                "1.5 GB",
            ),
            Self::BytesPerSec => ("a data rate", "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, Gbit/s", "16 GB/s"),
            Self::Seconds => ("a duration", "ns, us, ms, s, min, h, d", "500 ms"),
            Self::Watts => ("a power", "mW, W, kW, MW", "320 W"),
            Self::WattHours => ("an energy", "mWh, Wh, kWh, MWh", "1.5 kWh"),
            Self::Hertz => ("a frequency", "Hz, kHz, MHz, GHz", "1.41 GHz"),
            Self::Fraction => ("a share", "% or a number from 0 to 1", "40%"),
            Self::Ratio => ("a factor", "a number, ×, %", "0.8"),
            Self::Usd => ("an amount of money", "$, USD, ct", "$1.20"),
            Self::UsdPerHour => ("a price per hour", "$/h, USD/h, $/min, $/s, $/d", "$1.20/h"),
            Self::UsdPerKwh => ("a price of electricity", "$/kWh, USD/kWh, ct/kWh, $/MWh", "$0.12/kWh"),
            Self::GramsCo2 => ("an amount of CO2", "mg, g, kg, t", "35 g"),
            Self::GramsPerKwh => ("a carbon intensity", "g/kWh, kg/kWh, kg/MWh, t/MWh", "400 g/kWh"),
            Self::Count => ("a count", "whole numbers, k, M, G", "10,000"),
        }
    }

    /// Reads `text` into the base unit.
    ///
    /// # Errors
    /// `bad-number`, `bad-unit`, `out-of-range`: each says what was given and what is allowed.
    pub fn parse(self, text: &str) -> Result<f64> {
        let (value, unit) = self.split(text)?;
        if self == Self::Seconds
            && unit::factor(self, &unit).is_none()
            && let Some(seconds) = unit::duration(text)
        {
            return Ok(seconds);
        }
        let factor = if unit.is_empty() { 1.0 } else { self.factor(text, &unit)? };
        // 1/0.001 is 1000 exactly and 0.001 is not: dividing rounds once, so `12 µs` is the same number as 12e-6.
        let scaled = if factor < 1.0 { value / (1.0 / factor) } else { value * factor };
        if !scaled.is_finite() {
            return Err(self.out_of_range(text, "is larger than any number can be"));
        }
        self.check_range(scaled, text)
    }

    /// Prints a number in the base unit for people.
    pub fn format(self, base: f64) -> String {
        match self {
            Self::Flop => format_flop(Flop(base)),
            Self::FlopPerSec => format_flop_per_sec(FlopPerSec(base)),
            Self::Bytes => format_bytes(Bytes(base)),
            Self::BytesPerSec => format_bytes_per_sec(BytesPerSec(base)),
            Self::Seconds => format_seconds(Seconds(base)),
            Self::Watts => format_watts(Watts(base)),
            Self::WattHours => format_watt_hours(WattHours(base)),
            Self::Hertz => format_hertz(Hertz(base)),
            Self::Fraction => format_fraction(base),
            Self::Ratio => format_ratio(base),
            Self::Usd => format_usd(Usd(base)),
            Self::UsdPerHour => format_usd_per_hour(UsdPerHour(base)),
            Self::UsdPerKwh => format_usd_per_kwh(base),
            Self::GramsCo2 => format_grams_co2(GramsCo2(base)),
            Self::GramsPerKwh => format_grams_per_kwh(base),
            Self::Count => format_count(base),
        }
    }

    /// Checks a number that is already in the base unit.
    ///
    /// # Errors
    /// `out-of-range` for what is negative, not finite, or beyond what the measure allows.
    pub fn check(self, value: f64) -> Result<f64> {
        let text = value.to_string();
        if !value.is_finite() {
            return Err(self.out_of_range(&text, "is not a finite number"));
        }
        if value < 0.0 {
            return Err(self.out_of_range(&text, "is negative"));
        }
        self.check_range(value + 0.0, &text)
    }

    /// Reads a number or a text, whichever was given.
    ///
    /// # Errors
    /// As [`Measure::parse`] and [`Measure::check`].
    pub fn read(self, typed: &Typed) -> Result<f64> {
        match typed {
            Typed::Number(value) => self.check(*value),
            Typed::Text(text) => self.parse(text),
        }
    }

    /// As [`Measure::read`], of something that may not be there; an error names its field.
    pub(crate) fn read_field(self, typed: &Option<Typed>, field: &'static str) -> Result<Option<f64>> {
        let read = |typed| match self.read(typed)? {
            x if x == 0.0 || (LEAST..=1.0 / LEAST).contains(&x) => Ok(x),
            x => {
                let message = format!("`{field}` is {x:e}; 0, or {LEAST:e} to {:e}, can be computed with", 1.0 / LEAST);
                Err(Error::new("out-of-range", message).hint(self.hint()))
            }
        };
        typed.as_ref().map(|typed| read(typed).map_err(|e| e.field(field))).transpose()
    }

    /// The number in front and the unit behind it; a currency mark in front of the number joins the unit.
    fn split(self, text: &str) -> Result<(f64, String)> {
        let plain = number::normalise(text);
        let plain = plain.trim();
        let (currency, rest) = match ["US$", "USD", "$"].iter().find_map(|mark| plain.strip_prefix(mark)) {
            Some(rest) => ("$", rest.trim_start()),
            None => ("", plain),
        };
        match number::read(rest) {
            Ok((value, tail)) => Ok((value, format!("{currency}{}", unit::normalise(tail)))),
            Err(number::Problem::Negative) => Err(self.out_of_range(text, "is negative")),
            Err(number::Problem::TooLarge) => Err(self.out_of_range(text, "is larger than any number can be")),
            Err(number::Problem::TooSmall) => Err(self.out_of_range(text, "is too close to zero to be told from it")),
            Err(number::Problem::Empty) if plain.is_empty() => {
                Err(Error::new("bad-number", format!("nothing was given where {} was expected", self.what()))
                    .hint(self.hint()))
            }
            Err(number::Problem::Empty | number::Problem::Separators) => {
                Err(Error::new("bad-number", format!("{} is not a number", quoted(text))).hint(self.hint()))
            }
        }
    }

    fn factor(self, text: &str, unit: &str) -> Result<f64> {
        if let Some(factor) = unit::factor(self, unit) {
            return Ok(factor);
        }
        let given = quoted(text);
        if unit::bit_or_byte(unit) {
            return Err(Error::new("bad-unit", format!("{given}: {} may mean bits or bytes", quoted(unit)))
                .hint("write `GB` for bytes (powers of 1000), `GiB` (powers of 1024) or `Gbit` for bits"));
        }
        let error = match Self::ALL.iter().find(|other| unit::factor(**other, unit).is_some()) {
            Some(other) => format!("{given} is {}; {} is expected: {}", other.what(), self.what(), self.units()),
            None => format!("{given} has the unit {}; {} has {}", quoted(unit), self.what(), self.units()),
        };
        Err(Error::new("bad-unit", error).hint(self.hint()))
    }

    fn check_range(self, value: f64, text: &str) -> Result<f64> {
        match self {
            Self::Fraction if value > 1.0 => {
                let percent = text.contains('%');
                let most = if percent { "100%" } else { "1" };
                let message = format!("{} is more than {most}; a share lies from 0 to 1 (100%)", quoted(text));
                Err(Error::new("out-of-range", message).hint(if value <= 100.0 && !percent {
                    format!("for {value} percent write `{value}%`")
                } else {
                    self.hint()
                }))
            }
            Self::Count if value.fract() != 0.0 => Err(self.out_of_range(text, "is not a whole number")),
            _ => Ok(value),
        }
    }

    fn out_of_range(self, text: &str, why: &str) -> Error {
        Error::new("out-of-range", format!("{} {why}; {} is 0 or more", quoted(text), self.what())).hint(self.hint())
    }

    fn hint(self) -> String {
        let (_, units, example) = self.words();
        let base = units.split([',', ' ']).next().unwrap_or_default();
        match self {
            Self::Fraction | Self::Ratio | Self::Count => format!("write it like `{example}`"),
            Self::Seconds => format!("write it like `{example}`; a bare number is in s"),
            Self::Watts => format!("write it like `{example}`; a bare number is in W"),
            Self::WattHours => format!("write it like `{example}`; a bare number is in Wh"),
            Self::GramsCo2 => format!("write it like `{example}`; a bare number is in g"),
            _ => format!("write it like `{example}`; a bare number is in {base}"),
        }
    }
}

/// `text` between backticks, shortened and harmless.
fn quoted(text: &str) -> String {
    format!("`{}`", crate::report::words::printable(text.trim(), 40))
}

macro_rules! parsers {
    ($($(#[$doc:meta])* $name:ident -> $type:ident by $measure:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// As [`Measure::parse`].
        pub fn $name(text: &str) -> Result<$type> {
            Measure::$measure.parse(text).map($type::from)
        }
    )*};
}
macro_rules! from_base {
    ($($type:ident),*) => {$(
        impl From<f64> for $type {
            fn from(base: f64) -> Self {
                Self(base)
            }
        }
    )*};
}
from_base!(Bytes, BytesPerSec, Flop, FlopPerSec, GramsCo2, Hertz, Seconds, Usd, UsdPerHour, WattHours, Watts);

parsers! {
    /// `10,000 GFLOPS`, `3.5TFLOP`, `1e12`.
    parse_flop -> Flop by Flop,
    /// `12.5TFLOP/s`, `400 GFLOPS`.
    parse_flop_per_sec -> FlopPerSec by FlopPerSec,
    /// `80GiB`, `1GB`, `4000000000`.
    parse_bytes -> Bytes by Bytes,
    /// `16GB/s`, `3.35 TB/s`, `100 Gbit/s`.
    parse_bytes_per_sec -> BytesPerSec by BytesPerSec,
    /// `500ms`, `1.5 h`, `1h30m`, `2`.
    parse_seconds -> Seconds by Seconds,
    /// `320W`, `1.2kW`.
    parse_watts -> Watts by Watts,
    /// `120 Wh`, `1.2kWh`.
    parse_watt_hours -> WattHours by WattHours,
    /// `1.41 GHz`.
    parse_hertz -> Hertz by Hertz,
    /// `40%`, `0.4`: 0 to 1.
    parse_fraction -> f64 by Fraction,
    /// `0.8`, `2`, `2×`: 0 or more.
    parse_ratio -> f64 by Ratio,
    /// `$1.20`, `5 ct`.
    parse_usd -> Usd by Usd,
    /// `$1.20/h`, `1.2 USD/hour`.
    parse_usd_per_hour -> UsdPerHour by UsdPerHour,
    /// USD/kWh: `$0.12/kWh`, `12ct/kWh`.
    parse_usd_per_kwh -> f64 by UsdPerKwh,
    /// `35 g`, `1.2 kg`.
    parse_grams_co2 -> GramsCo2 by GramsCo2,
    /// g of CO₂ equivalent per kWh: `400 g/kWh`.
    parse_grams_per_kwh -> f64 by GramsPerKwh,
    /// Whole: `10,000`, `1e9`, `5k`.
    parse_count -> f64 by Count,
}

#[cfg(test)]
mod tests;
