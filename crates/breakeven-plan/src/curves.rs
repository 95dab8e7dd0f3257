//! Rent against purchase over months and utilisation, and cost against time.

use crate::mix::{Mix, Part};
use crate::plan::HOURS;
use crate::problem::{At, Problem};
use crate::single::{Mode, Single};
use serde::Serialize;

/// Months up to which a crossing is looked for.
const FARTHEST: u32 = 240;
/// Points of a front that are kept.
const MOST_POINTS: usize = 16;

/// What has been paid up to the end of a month; resale apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MonthPoint {
    /// Months from the start; 0 is the purchase.
    pub month: u32,
    /// By who rents.
    pub rent: f64,
    /// By who buys.
    pub buy: f64,
}

/// A month of one machine that is busy for a share of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UsePoint {
    /// Share of the month, 0–1.
    pub utilisation: f64,
    /// Rent of as many hours as the same work takes.
    pub rent: f64,
    /// The bought machine's month: price less resale spread over the horizon, energy, place, people.
    pub buy: f64,
}

/// Rent against purchase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RentOrBuy {
    /// What is rented.
    pub rent: String,
    /// What is bought.
    pub buy: String,
    /// The first month at whose end buying has cost no more; `None` where there is none within 20 years.
    pub pays_from_month: Option<u32>,
    /// By month.
    pub months: Vec<MonthPoint>,
    /// The utilisation of one bought GPU from which it costs less than renting by the hour; `None` where none does.
    pub pays_from_utilisation: Option<f64>,
    /// By utilisation of that GPU.
    pub utilisation: Vec<UsePoint>,
}

/// A way to meet all deadlines that no other beats in both cost and time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontPoint {
    /// What is taken.
    pub option: String,
    /// Cost over the horizon, by month.
    pub per_month: f64,
    /// From submission to result, the mean over all runs, s.
    pub turnaround_s: f64,
}

impl Problem<'_> {
    /// Running cost of a mix by the month, by phase.
    fn monthly(&self, mix: &Mix) -> Vec<f64> {
        let of_phase = |n: usize| {
            let alone = self.alone(n);
            let slice = |part: &Part| {
                let bought = self.pools[part.pool].way.is_bought();
                let most = part.units.iter().copied().fold(0.0, f64::max);
                let units = if bought { most } else { part.units[n] };
                Part { pool: part.pool, units: vec![units], shares: vec![part.shares[n].clone()] }
            };
            let mix = Mix { parts: mix.parts.iter().map(slice).collect(), ..mix.clone() };
            alone.bill_of_mix(&mix, At::P50).map_or(0.0, |bill| bill.running() / self.phases[n].months)
        };
        (0..self.phases.len()).map(of_phase).collect()
    }

    /// Rent against purchase over months and utilisation.
    pub fn rent_or_buy(&self, rent: &Mix, buy: &Mix, names: [String; 2]) -> RentOrBuy {
        let (renting, owning) = (self.monthly(rent), self.monthly(buy));
        let phase_of = |month: u32| {
            let mut left = f64::from(month) - 0.5;
            let at = self.phases.iter().position(|phase| {
                left -= phase.months;
                left < 0.0
            });
            at.unwrap_or(self.phases.len() - 1)
        };
        let mut point = MonthPoint { month: 0, rent: rent.bill.capital, buy: buy.bill.capital };
        let (mut months, mut crossing) = (vec![point], None);
        for month in 1..=FARTHEST {
            let phase = phase_of(month);
            point = MonthPoint { month, rent: point.rent + renting[phase], buy: point.buy + owning[phase] };
            if crossing.is_none() && point.buy <= point.rent {
                crossing = Some(month);
            }
            if month <= self.plan.months {
                months.push(point);
            }
        }
        let [rent_name, buy_name] = names;
        let (pays, curve) = self.by_use(rent, buy).unwrap_or_default();
        RentOrBuy {
            rent: rent_name,
            buy: buy_name,
            pays_from_month: crossing,
            months,
            pays_from_utilisation: pays,
            utilisation: curve,
        }
    }

    /// One bought GPU against the hours of a rented one that do the same work.
    fn by_use(&self, rent: &Mix, buy: &Mix) -> Option<(Option<f64>, Vec<UsePoint>)> {
        let rented = rent.batches.first().map(|b| b.1).or_else(|| rent.parts.first().map(|p| p.pool))?;
        let bought = buy.parts.iter().find(|part| self.pools[part.pool].way.is_bought())?.pool;
        let (rented, bought) = (&self.pools[rented], &self.pools[bought]);
        let months = f64::from(self.plan.months);
        let (mut here, mut there, mut kwh) = (0.0, 0.0, 0.0);
        for (n, _) in self.works() {
            let (Ok(a), Ok(b)) = (self.service(n, bought, At::P50), self.service(n, rented, At::P50)) else { continue };
            let runs = self.phases[0].mean[n];
            here += runs * a.seconds;
            there += runs * b.seconds;
            kwh += self.bill_of_runs(n, bought, &a, runs, true).running();
        }
        if here <= 0.0 {
            return None;
        }
        let owned =
            self.bill_of_purchase(bought, 1.0, 1.0, At::P50).and(&self.bill_of_months(bought, 1.0, 1.0, months, true));
        let fixed = owned.total() / months;
        // A busy hour of the bought GPU: energy and data; the hours of the rented one that do its work.
        let busy_hour = kwh / (here / 3600.0);
        let rent_hour = rented.per_hour / rented.slots * self.plan.rates.rent_factor * there / here;
        let at = |u: f64| UsePoint { utilisation: u, rent: rent_hour * HOURS * u, buy: fixed + busy_hour * HOURS * u };
        let slope = (rent_hour - busy_hour) * HOURS;
        let crossing = if slope > 0.0 { Some(fixed / slope).filter(|u| *u <= 1.0) } else { None };
        Some((crossing, (1..=20).map(|n| at(f64::from(n) / 20.0)).collect()))
    }

    /// The mean over all runs of the time from submission to result, s.
    pub fn turnaround_of(&self, single: &Single) -> f64 {
        let (mut runs, mut seconds) = (0.0, 0.0);
        for (i, (n, service)) in single.services.iter().enumerate() {
            for (p, phase) in self.phases.iter().enumerate() {
                let count = phase.mean[*n] * phase.months;
                let waited = match &single.mode {
                    Mode::Kept(kept) => {
                        let devices = kept[p].units * self.pools[single.pool].slots;
                        kept[p].wait.mean + (self.plan.works[*n].at_once - 1.0) * service.seconds / devices / 2.0
                    }
                    Mode::Batches(all) => all[i].1[p].wait_s,
                };
                runs += count;
                seconds += count * (waited + service.seconds);
            }
        }
        if runs > 0.0 { seconds / runs } else { 0.0 }
    }

    /// The singles that none beats in both cost and time, the cheapest first, with their mean time.
    pub fn front<'s>(&self, singles: &'s [Single]) -> Vec<(&'s Single, f64)> {
        let mut all: Vec<(&Single, f64)> = singles.iter().map(|s| (s, self.turnaround_of(s))).collect();
        all.sort_by(|a, b| a.0.bill.total().total_cmp(&b.0.bill.total()).then(a.1.total_cmp(&b.1)));
        let mut fastest = f64::INFINITY;
        // Less than a hundredth faster is not worth a row.
        all.retain(|(_, time)| {
            let better = *time < fastest * 0.99;
            fastest = if better { *time } else { fastest };
            better
        });
        all.truncate(MOST_POINTS);
        all
    }
}
