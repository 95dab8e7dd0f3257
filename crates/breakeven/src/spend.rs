//! Money, energy, carbon: time × rate.

use crate::estimate::Price;
use crate::interval::Interval;

/// What one run is charged with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Rent, where a price is known or given.
    pub price: Option<Price>,
    /// Average power, W; `None` when not known.
    pub watts: Option<Interval>,
    /// Power usage effectiveness of the place, ≥ 1: multiplies energy.
    pub pue: f64,
    /// Carbon intensity of the grid, g CO₂e/kWh; `None` when not known.
    pub grams_per_kwh: Option<f64>,
    /// Price of electricity, USD/kWh: when given, cost is that of the energy and not of rent.
    pub usd_per_kwh: Option<f64>,
}

/// One run's bill.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spend {
    /// USD.
    pub cost_usd: Option<Interval>,
    /// Wh.
    pub energy_wh: Option<Interval>,
    /// g CO₂e.
    pub co2_g: Option<Interval>,
}

/// The bill for `time` seconds.
///
/// ```
/// use breakeven::{interval::Interval, spend::{Rates, spend}};
/// let rates = Rates { watts: Some(Interval::exact(320.0)), pue: 1.0, ..Rates::default() };
/// let bill = spend(Interval::exact(1.3), &rates);
/// assert!((bill.energy_wh.unwrap().p50 - 0.11556).abs() < 1e-5);
/// assert_eq!(bill.cost_usd, None);
/// ```
pub fn spend(time: Interval, rates: &Rates) -> Spend {
    let energy = rates.watts.map(|w| time.times(w).scale(rates.pue.max(1.0) / 3600.0));
    let cost = match (rates.usd_per_kwh, energy, &rates.price) {
        (Some(usd), Some(wh), _) => Some(wh.scale(usd / 1000.0)),
        (_, _, Some(price)) => Some(time.scale(price.usd_per_h / 3600.0)),
        _ => None,
    };
    let co2 = energy.zip(rates.grams_per_kwh).map(|(wh, g)| wh.scale(g / 1000.0));
    Spend { cost_usd: cost, energy_wh: energy, co2_g: co2 }
}
