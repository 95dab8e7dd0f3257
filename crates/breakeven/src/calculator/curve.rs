//! Time of both sides as the work grows: the break-even curve.

use crate::estimate::Breakdown;
use crate::interval::Interval;
use serde::{Deserialize, Serialize};

/// Amounts of work between the ends of a curve, ends included.
const POINTS: usize = 33;
/// How far a curve goes beyond the present work and beyond the break-even.
const MARGIN: f64 = 30.0;

/// Both sides at one amount of work. FLOP and memory traffic grow alike; copies and initialisation stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkPoint {
    /// Multiple of the present work.
    pub scale: f64,
    /// That much arithmetic, FLOP; `None` where no amount was given.
    pub flop: Option<f64>,
    /// The CPU's time.
    pub cpu_s: Interval,
    /// The GPU's.
    pub gpu_s: Interval,
}

/// The curve, least work first; the present work and the break-even (`even`) are points of it. Empty where one side
/// takes no time.
pub(super) fn curve(
    parts: &Breakdown,
    time: Interval,
    cpu: Interval,
    flop: Option<f64>,
    even: Option<f64>,
) -> Vec<WorkPoint> {
    let even = even.unwrap_or(1.0);
    let (low, high) = (even.min(1.0) / MARGIN, even.max(1.0) * MARGIN);
    let step = libm::log(high / low) / (POINTS - 1) as f64;
    let mut scales: Vec<f64> = (0..POINTS).map(|i| low * libm::exp(step * i as f64)).chain([1.0, even]).collect();
    scales.sort_by(f64::total_cmp);
    scales.dedup();
    let fixed = parts.transfer + parts.startup;
    let point = |scale: f64| {
        let at = |t: f64| fixed + (t - fixed) * scale;
        let gpu_s = Interval { p10: at(time.p10), p50: at(time.p50), p90: at(time.p90) };
        WorkPoint { scale, flop: flop.map(|f| f * scale), cpu_s: cpu.scale(scale), gpu_s }
    };
    let drawn = |p: &WorkPoint| p.cpu_s.p50 > 0.0 && p.gpu_s.p10 > 0.0 && p.cpu_s.p90.max(p.gpu_s.p90).is_finite();
    scales.into_iter().map(point).filter(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::super::formula::break_even_scale;
    use super::*;
    use crate::units::Seconds;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_passes_through_the_present_and_crosses_at_the_break_even(
            compute in 1e-6..1e3f64, fixed in 1e-6..1e3f64, cpu in 1e-6..1e3f64,
        ) {
            let parts = Breakdown { compute, startup: fixed, ..Breakdown::default() };
            let (time, cpu) = (Interval::exact(parts.total()), Interval::exact(cpu));
            let even = break_even_scale(&parts, Seconds(cpu.p50));
            let points = curve(&parts, time, cpu, Some(1e9), even);
            prop_assert!(points.is_sorted_by(|a, b| a.scale < b.scale && a.gpu_s.p50 <= b.gpu_s.p50));
            let now = points.iter().find(|p| p.scale == 1.0).expect("the present work is in it");
            prop_assert!((now.gpu_s.p50 / time.p50 - 1.0).abs() < 1e-12 && now.cpu_s == cpu && now.flop == Some(1e9));
            let wins = |p: &WorkPoint| p.gpu_s.p50 < p.cpu_s.p50;
            match even {
                Some(even) => {
                    let at = points.iter().find(|p| p.scale == even).expect("the break-even is in it");
                    prop_assert!((at.gpu_s.p50 / at.cpu_s.p50 - 1.0).abs() < 1e-9);
                    prop_assert!(points.iter().all(|p| p.scale == even || wins(p) == (p.scale > even)));
                }
                None => prop_assert!(!points.iter().any(wins)),
            }
        }
    }

    #[test]
    fn no_work_has_no_curve() {
        let parts = Breakdown { startup: 0.25, ..Breakdown::default() };
        assert_eq!(curve(&parts, Interval::exact(0.25), Interval::exact(0.0), None, None), []);
    }
}
