//! Quantities with their unit in the type: a rate cannot be added to an amount.
//!
//! Inside, every quantity is an `f64` in the SI base unit that its name says. `gb` is 10⁹ bytes and `gib` is 2³⁰,
//! each its own constructor. FLOP is a count and FLOP/s a rate; the word "FLOPS" is not used.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0.0);
            /// The number in the base unit.
            pub const fn get(self) -> f64 { self.0 }
            /// The larger of two.
            pub fn max(self, other: Self) -> Self { Self(self.0.max(other.0)) }
            /// The smaller of two.
            pub fn min(self, other: Self) -> Self { Self(self.0.min(other.0)) }
        }
        impl Add for $name { type Output = Self; fn add(self, o: Self) -> Self { Self(self.0 + o.0) } }
        impl AddAssign for $name { fn add_assign(&mut self, o: Self) { self.0 += o.0 } }
        impl Sub for $name { type Output = Self; fn sub(self, o: Self) -> Self { Self(self.0 - o.0) } }
        impl Mul<f64> for $name { type Output = Self; fn mul(self, k: f64) -> Self { Self(self.0 * k) } }
        impl Div<f64> for $name { type Output = Self; fn div(self, k: f64) -> Self { Self(self.0 / k) } }
        /// Like by like is a plain ratio.
        impl Div for $name { type Output = f64; fn div(self, o: Self) -> f64 { self.0 / o.0 } }
        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(it: I) -> Self { Self(it.fold(0.0, |sum, q| sum + q.0)) }
        }
    };
}

quantity!(/** A duration, s. */ Seconds);
quantity!(/** An amount of data, bytes. */ Bytes);
quantity!(/** A count of floating-point operations. A fused multiply-add counts as two. */ Flop);
quantity!(/** A rate of computation, FLOP/s. */ FlopPerSec);
quantity!(/** A data rate, B/s. */ BytesPerSec);
quantity!(/** Power, W. */ Watts);
quantity!(/** Energy, Wh. */ WattHours);
quantity!(/** Money, US dollars. */ Usd);
quantity!(/** A rental price, US dollars per hour. */ UsdPerHour);
quantity!(/** Greenhouse-gas emissions, grams of CO₂ equivalent. */ GramsCo2);
quantity!(/** A frequency, Hz. */ Hertz);

macro_rules! law {
    ($a:ident / $b:ident = $c:ident) => {
        impl Div<$b> for $a {
            type Output = $c;
            fn div(self, o: $b) -> $c {
                $c(self.0 / o.0)
            }
        }
        impl Mul<$c> for $b {
            type Output = $a;
            fn mul(self, o: $c) -> $a {
                $a(self.0 * o.0)
            }
        }
    };
}
law!(Bytes / BytesPerSec = Seconds);
law!(Flop / FlopPerSec = Seconds);

impl Div<Seconds> for Flop {
    type Output = FlopPerSec;
    fn div(self, t: Seconds) -> FlopPerSec {
        FlopPerSec(self.0 / t.0)
    }
}
impl Div<Seconds> for Bytes {
    type Output = BytesPerSec;
    fn div(self, t: Seconds) -> BytesPerSec {
        BytesPerSec(self.0 / t.0)
    }
}
/// Energy of a power held for a time.
impl Mul<Seconds> for Watts {
    type Output = WattHours;
    fn mul(self, t: Seconds) -> WattHours {
        WattHours(self.0 * t.0 / 3600.0)
    }
}
/// Money for a time rented.
impl Mul<Seconds> for UsdPerHour {
    type Output = Usd;
    fn mul(self, t: Seconds) -> Usd {
        Usd(self.0 * t.0 / 3600.0)
    }
}

impl Seconds {
    /// From microseconds.
    pub const fn us(n: f64) -> Self {
        Self(n * 1e-6)
    }
    /// From nanoseconds.
    pub const fn ns(n: f64) -> Self {
        Self(n * 1e-9)
    }
}
impl Bytes {
    /// From 10⁹ bytes.
    pub const fn gb(n: f64) -> Self {
        Self(n * 1e9)
    }
    /// From 2³⁰ bytes.
    pub const fn gib(n: f64) -> Self {
        Self(n * 1_073_741_824.0)
    }
    /// From 2²⁰ bytes.
    pub const fn mib(n: f64) -> Self {
        Self(n * 1_048_576.0)
    }
}
impl BytesPerSec {
    /// From 10⁹ bytes per second.
    pub const fn gb_per_s(n: f64) -> Self {
        Self(n * 1e9)
    }
}
impl FlopPerSec {
    /// From 10¹² FLOP/s.
    pub const fn tera(n: f64) -> Self {
        Self(n * 1e12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gigabyte_over_pcie3_takes_an_eighth_of_a_second() {
        assert_eq!(Bytes::gb(1.0) / BytesPerSec::gb_per_s(8.0), Seconds(0.125));
    }

    #[test]
    fn an_hour_at_a_kilowatt_is_a_kilowatt_hour() {
        assert_eq!(Watts(1000.0) * Seconds(3600.0), WattHours(1000.0));
    }
}
