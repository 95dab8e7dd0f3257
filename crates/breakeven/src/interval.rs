//! How well a figure is known: an interval and a basis.

use serde::{Deserialize, Serialize};

/// The 10th, 50th and 90th percentile of what the figure may turn out to be, all in the same unit; `p10 <= p50 <= p90`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// One in ten comes out below.
    pub p10: f64,
    /// The middle.
    pub p50: f64,
    /// One in ten comes out above.
    pub p90: f64,
}

/// z of the 90th percentile of the normal distribution.
pub const Z90: f64 = 1.281_551_565_544_600_4;

impl Interval {
    /// A figure known exactly.
    pub const fn exact(x: f64) -> Self {
        Self { p10: x, p50: x, p90: x }
    }

    /// Log-normal around the median `p50` with standard deviation `sigma` of the logarithm.
    pub fn log_normal(p50: f64, sigma: f64) -> Self {
        let f = libm::exp(Z90 * sigma);
        Self { p10: p50 / f, p50, p90: p50 * f }
    }

    /// The same figure in another unit, or multiplied by something exactly known and not negative.
    pub fn scale(self, k: f64) -> Self {
        Self { p10: self.p10 * k, p50: self.p50 * k, p90: self.p90 * k }
    }

    /// The same middle, known less well: `sigma` more of the logarithm's standard deviation on either side.
    pub fn widened(self, sigma: f64) -> Self {
        let f = libm::exp(Z90 * sigma);
        Self { p10: self.p10 / f, p50: self.p50, p90: self.p90 * f }
    }

    /// The product of two independent figures: on each side the logarithms' spreads add in squares.
    pub fn times(self, other: Self) -> Self {
        let spread = |a: f64, am: f64, b: f64, bm: f64| {
            if am <= 0.0 || bm <= 0.0 || a <= 0.0 || b <= 0.0 {
                return 0.0;
            }
            let (x, y) = (libm::log(a / am), libm::log(b / bm));
            (x * x + y * y).sqrt()
        };
        let p50 = self.p50 * other.p50;
        Self {
            p10: p50 * libm::exp(-spread(self.p10, self.p50, other.p10, other.p50)),
            p50,
            p90: p50 * libm::exp(spread(self.p90, self.p50, other.p90, other.p50)),
        }
    }

    /// `f` of every percentile, for an increasing `f`.
    pub fn map_increasing(self, f: impl Fn(f64) -> f64) -> Self {
        Self { p10: f(self.p10), p50: f(self.p50), p90: f(self.p90) }
    }
}

/// The sum of two figures that are large or small together.
impl std::ops::Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { p10: self.p10 + other.p10, p50: self.p50 + other.p50, p90: self.p90 + other.p90 }
    }
}

/// Where a figure comes from. When figures combine, the weakest (the largest in this order) wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A clock or a counter on the real thing.
    Measured,
    /// The user said so.
    Given,
    /// The kernel model or the timeline.
    Modelled,
    /// A default, said as such.
    Assumed,
}
