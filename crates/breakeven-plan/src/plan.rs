//! A plan with its names found, its quantities in base units and its defaults filled in.

use crate::assumed::{self, Assumption};
use crate::text::{GrowthText, Lists, PlanText, WorkText};
use crate::way::Way;
use breakeven::hardware::Catalogue;
use breakeven::quantity::Measure;
use breakeven::report::words::printable;
use breakeven::request::{Numbers, Typed};
use breakeven::{Error, Result};
use std::collections::BTreeSet;

/// Hours of a month: 365 × 24 ÷ 12.
pub(crate) const HOURS: f64 = 730.0;
/// Workloads of one plan.
const MOST_WORKLOADS: usize = 1000;
/// The longest horizon, months.
const LONGEST: u32 = 240;
/// More runs a month than that are not computed with.
const MOST_RUNS: f64 = 1e9;
/// Runs may become so many times as many within the horizon.
const MOST_GROWTH: f64 = 1000.0;

/// Where the times of a run come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A saved workload, by its path.
    Recording(String),
    /// Numbers as `estimate` takes them.
    Numbers(Box<Numbers>),
    /// Times by id of the GPU, s; of the CPU machine.
    Times(Vec<(String, f64)>, Option<f64>),
}

/// A workload and how often it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// For people; not empty.
    pub name: String,
    /// What a run takes.
    pub source: Source,
    /// Runs in the first month.
    pub runs: f64,
    /// More each month, as a share of the month before; may be negative.
    pub growth: f64,
    /// From submission to result, s.
    pub deadline_s: f64,
    /// Whether 95 of 100 runs have to hold it, those that wait longest among them; else runs that wait as long as
    /// the mean.
    pub latency: bool,
    /// Runs submitted together, 1 or more.
    pub at_once: f64,
    /// Precisions that are accurate enough; none for what was recorded.
    pub precision: Vec<String>,
    /// Bytes at the storage, by a run.
    pub storage_b: f64,
    /// Bytes over the network, by a run.
    pub network_b: f64,
    /// Whether it may run where machines are taken back.
    pub interruptible: bool,
    /// Work that an interruption loses at most, s; `None` for all of the run.
    pub checkpoint_s: Option<f64>,
    /// Whether start-up is paid once.
    pub warm: bool,
}

/// Everything that is priced or assumed, in the plan's currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    pub electricity_kwh: f64,
    pub site_g_per_kwh: f64,
    pub site_pue: f64,
    pub hosting_kw_month: f64,
    pub cloud_g_per_kwh: f64,
    pub cloud_pue: f64,
    pub boot_s: f64,
    pub minimum_s: f64,
    pub utilisation: f64,
    pub interruptions_per_h: f64,
    pub restart_s: f64,
    pub discount: f64,
    pub term_months: f64,
    pub workstation: f64,
    pub server: f64,
    pub resale: f64,
    pub staff_hour: f64,
    pub staff_rented_h: f64,
    pub staff_bought_h: f64,
    pub storage_bps: f64,
    pub network_bps: f64,
    pub storage_gb_month: f64,
    pub kept_months: f64,
    pub egress_gb: f64,
    /// Factors that ask what if: on rents, on prices of GPUs and machines that are bought, on times of GPUs.
    pub rent_factor: f64,
    pub purchase_factor: f64,
    pub time_factor: f64,
}

/// A shared cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Catalogue id of its GPU.
    pub gpu: String,
    /// Price of a GPU's hour.
    pub per_hour: f64,
    /// Wait of a job, s.
    pub wait_s: f64,
}

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// For people.
    pub name: String,
    /// Horizon.
    pub months: u32,
    /// Code of the currency.
    pub currency: String,
    /// Units of it for a US dollar.
    pub per_usd: f64,
    /// What is computed; not empty.
    pub works: Vec<Work>,
    /// Catalogue ids that may be taken; `None` for all.
    pub gpus: Option<BTreeSet<String>>,
    /// Catalogue ids that may not.
    pub denied: BTreeSet<String>,
    /// Providers that may be taken, as the catalogue calls them; `None` for all.
    pub providers: Option<BTreeSet<String>>,
    /// Providers that may not.
    pub denied_providers: BTreeSet<String>,
    /// Ways to pay.
    pub ways: BTreeSet<Way>,
    /// A cloud's region that prices are of.
    pub cloud_region: Option<String>,
    /// Rents by the hour that the plan gives, by way and catalogue id.
    pub rents: Vec<(Way, String, f64)>,
    /// Prices of GPUs to buy, by catalogue id.
    pub prices: Vec<(String, f64)>,
    /// The shared cluster.
    pub cluster: Option<Cluster>,
    /// Everything else.
    pub rates: Rates,
    /// Defaults that were used.
    pub assumed: Vec<Assumption>,
}

/// Takes what is given, else the default, which it writes down.
struct Taker {
    per_usd: f64,
    assumed: Vec<Assumption>,
}

fn refuse(key: &str, message: impl std::fmt::Display) -> Error {
    Error::new("bad-plan", format!("{key}: {message}")).hint("docs/plan.md says what a plan holds")
}

/// A quantity, with its key in the error; a price or duration of 0 is refused.
fn above_zero(measure: Measure, typed: &Typed, key: &str) -> Result<f64> {
    let value = measure.read(typed).map_err(|e| Error { message: format!("{key}: {}", e.message), ..e })?;
    if value < 1e-12 {
        return Err(Error::new("bad-plan", format!("{key} is 0, and has to be above it"))
            .hint("leave it out to take the default; what costs nothing is left out by `deny`"));
    }
    if value > 1e15 {
        return Err(refuse(key, format!("{value:e} is too large to be meant")));
    }
    Ok(value)
}

impl Taker {
    fn assume(&mut self, key: &'static str) -> f64 {
        let d = assumed::of(key);
        if !self.assumed.iter().any(|a| a.key == key) {
            self.assumed.push(Assumption { key, value: d.value, text: format!("{}{}", d.value, d.unit), why: d.why });
        }
        d.value
    }

    fn or(&mut self, given: Option<&Typed>, measure: Measure, key: &'static str) -> Result<f64> {
        given.map_or_else(|| Ok(self.assume(key)), |typed| above_zero(measure, typed, key))
    }

    /// Money: a default is in dollars.
    fn money(&mut self, given: Option<&Typed>, measure: Measure, key: &'static str) -> Result<f64> {
        given.map_or_else(|| Ok(self.assume(key) * self.per_usd), |typed| above_zero(measure, typed, key))
    }

    fn within(&mut self, given: Option<f64>, least: f64, most: f64, key: &'static str) -> Result<f64> {
        match given {
            None => Ok(self.assume(key)),
            Some(x) if (least..=most).contains(&x) => Ok(x),
            Some(x) => Err(refuse(key, format!("{x} is given; {least} to {most} is allowed"))),
        }
    }
}

impl Plan {
    /// The plan that a file means.
    ///
    /// # Errors
    /// `bad-plan` for what is missing, zero, out of range or contradicts itself; names that the catalogue has not.
    pub fn of(text: &PlanText, catalogue: &Catalogue) -> Result<Self> {
        if text.workload.is_empty() {
            return Err(Error::new("empty-plan", "the plan has no workload")
                .hint("add a table `[[workload]]` with `recording`, `numbers` or `times`, and `runs_per_month`"));
        }
        if text.workload.len() > MOST_WORKLOADS {
            return Err(refuse(
                "workload",
                format!("{} are given; at most {MOST_WORKLOADS} are planned for", text.workload.len()),
            ));
        }
        let (currency, per_usd) = currency(text)?;
        let mut take = Taker { per_usd, assumed: Vec::new() };
        let months = take.within(text.months.map(f64::from), 1.0, f64::from(LONGEST), "months")? as u32;
        let works = text.workload.iter().enumerate();
        let works: Vec<Work> =
            works.map(|(n, work)| work_of(n, work, months, catalogue, &mut take)).collect::<Result<_>>()?;
        let set = |names: &[String]| gpus(catalogue, names);
        let gpus = if text.allow.gpus.is_empty() { None } else { Some(set(&text.allow.gpus)?) };
        let denied = set(&text.deny.gpus)?;
        let providers = |list: &Lists| -> Result<BTreeSet<String>> {
            list.providers.iter().map(|name| provider(catalogue, name)).collect()
        };
        let allowed = providers(&text.allow)?;
        let cluster = match &text.cluster {
            None => None,
            Some(cluster) => Some(Cluster {
                gpu: one_gpu(catalogue, &cluster.gpu, "cluster.gpu")?,
                per_hour: above_zero(Measure::UsdPerHour, &cluster.per_hour, "cluster.per_hour")?,
                wait_s: take.or(cluster.wait.as_ref(), Measure::Seconds, "cluster.wait")?,
            }),
        };
        let ways = ways(text, cluster.is_some())?;
        let prices = text.buy.gpu.iter().map(|(name, price)| {
            Ok((one_gpu(catalogue, name, "buy.gpu")?, above_zero(Measure::Usd, price, "buy.gpu")?))
        });
        let prices = prices.collect::<Result<_>>()?;
        let mut rents = Vec::new();
        for (way, given) in
            [(Way::OnDemand, &text.rent.on_demand), (Way::Spot, &text.rent.spot), (Way::Reserved, &text.rent.reserved)]
        {
            for (name, price) in given {
                let key = format!("rent.{}", way.name());
                rents.push((way, one_gpu(catalogue, name, &key)?, above_zero(Measure::UsdPerHour, price, &key)?));
            }
        }
        let rates = rates(text, months, catalogue, &works, &ways, &mut take)?;
        Ok(Self {
            name: printable(text.name.as_deref().unwrap_or("plan"), 100),
            months,
            currency,
            per_usd,
            works,
            gpus,
            denied,
            providers: (!allowed.is_empty()).then_some(allowed),
            denied_providers: providers(&text.deny)?,
            ways,
            cloud_region: text.cloud.region.clone(),
            rents,
            prices,
            cluster,
            rates,
            assumed: take.assumed,
        })
    }

    /// Whether a GPU may be taken.
    pub fn allows(&self, gpu: &str) -> bool {
        self.gpus.as_ref().is_none_or(|gpus| gpus.contains(gpu)) && !self.denied.contains(gpu)
    }

    /// Whether a provider may be taken.
    pub fn allows_provider(&self, name: &str) -> bool {
        self.providers.as_ref().is_none_or(|all| all.contains(name)) && !self.denied_providers.contains(name)
    }
}

/// The currency's code and its units for a dollar.
fn currency(text: &PlanText) -> Result<(String, f64)> {
    let given = text.currency.as_deref().unwrap_or("USD").trim();
    let code = given.to_ascii_uppercase();
    let hint = "a code of three letters (`EUR`), and `per_usd`: how many of it a US dollar buys";
    if code.len() != 3 || !code.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(
            Error::new("unknown-currency", format!("`{}` is no code of a currency", printable(given, 20))).hint(hint)
        );
    }
    match text.per_usd {
        None if code == "USD" => Ok((code, 1.0)),
        Some(rate) if code == "USD" && rate != 1.0 => Err(refuse("per_usd", format!("a dollar is 1 USD, not {rate}"))),
        None => {
            Err(Error::new("unknown-currency", format!("no rate of {code} is given: prices are in US dollars"))
                .hint(hint))
        }
        Some(rate) if (1e-6..=1e6).contains(&rate) => Ok((code, rate)),
        Some(rate) => Err(refuse("per_usd", format!("{rate} is given; 0.000001 to 1000000 is allowed"))),
    }
}

fn gpus(catalogue: &Catalogue, names: &[String]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in names {
        let matched = catalogue.find_gpu(name).map_err(|e| e.field("gpus"))?;
        found.extend(matched.gpus.iter().map(|gpu| gpu.id().to_owned()));
    }
    Ok(found)
}

fn one_gpu(catalogue: &Catalogue, name: &str, key: &str) -> Result<String> {
    let found = catalogue.find_gpu(name)?;
    match found.gpus.as_slice() {
        [gpu] => Ok(gpu.id().to_owned()),
        several => {
            let ids: Vec<&str> = several.iter().map(|gpu| gpu.id()).collect();
            Err(refuse(key, format!("`{}` is several GPUs", printable(name, 40)))
                .hint(format!("one of {}", ids.join(", "))))
        }
    }
}

fn provider(catalogue: &Catalogue, name: &str) -> Result<String> {
    catalogue.provider(name).map(str::to_owned).ok_or_else(|| {
        Error::new("unknown-provider", format!("no provider of the catalogue is called `{}`", printable(name, 40)))
            .hint(catalogue.providers().join(", "))
            .field("providers")
    })
}

/// What may be paid: all but marketplaces, whose hosts come and go, unless they are named.
fn ways(text: &PlanText, cluster: bool) -> Result<BTreeSet<Way>> {
    let read = |names: &[String]| names.iter().map(|name| Way::read(name)).collect::<Result<BTreeSet<Way>>>();
    let mut ways = read(&text.allow.ways)?;
    if ways.is_empty() {
        ways = Way::ALL.into_iter().filter(|way| *way != Way::Marketplace).collect();
    } else if ways.contains(&Way::Cluster) && !cluster {
        return Err(
            refuse("allow.ways", "the cluster has no price").hint("add a table `[cluster]` with `gpu` and `per_hour`")
        );
    }
    for denied in read(&text.deny.ways)? {
        ways.remove(&denied);
    }
    if !cluster {
        ways.remove(&Way::Cluster);
    }
    if ways.is_empty() {
        return Err(refuse("deny.ways", "no way to pay is left").hint(Way::ALL.map(Way::name).join(", ")));
    }
    Ok(ways)
}

fn growth(given: Option<&GrowthText>, months: u32, key: &str) -> Result<f64> {
    let growth = match given {
        None => 0.0,
        Some(GrowthText::Number(x)) => *x,
        Some(GrowthText::Text(text)) => {
            let plain = text.trim();
            let (number, unit) = plain.strip_suffix('%').map_or((plain, 1.0), |number| (number, 100.0));
            let number = number.trim().strip_prefix('+').unwrap_or(number).trim();
            number.parse::<f64>().map_err(|_| refuse(key, format!("`{}` is no share", printable(text, 40))))? / unit
        }
    };
    if !(-0.5..=0.5).contains(&growth) {
        return Err(refuse(key, format!("{growth} a month is given; -0.5 to 0.5 (50%) is allowed"))
            .hint("growth is by month: 2% a month is 27% a year"));
    }
    let last = libm::pow(1.0 + growth, f64::from(months - 1));
    if last > MOST_GROWTH {
        return Err(refuse(
            key,
            format!("runs become {last:.0} times as many within {months} months; {MOST_GROWTH} times is the most"),
        )
        .hint("growth is by month: 2% a month is 27% a year; or plan for fewer months"));
    }
    Ok(growth)
}

fn work_of(n: usize, text: &WorkText, months: u32, catalogue: &Catalogue, take: &mut Taker) -> Result<Work> {
    let called = text.name.clone().or_else(|| text.recording.as_ref().map(|path| stem(path).to_owned()));
    let name = printable(called.as_deref().unwrap_or(&format!("workload {}", n + 1)), 60);
    let key = |field: &str| format!("workload `{name}`, {field}");
    let source = match (&text.recording, &text.numbers, &text.times) {
        (Some(path), None, None) => Source::Recording(path.clone()),
        (None, Some(numbers), None) => Source::Numbers(numbers.clone()),
        (None, None, Some(times)) => {
            let mut gpus = Vec::new();
            let mut cpu = None;
            for (device, time) in times {
                let seconds = above_zero(Measure::Seconds, time, &key("times"))?;
                match device.as_str() {
                    "cpu" => cpu = Some(seconds),
                    _ => gpus.push((one_gpu(catalogue, device, &key("times"))?, seconds)),
                }
            }
            Source::Times(gpus, cpu)
        }
        _ => {
            return Err(refuse(
                &format!("workload `{name}`"),
                "exactly one of `recording`, `numbers` and `times` says what it is",
            ));
        }
    };
    let Some(runs) = &text.runs_per_month else {
        return Err(refuse(&format!("workload `{name}`"), "`runs_per_month` is missing")
            .hint("how often it runs in a month: `runs_per_month = 2000`"));
    };
    let runs = above_zero(Measure::Count, runs, &key("runs_per_month"))?;
    if runs > MOST_RUNS {
        return Err(refuse(&key("runs_per_month"), format!("{runs:e} is given; {MOST_RUNS:e} is the most")));
    }
    let seconds = |given: &Option<Typed>, field: &str| {
        given.as_ref().map(|typed| above_zero(Measure::Seconds, typed, &key(field))).transpose()
    };
    let (deadline_s, latency) = match (seconds(&text.deadline, "deadline")?, seconds(&text.latency, "latency")?) {
        (Some(_), Some(_)) => {
            return Err(refuse(&format!("workload `{name}`"), "it has a `deadline` and a `latency`")
                .hint("give one of the two"));
        }
        (Some(deadline), None) => (deadline, false),
        (None, Some(latency)) => (latency, true),
        (None, None) => (take.assume("workload.deadline"), false),
    };
    let bytes = |given: &Option<Typed>, field: &str| {
        given.as_ref().map_or(Ok(0.0), |typed| above_zero(Measure::Bytes, typed, &key(field)))
    };
    let at_once = text.at_once.as_ref().map_or(Ok(1.0), |typed| above_zero(Measure::Count, typed, &key("at_once")))?;
    Ok(Work {
        source,
        runs,
        growth: growth(text.growth.as_ref(), months, &key("growth"))?,
        deadline_s,
        latency,
        at_once: at_once.max(1.0).min(runs),
        precision: text.precision.clone(),
        storage_b: bytes(&text.storage, "storage")?,
        network_b: bytes(&text.network, "network")?,
        interruptible: text.interruptible.unwrap_or(!latency),
        checkpoint_s: seconds(&text.checkpoint, "checkpoint")?,
        warm: text.warm,
        name,
    })
}

/// The name of a file without folder and endings.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".gz", ".json", ".breakeven"].iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name))
}

fn rates(
    text: &PlanText,
    months: u32,
    catalogue: &Catalogue,
    works: &[Work],
    ways: &BTreeSet<Way>,
    take: &mut Taker,
) -> Result<Rates> {
    let place = |region: &Option<String>| match region {
        Some(name) => catalogue.find_region(name),
        None => Ok(catalogue.world()),
    };
    let (site, cloud) = (place(&text.site.region)?, place(&text.cloud.region)?);
    let local = |take: &mut Taker, key, local: &breakeven::hardware::grid::Local, unit: &str| {
        let why = if local.assumed {
            "the mean of the world: no region is given, or none nearer is known"
        } else {
            "of the region given"
        };
        take.assumed.push(Assumption { key, value: local.value, text: format!("{}{unit}", local.value), why });
        local.value
    };
    let any = |is: fn(Way) -> bool| ways.iter().any(|way| is(*way));
    let (bought, rented) = (any(Way::is_bought), any(|way| !way.is_bought()));
    let (server, spot, reserved) =
        (ways.contains(&Way::Server), any(Way::is_interrupted), ways.contains(&Way::Reserved));
    let (stored, sent) = (works.iter().any(|w| w.storage_b > 0.0), works.iter().any(|w| w.network_b > 0.0));
    let full = take.per_usd;
    // What no option uses is taken all the same, and not told.
    // What no option uses is taken silently, so that the list of assumptions holds those that count.
    let mut unused = Taker { per_usd: full, assumed: Vec::new() };
    macro_rules! at {
        ($counts:expr) => {
            if $counts { &mut *take } else { &mut unused }
        };
    }
    let electricity_kwh = match &text.site.electricity {
        Some(typed) => above_zero(Measure::UsdPerKwh, typed, "site.electricity")?,
        None => local(at!(bought), "site.electricity", &site.electricity_usd_per_kwh, " USD per kWh") * full,
    };
    let site_g_per_kwh = local(at!(bought), "site.region", &site.carbon_g_per_kwh, " g CO2e per kWh");
    let cloud_g_per_kwh = local(at!(rented), "cloud.region", &cloud.carbon_g_per_kwh, " g CO2e per kWh");
    let cloud_pue = match (text.cloud.pue, &cloud.pue) {
        (None, Some(pue)) => pue.value,
        (given, _) => at!(rented).within(given, 1.0, 5.0, "cloud.pue")?,
    };
    let resale = match text.buy.resale {
        None => libm::pow(at!(bought).assume("buy.resale"), f64::from(months) / 36.0),
        given => at!(bought).within(given, 0.0, 1.0, "buy.resale")?,
    };
    Ok(Rates {
        electricity_kwh,
        site_g_per_kwh,
        site_pue: at!(server).within(text.site.pue, 1.0, 5.0, "site.pue")?,
        hosting_kw_month: at!(server).money(text.site.hosting.as_ref(), Measure::Usd, "site.hosting")?,
        cloud_g_per_kwh,
        cloud_pue,
        boot_s: at!(rented).or(text.cloud.boot.as_ref(), Measure::Seconds, "cloud.boot")?,
        minimum_s: at!(rented).or(text.cloud.minimum.as_ref(), Measure::Seconds, "cloud.minimum")?,
        utilisation: take.within(text.cloud.utilisation, 0.05, 0.98, "cloud.utilisation")?,
        interruptions_per_h: at!(spot).within(
            text.spot.interruptions_per_hour,
            0.0,
            60.0,
            "spot.interruptions_per_hour",
        )?,
        restart_s: at!(spot).or(text.spot.restart.as_ref(), Measure::Seconds, "spot.restart")?,
        discount: at!(reserved).within(text.reserved.discount, 0.0, 0.95, "reserved.discount")?,
        term_months: at!(reserved).within(
            text.reserved.term.map(f64::from),
            1.0,
            f64::from(LONGEST),
            "reserved.term",
        )?,
        workstation: at!(ways.contains(&Way::Workstation)).money(
            text.buy.workstation.as_ref(),
            Measure::Usd,
            "buy.workstation",
        )?,
        server: at!(server).money(text.buy.server.as_ref(), Measure::Usd, "buy.server")?,
        resale,
        staff_hour: take.money(text.staff.per_hour.as_ref(), Measure::UsdPerHour, "staff.per_hour")?,
        staff_rented_h: at!(rented).within(text.staff.rented, 0.0, HOURS, "staff.rented")?,
        staff_bought_h: at!(bought).within(text.staff.bought, 0.0, HOURS, "staff.bought")?,
        storage_bps: at!(stored).or(text.data.storage_rate.as_ref(), Measure::BytesPerSec, "data.storage_rate")?,
        network_bps: at!(sent).or(text.data.network_rate.as_ref(), Measure::BytesPerSec, "data.network_rate")?,
        storage_gb_month: at!(stored).money(text.data.storage_price.as_ref(), Measure::Usd, "data.storage_price")?,
        kept_months: at!(stored).within(text.data.kept_months, 0.0, f64::from(LONGEST), "data.kept_months")?,
        egress_gb: at!(sent && rented).money(text.data.egress_price.as_ref(), Measure::Usd, "data.egress_price")?,
        rent_factor: 1.0,
        purchase_factor: 1.0,
        time_factor: 1.0,
    })
}
