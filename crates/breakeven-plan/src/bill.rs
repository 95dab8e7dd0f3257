//! What an option costs over the horizon: capital, rent, energy, place, people, data, resale. The only place where
//! money
//! is added up.

use crate::plan::HOURS;
use crate::pool::Pool;
use crate::problem::{At, Problem, Service};
use serde::Serialize;

/// Money over the horizon, in the plan's currency; energy and carbon of the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bill {
    /// Machines that are bought.
    pub capital: f64,
    /// Machines that are rented.
    pub rent: f64,
    /// Energy of bought machines.
    pub electricity: f64,
    /// Energy of the building around them.
    pub cooling: f64,
    /// Their place.
    pub hosting: f64,
    /// People.
    pub staff: f64,
    /// Storage, and network out of a cloud.
    pub data: f64,
    /// What bought machines sell for at the end: counts against the others.
    pub resale: f64,
    /// Energy with the building's, kWh.
    pub energy_kwh: f64,
    /// Carbon of that energy, kg CO₂e.
    pub co2_kg: f64,
}

impl Bill {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.capital + self.running() - self.resale
    }

    /// What is paid month by month.
    pub fn running(&self) -> f64 {
        self.rent + self.electricity + self.cooling + self.hosting + self.staff + self.data
    }

    /// Both together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            capital: self.capital + other.capital,
            rent: self.rent + other.rent,
            electricity: self.electricity + other.electricity,
            cooling: self.cooling + other.cooling,
            hosting: self.hosting + other.hosting,
            staff: self.staff + other.staff,
            data: self.data + other.data,
            resale: self.resale + other.resale,
            energy_kwh: self.energy_kwh + other.energy_kwh,
            co2_kg: self.co2_kg + other.co2_kg,
        }
    }
}

impl Problem<'_> {
    /// `kwh` of machines of a pool, as energy, carbon and, where they are bought, money.
    fn energy(&self, pool: &Pool, kwh: f64) -> Bill {
        let rates = &self.plan.rates;
        let (pue, grams) = match pool.way {
            way if !way.is_bought() => (rates.cloud_pue, rates.cloud_g_per_kwh),
            crate::Way::Server => (rates.site_pue, rates.site_g_per_kwh),
            _ => (1.0, rates.site_g_per_kwh),
        };
        let electricity = if pool.way.is_bought() { kwh * rates.electricity_kwh } else { 0.0 };
        Bill {
            electricity,
            cooling: electricity * (pue - 1.0),
            energy_kwh: kwh * pue,
            co2_kg: kwh * pue * grams / 1000.0,
            ..Bill::default()
        }
    }

    /// `runs` of a workload in a pool: their energy above that of an idle machine, and their data.
    pub(crate) fn bill_of_runs(
        &self,
        work: usize,
        pool: &Pool,
        service: &Service,
        runs: f64,
        above_idle: bool,
    ) -> Bill {
        let (w, rates) = (&self.plan.works[work], &self.plan.rates);
        let idle = self.table.devices[pool.device].idle_w.filter(|_| above_idle).unwrap_or(0.0);
        let kwh = service.energy_wh.map_or(0.0, |wh| (wh - idle * service.seconds / 3600.0).max(0.0) / 1000.0);
        let kept = w.storage_b / 1e9 * rates.storage_gb_month * rates.kept_months;
        let sent = if pool.way.is_bought() || pool.way == crate::Way::Cluster {
            0.0
        } else {
            w.network_b / 1e9 * rates.egress_gb
        };
        Bill { data: runs * (kept + sent), ..self.energy(pool, runs * kwh) }
    }

    /// `devices` of a pool that are rented for `months` and stay on, or run for that long once bought: rent, their idle
    /// energy, place and people. `units` is what is rented or bought as one, `machines` what people look after.
    pub(crate) fn bill_of_months(&self, pool: &Pool, units: f64, machines: f64, months: f64, last: bool) -> Bill {
        let (rates, device) = (&self.plan.rates, &self.table.devices[pool.device]);
        let devices = units * pool.slots;
        let idle = self.energy(pool, devices * device.idle_w.unwrap_or(0.0) / 1000.0 * HOURS * months);
        let staff_h = if pool.way.is_bought() { rates.staff_bought_h } else { rates.staff_rented_h };
        let hosted = if pool.way == crate::Way::Server { device.busy_w.unwrap_or(0.0) / 1000.0 * devices } else { 0.0 };
        // A term that has begun is paid to its end.
        let paid = match pool.way {
            crate::Way::Reserved if last && self.ends => months + self.rest_of_term(),
            _ => months,
        };
        Bill {
            rent: units * pool.per_hour * rates.rent_factor * HOURS * paid,
            hosting: hosted * rates.hosting_kw_month * months,
            staff: machines * staff_h * rates.staff_hour * months,
            ..idle
        }
    }

    /// Months by which terms outlast the horizon.
    fn rest_of_term(&self) -> f64 {
        let (months, term) = (f64::from(self.plan.months), self.plan.rates.term_months);
        libm::ceil(months / term - 1e-9) * term - months
    }

    /// What `gpus` and `machines` cost to buy, and what they sell for at the end.
    pub(crate) fn bill_of_purchase(&self, pool: &Pool, gpus: f64, machines: f64, at: At) -> Bill {
        let spread = match at {
            At::P10 => 1.0 / pool.price_spread,
            At::P50 => 1.0,
            At::P90 => pool.price_spread,
        };
        let capital =
            (gpus * pool.gpu_price * spread + machines * pool.machine_price) * self.plan.rates.purchase_factor;
        Bill { capital, resale: capital * self.plan.rates.resale, ..Bill::default() }
    }
}
