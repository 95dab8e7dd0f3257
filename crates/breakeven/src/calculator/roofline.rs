//! The roofline of one GPU, and where the work lies under it (Williams, Waterman & Patterson 2009).

use super::footprint::PRECISIONS;
use super::formula::STREAM_FRACTION;
use super::kind::{self, precision_name};
use super::terms::{Given, Terms};
use crate::hardware::Device;
use crate::interval::Interval;
use serde::{Deserialize, Serialize};

/// How far the roofs go beyond the ridges and the work.
const MARGIN: f64 = 10.0;

/// What one GPU can reach at each operational intensity, and what this work does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// FLOP for each byte of device-memory traffic; `None` when the traffic is not known.
    pub intensity_flop_per_byte: Option<f64>,
    /// What the formula reaches on one GPU while it computes: the effective rate, or less where memory holds it back.
    pub attained_flop_per_s: Interval,
    /// Memory bandwidth that streaming reaches.
    pub bandwidth_byte_per_s: f64,
    /// A roof for each precision with a known peak.
    pub roofs: Vec<Roof>,
    /// The roof that this kind of work reaches: the effective rate in place of the peak.
    pub reached: Vec<RoofPoint>,
}

/// The roof of one precision: memory bandwidth up to the ridge, then the peak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// `fp32`, `bf16`, …
    pub precision: String,
    /// Peak that this kind of work runs at.
    pub peak_flop_per_s: f64,
    /// Where memory stops being the limit.
    pub ridge_flop_per_byte: f64,
    /// The precision of this work.
    pub used: bool,
    /// The ends and the ridge.
    pub points: Vec<RoofPoint>,
}

/// A point of a roof.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoofPoint {
    /// Operational intensity.
    pub flop_per_byte: f64,
    /// The most that is possible there.
    pub flop_per_s: f64,
}

/// The roofline for the terms of the formula; `effective` is its rate at a utilisation, FLOP/s. `None` where the
/// bandwidth is not known, or there is no arithmetic.
pub(super) fn roofline(
    given: &Given,
    terms: &Terms,
    device: Option<&Device>,
    effective: impl Fn(f64) -> f64,
) -> Option<Roofline> {
    let flop = given.flop.filter(|f| *f > 0.0)?;
    let bandwidth = terms.bandwidth?.value.p50 * STREAM_FRACTION;
    let intensity = given.bytes.filter(|b| *b > 0.0).map(|b| flop / b);
    let under = |rate: f64| intensity.map_or(rate, |i| rate.min(i * bandwidth));
    let u = terms.utilisation.value;
    let attained =
        Interval { p10: under(effective(u.p10)), p50: under(effective(u.p50)), p90: under(effective(u.p90)) };

    let peak = |dtype| {
        if dtype == terms.precision {
            Some(terms.peak.value.p50 * terms.precision_factor.value.p50)
        } else {
            device.and_then(|d| kind::peak(terms.kind, dtype, d)).map(|rate| rate.get())
        }
    };
    let peaks: Vec<_> = PRECISIONS.into_iter().filter_map(|dtype| Some((dtype, peak(dtype)?))).collect();
    let reached = effective(u.p50);
    let places = || peaks.iter().map(|(_, rate)| rate / bandwidth).chain([reached / bandwidth]).chain(intensity);
    let (low, high) = (places().fold(f64::INFINITY, f64::min) / MARGIN, places().fold(0.0, f64::max) * MARGIN);
    let roof = |rate: f64| {
        let point = |flop_per_byte: f64| RoofPoint { flop_per_byte, flop_per_s: rate.min(flop_per_byte * bandwidth) };
        vec![point(low), point(rate / bandwidth), point(high)]
    };
    Some(Roofline {
        intensity_flop_per_byte: intensity,
        attained_flop_per_s: attained,
        bandwidth_byte_per_s: bandwidth,
        roofs: peaks
            .iter()
            .map(|&(dtype, rate)| Roof {
                precision: precision_name(dtype).to_owned(),
                peak_flop_per_s: rate,
                ridge_flop_per_byte: rate / bandwidth,
                used: dtype == terms.precision,
                points: roof(rate),
            })
            .collect(),
        reached: roof(reached),
    })
}
