//! Offers: a device and a way to pay for it, with its price.

use crate::plan::Plan;
use crate::table::Table;
use crate::way::Way;
use breakeven::hardware::price::{Price, Terms, Wanted};
use breakeven::hardware::{Catalogue, Date, Vendor};
use breakeven::interval::Z90;
use serde::Serialize;

/// GPUs that a workstation and a server take.
const GPUS_OF: [f64; 2] = [2.0, 8.0];
/// ln-sigma of the prices of hardware that nobody gave: lists at launch against what shops ask.
const PRICE_SIGMA: f64 = 0.2;

const PURCHASE: &str = include_str!("purchase.csv");

/// A device on one way's terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pool {
    /// How it is paid.
    pub way: Way,
    /// Place of the device in [`Table::devices`].
    #[serde(skip)]
    pub device: usize,
    /// Devices in what is rented as one; 1 where it is bought.
    pub slots: f64,
    /// Rent of that, by the hour; 0 where it is bought.
    pub per_hour: f64,
    /// What a rent is charged at least, s.
    pub minimum_s: f64,
    /// From the order to the first run, s.
    pub boot_s: f64,
    /// Whether that time is charged.
    pub boot_charged: bool,
    /// Price of a GPU that is bought.
    pub gpu_price: f64,
    /// Price of the machine around it.
    pub machine_price: f64,
    /// GPUs that it takes.
    pub per_machine: f64,
    /// Factor of the purchase's p10 and p90; 1 where it is given.
    pub price_spread: f64,
    /// Who rents it out, or where its price comes from.
    pub provider: String,
    /// Machine type; may be empty.
    pub instance: String,
    /// When the price was read; empty where it is given.
    pub date: String,
    /// Whether the price is old.
    pub old: bool,
}

/// Every offer that the plan allows, and what was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pools {
    /// The offers.
    pub all: Vec<Pool>,
    /// GPUs that may be bought and whose price is not known.
    pub unpriced: Vec<String>,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// A price list's line: id, US dollars, whether it may stand in a server, source.
fn purchase(id: &str) -> Option<(f64, bool, &'static str)> {
    PURCHASE.lines().skip(1).find_map(|line| {
        let mut cells = line.splitn(4, ',');
        let (gpu, usd, place, source) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        (gpu == id).then(|| Some((usd.parse().ok()?, place == "both", source)))?
    })
}

impl Pools {
    /// The offers of a plan.
    pub fn of(plan: &Plan, catalogue: &Catalogue, table: &Table, today: &str) -> Self {
        let today = Date::parse(today);
        let mut pools = Self::default();
        let usable = |device: usize| table.cells.iter().any(|row| row[device].is_ok());
        for (place, device) in table.devices.iter().enumerate().filter(|(place, _)| usable(*place)) {
            if device.vendor.is_none() {
                pools.cpu(plan, table);
            } else if plan.allows(&device.id) {
                pools.rented(plan, catalogue, place, &device.id, today);
                pools.bought(plan, place, table);
                pools.cluster(plan, place, &device.id);
            }
        }
        pools
    }

    fn push(&mut self, plan: &Plan, pool: Pool) {
        if plan.ways.contains(&pool.way) {
            self.all.push(pool);
        }
    }

    fn cpu(&mut self, plan: &Plan, table: &Table) {
        let Some(offer) = &table.cpu else {
            self.notes.push("the price of the CPU machine is not known: CPU only is left out".to_owned());
            return;
        };
        let pool = Pool {
            provider: offer.provider.clone(),
            instance: offer.instance.clone(),
            date: offer.date.clone(),
            per_hour: offer.usd_per_h * plan.per_usd,
            ..rent(plan, Way::Cpu, 0)
        };
        self.push(plan, pool);
    }

    fn rented(&mut self, plan: &Plan, catalogue: &Catalogue, device: usize, id: &str, today: Option<Date>) {
        let priced = |region: &&String| {
            catalogue
                .prices()
                .iter()
                .any(|p| p.region.as_deref().is_some_and(|r| r.eq_ignore_ascii_case(region.trim())))
        };
        let region = plan.cloud_region.as_ref().filter(priced).cloned();
        let given =
            |way: Way| plan.rents.iter().find(|(own, gpu, _)| *own == way && gpu == id).map(|(.., price)| *price);
        let own = |way: Way, per_hour: f64| Pool { per_hour, provider: "given".to_owned(), ..rent(plan, way, device) };
        for way in [Way::OnDemand, Way::Spot, Way::Reserved] {
            let discounted =
                given(Way::OnDemand).filter(|_| way == Way::Reserved).map(|x| x * (1.0 - plan.rates.discount));
            if let Some(per_hour) = given(way).or(discounted) {
                self.push(plan, own(way, per_hour));
            }
        }
        let wanted = Wanted { spot: true, region, ..Wanted::default() };
        for price in catalogue.offers(id, &wanted) {
            // A GPU without its machine, a part of a GPU, and what one host alone offers are no ground for a plan.
            if price.incomplete || price.count < 1.0 || price.is_lone() || !plan.allows_provider(&price.provider) {
                continue;
            }
            let way = match price.terms {
                Terms::OnDemand => Way::OnDemand,
                Terms::Spot => Way::Spot,
                Terms::Marketplace => Way::Marketplace,
            };
            let pool = listed(plan, way, device, price, today);
            if way == Way::OnDemand && given(way).or(given(Way::Reserved)).is_none() {
                self.push(
                    plan,
                    Pool { way: Way::Reserved, per_hour: pool.per_hour * (1.0 - plan.rates.discount), ..pool.clone() },
                );
            }
            if given(way).is_none() {
                self.push(plan, pool);
            }
        }
    }

    fn bought(&mut self, plan: &Plan, device: usize, table: &Table) {
        let known = &table.devices[device];
        let given = plan.prices.iter().find(|(id, _)| *id == known.id).map(|(_, price)| *price);
        let listed = purchase(&known.id);
        let Some(price) = given.or(listed.map(|(usd, ..)| usd * plan.per_usd)) else {
            self.unpriced.push(known.name.clone());
            return;
        };
        if known.busy_w.is_none() {
            self.notes.push(format!("the power of {} is not known: it is not bought", known.name));
            return;
        }
        let provider = if given.is_some() { "given" } else { listed.map_or("", |(_, _, source)| source) };
        let (workstation, server) = (plan.rates.workstation, plan.rates.server);
        // The price of an Apple GPU is that of its whole machine.
        let whole = known.vendor == Some(Vendor::Apple);
        for (way, machine_price, per_machine) in
            [(Way::Workstation, workstation, GPUS_OF[0]), (Way::Server, server, GPUS_OF[1])]
        {
            // Consumer boards are not made for servers, and modules of servers for nothing else.
            let fits = match way {
                Way::Server => listed.is_none_or(|(_, both, _)| both) && !whole,
                _ => !known.id.contains("sxm"),
            };
            if fits {
                let pool = Pool {
                    gpu_price: price,
                    machine_price: if whole { 0.0 } else { machine_price },
                    per_machine: if whole { 1.0 } else { per_machine },
                    price_spread: if given.is_some() { 1.0 } else { libm::exp(Z90 * PRICE_SIGMA) },
                    provider: provider.to_owned(),
                    boot_s: 0.0,
                    ..rent(plan, way, device)
                };
                self.push(plan, pool);
            }
        }
    }

    fn cluster(&mut self, plan: &Plan, device: usize, id: &str) {
        if let Some(cluster) = plan.cluster.as_ref().filter(|cluster| cluster.gpu == id) {
            let pool = Pool {
                per_hour: cluster.per_hour,
                minimum_s: 0.0,
                boot_s: cluster.wait_s,
                boot_charged: false,
                provider: "given".to_owned(),
                ..rent(plan, Way::Cluster, device)
            };
            self.push(plan, pool);
        }
    }
}

/// What rented machines have in common.
fn rent(plan: &Plan, way: Way, device: usize) -> Pool {
    Pool {
        way,
        device,
        slots: 1.0,
        per_hour: 0.0,
        minimum_s: plan.rates.minimum_s,
        boot_s: plan.rates.boot_s,
        boot_charged: true,
        gpu_price: 0.0,
        machine_price: 0.0,
        per_machine: 1.0,
        price_spread: 1.0,
        provider: String::new(),
        instance: String::new(),
        date: String::new(),
        old: false,
    }
}

fn listed(plan: &Plan, way: Way, device: usize, price: &Price, today: Option<Date>) -> Pool {
    Pool {
        slots: libm::floor(price.count),
        per_hour: price.machine.get() * plan.per_usd,
        minimum_s: price.minimum_s().unwrap_or(plan.rates.minimum_s),
        provider: price.provider.clone(),
        instance: price.instance.clone(),
        date: price.date_text(),
        old: today.is_some_and(|day| price.is_old(day)),
        ..rent(plan, way, device)
    }
}
