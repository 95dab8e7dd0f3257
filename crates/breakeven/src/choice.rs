//! Which devices a request is about, and what they cost: names and options resolved against the catalogue.

use crate::calibration::{self, Calibration};
use crate::estimate::{Note, Price};
use crate::hardware::cpu::COMMON_CLOCK;
use crate::hardware::price::{Class, OLD_AFTER_DAYS, Wanted};
use crate::hardware::{self, Catalogue, Cpu, Date, Gpu};
use crate::interval::Interval;
use crate::quantity::Measure;
use crate::report::words;
use crate::request::{Machine, Options, Request};
use crate::spend::Rates;
use crate::units::Bytes;
use crate::workload::Program;
use crate::{Error, Result};
use std::borrow::Cow;

/// Names of GPUs that one request may have: several for each GPU there is.
const MOST_NAMES: usize = 1000;

/// Average power of a busy CPU as a share of its limit, and how wide that may be off (ln-sigma): between half load and
/// full load of a server (SPECpower-like curves), assumed.
const CPU_LOAD: (f64, f64) = (0.7, 0.3);
/// Where no CPU is known at all: cores of a common desktop.
const REFERENCE_CORES: u32 = 8;
/// The machine whose price per virtual CPU stands for a CPU that nobody priced.
const REFERENCE_MACHINE: &str = "aws-c7g-xlarge";

/// One GPU asked about.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The catalogue's row.
    pub gpu: Gpu,
    /// How many at once: an instance name brings its own count.
    pub count: u32,
    /// Rent of one, if a price is known and allowed by the options.
    pub price: Option<Price>,
}

/// Everything the options decide before anything is estimated.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The embedded catalogue with the request's own on top.
    pub catalogue: Cow<'static, Catalogue>,
    /// In the order of the catalogue or of the question.
    pub gpus: Vec<Pick>,
    /// The baseline CPU: named, recorded, or an assumed common one.
    pub cpu: Cpu,
    /// Whether the user named it.
    pub cpu_named: bool,
    /// The CPU beside the GPU, where the user named one.
    pub host_cpu: Option<Cpu>,
    /// What an hour of the CPU side costs and draws.
    pub cpu_rates: Rates,
    /// Given power of one GPU, W.
    pub gpu_watts: Option<f64>,
    /// Given rent of one GPU, for one that is not of the catalogue.
    gpu_price: Option<Price>,
    /// Grid: carbon intensity, PUE, electricity.
    grid: Rates,
    /// What the reader should know of the choice.
    pub notes: Vec<Note>,
    /// What was measured on the machine that the program ran on, or on the one named.
    pub calibration: Option<Calibration>,
}

/// Resolves the options of `request`.
///
/// # Errors
/// Names that match nothing, prices that do not read, a catalogue override with a wrong figure.
pub fn choose(request: &Request) -> Result<Choice> {
    let options = &request.options;
    let catalogue = Catalogue::embedded().and(options.catalogue.as_deref())?;
    let mut notes = Vec::new();
    let mut gpus = picks(&catalogue, options, &mut notes)?;
    price(&catalogue, &mut gpus, request, &mut notes)?;
    let find_cpu = |name: &Option<String>, field| {
        let found = name.as_deref().map(|name| catalogue.find_cpu(name).map_err(|e: Error| e.field(field)));
        found.transpose().map(|cpu| cpu.cloned())
    };
    let calibration = options.machine.as_deref().map(|text| Calibration::new(text, &catalogue)).transpose()?;
    let machine = machine(request);
    let here = calibration.as_ref().filter(|own| machine.as_ref().is_some_and(|machine| own.is_of(machine)));
    let named = match (&options.cpu, &calibration) {
        // The CPU that the program ran on has its own times.
        (Some(name), Some(_)) if name == calibration::CPU && here.is_some() => None,
        (Some(name), Some(own)) if name == calibration::CPU => Some(own.named_cpu()?),
        _ => find_cpu(&options.cpu, "cpu")?,
    };
    let host_cpu = find_cpu(&options.host_cpu, "host_cpu")?;
    let own = here.and_then(|own| own.cpu.clone());
    let cpu = named.clone().or(own).or_else(|| cpu_of(&catalogue, machine.as_ref()?)).unwrap_or_else(reference_cpu);
    if let Some(own) = &calibration {
        let board = own.gpu.as_ref();
        let mut on_board = false;
        for pick in gpus.iter_mut().filter(|pick| board.is_some_and(|board| board.id == pick.gpu.id())) {
            pick.gpu.device = board.cloned().unwrap_or_else(|| pick.gpu.device.clone());
            on_board = true;
        }
        let on_cpu = cpu.device.measured.is_some();
        notes.extend((on_cpu || on_board).then(|| Note::new("calibrated", own.note(on_cpu, on_board))));
    }
    let threads = match (&named, &machine) {
        (None, Some(machine)) if machine.cpu_threads > 0 => f64::from(machine.cpu_threads.min(cpu.threads)),
        _ => f64::from(cpu.threads),
    };
    let grid = grid(&catalogue, options, &mut notes)?;
    let cpu_watts = match Measure::Watts.read_field(&options.cpu_watts, "cpu_watts")? {
        Some(w) => Some(Interval::exact(w)),
        None => cpu
            .device
            .tdp
            .map(|w| Interval::log_normal(w.get() * CPU_LOAD.0 * threads / f64::from(cpu.threads.max(1)), CPU_LOAD.1)),
    };
    let cpu_price = match Measure::UsdPerHour.read_field(&options.cpu_price, "cpu_price")? {
        Some(usd) => Some(given_price(usd)),
        None => machine_price(&catalogue, &cpu, threads),
    };
    let cpu_rates = Rates { price: cpu_price, watts: cpu_watts, ..grid.clone() };
    if cpu_rates.watts.is_none() {
        notes.push(Note::new("no-watts", "the watts of this CPU are unknown: `--cpu-watts` gives them"));
    }
    let gpu_watts = Measure::Watts.read_field(&options.gpu_watts, "gpu_watts")?;
    let gpu_price = Measure::UsdPerHour.read_field(&options.price, "price")?.map(given_price);
    let cpu_named = named.is_some();
    Ok(Choice { catalogue, gpus, cpu, cpu_named, host_cpu, cpu_rates, gpu_watts, gpu_price, grid, notes, calibration })
}

impl Choice {
    /// Rent and power of `gpus` such GPUs together: given, else the board's limit.
    pub fn gpu_rates(&self, pick: Option<&Pick>, gpus: f64) -> Rates {
        let limit = pick.and_then(|p| p.gpu.device.tdp).map(|w| w.get());
        let watts = self.gpu_watts.or(limit).map(|w| Interval::exact(w * gpus));
        self.rates(pick, gpus, watts)
    }

    /// Single-thread speed of the GPU machine's CPU, relative to the one that `recorded` names.
    pub fn host_speed(&self) -> f64 {
        self.host_cpu.as_ref().map_or(1.0, |host| relative_speed(host, &self.cpu))
    }

    /// Rent of `gpus` such GPUs, with a power that the caller knows better.
    pub fn rates(&self, pick: Option<&Pick>, gpus: f64, watts: Option<Interval>) -> Rates {
        let of = |p: Price| {
            let least_usd = p.least_usd.map(|usd| usd * gpus);
            Price { usd_per_h: p.usd_per_h * gpus, least_usd, ..p }
        };
        let price = pick.map_or(&self.gpu_price, |p| &p.price).clone().map(of);
        Rates { price, watts, ..self.grid.clone() }
    }
}

/// Single-thread speed by boost clocks, the only figure that all makers publish; 1 where one is not known.
fn relative_speed(host: &Cpu, here: &Cpu) -> f64 {
    match (host.device.boost, here.device.boost) {
        (Some(a), Some(b)) if b.get() > 0.0 => (a / b).clamp(0.25, 4.0),
        _ => 1.0,
    }
}

/// The machine that a workload was recorded on; where nothing was recorded, that of whoever asks.
fn machine(request: &Request) -> Option<Machine> {
    let recorded = request.workload.as_ref().map(|w| &w.program);
    let of = |program: &Program| Machine {
        cpu: program.cpu.clone(),
        cpu_threads: program.cpu_threads,
        ..Machine::default()
    };
    recorded.map(of).or_else(|| request.machine.clone())
}

/// A machine's CPU, as far as its name tells, else its threads, cache and vectors.
fn cpu_of(catalogue: &Catalogue, machine: &Machine) -> Option<Cpu> {
    let cache = Bytes(machine.cpu_cache_bytes as f64);
    catalogue.cpu_of(&machine.cpu, machine.cpu_threads, cache, machine.cpu_wide)
}

fn reference_cpu() -> Cpu {
    Cpu::generic(REFERENCE_CORES, COMMON_CLOCK)
}

/// The CPU's own price, else that of a common cloud machine by its virtual CPUs.
fn machine_price(catalogue: &Catalogue, cpu: &Cpu, threads: f64) -> Option<Price> {
    let own = catalogue.offers(&cpu.device.id, &Wanted::default()).next();
    if let Some(p) = own {
        return Some(shown(p, 1.0));
    }
    let reference = catalogue.prices().iter().find(|p| p.device == REFERENCE_MACHINE)?;
    let vcpus = catalogue.cpus().iter().find(|c| c.device.id == REFERENCE_MACHINE)?.threads;
    Some(shown(reference, threads / f64::from(vcpus.max(1))))
}

/// A catalogue price for people; `devices` of its device.
fn shown(p: &hardware::price::Price, devices: f64) -> Price {
    let usd_per_h = p.per_device().get() * devices;
    Price {
        provider: p.provider.clone(),
        instance: p.instance.clone(),
        usd_per_h,
        instance_usd_per_h: Some(p.machine.get()),
        date: p.date_text(),
        class: Some(p.class().name().to_owned()),
        lone: p.is_lone(),
        least_usd: p.minimum_s().map(|seconds| usd_per_h * seconds / 3600.0),
    }
}

fn given_price(usd_per_h: f64) -> Price {
    Price {
        provider: "given".to_owned(),
        instance: String::new(),
        usd_per_h,
        instance_usd_per_h: None,
        date: String::new(),
        class: None,
        lone: false,
        least_usd: None,
    }
}

fn picks(catalogue: &Catalogue, options: &Options, notes: &mut Vec<Note>) -> Result<Vec<Pick>> {
    if options.gpu.is_empty() {
        return Ok(catalogue.gpus().iter().map(|g| Pick { gpu: g.clone(), count: 1, price: None }).collect());
    }
    if options.gpu.len() > MOST_NAMES {
        let message = format!("{} GPUs are named; at most {MOST_NAMES} are looked up", options.gpu.len());
        return Err(Error::new("too-many-gpus", message).hint("name none to have all of the catalogue").field("gpu"));
    }
    let mut picks: Vec<Pick> = Vec::new();
    for name in &options.gpu {
        let found = catalogue.find_gpu(name).map_err(|e| e.field("gpu"))?;
        notes.extend(found.note.map(|text| Note::new("gpu-name", text)));
        let count = found.instance.map_or(1, |i| i.gpus.round().max(1.0) as u32);
        for gpu in found.gpus {
            if !picks.iter().any(|p| p.gpu.id() == gpu.id()) {
                picks.push(Pick { gpu: gpu.clone(), count, price: None });
            }
        }
    }
    Ok(picks)
}

fn price(catalogue: &Catalogue, gpus: &mut Vec<Pick>, request: &Request, notes: &mut Vec<Note>) -> Result<()> {
    let options = &request.options;
    if let Some(name) = options.provider.as_deref().filter(|name| catalogue.provider(name).is_none()) {
        let message = format!("no provider of the catalogue is called `{}`", words::printable(name, 40));
        return Err(Error::new("unknown-provider", message).hint(catalogue.providers().join(", ")).field("provider"));
    }
    if let Some(usd) = Measure::UsdPerHour.read_field(&options.price, "price")? {
        gpus.iter_mut().for_each(|p| p.price = Some(given_price(usd)));
    } else {
        let wanted = wanted(catalogue, options)?;
        let today = Date::parse(&request.today);
        let mut old = 0;
        let mut alone = 0;
        let asked = options.region.as_deref().map(str::trim);
        let mut elsewhere = Vec::new();
        for pick in gpus.iter_mut() {
            let Some(offer) = catalogue.offers(pick.gpu.id(), &wanted).next() else { continue };
            let there = |region: &str| offer.region.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(region));
            elsewhere.extend(asked.is_some_and(|region| !there(region)).then_some(offer));
            old += u32::from(today.is_some_and(|day| offer.is_old(day)));
            alone += u32::from(offer.incomplete);
            pick.price = Some(shown(offer, 1.0));
        }
        // A country has no prices of its own.
        let cloud = asked.filter(|name| catalogue.find_region(name).is_ok_and(|place| place.provider.is_some()));
        if let (Some(region), Some(first)) = (cloud, elsewhere.first()) {
            let provider = words::printable(&first.provider, 40);
            let of = match &first.region {
                Some(own) => format!("{provider} in {}", words::printable(own, 40)),
                None => format!("{provider}, which names no region"),
            };
            let (region, those) = (words::printable(region, 40), elsewhere.len());
            let which =
                if gpus.len() == 1 { of } else { format!("other places, as {of}, for {those} of {} GPUs", gpus.len()) };
            notes.push(Note::new("other-region", format!("no price of {region} is known: it is that of {which}")));
        }
        if old > 0 {
            let text = format!("{} older than {OLD_AFTER_DAYS} days; `--price` takes today's", of_prices(old));
            notes.push(Note::new("old-prices", text));
        }
        if alone > 0 {
            let text = format!("{} for the GPU alone: the machine around it costs extra", of_prices(alone));
            notes.push(Note::new("incomplete-prices", text));
        }
    }
    if let Some(limit) = Measure::UsdPerHour.read_field(&options.max_price, "max_price")? {
        gpus.retain(|p| p.price.as_ref().is_some_and(|price| price.usd_per_h <= limit));
        if gpus.is_empty() {
            return Err(Error::new("no-gpu", "no GPU asked for has a known price within the limit")
                .hint("raise `--max-price`, or see `breakeven prices`")
                .field("max_price"));
        }
    }
    let rented = gpus.iter().filter(|p| p.price.is_some()).count();
    if let (Some(name), None) = (&options.provider, &options.price)
        && options.gpu.is_empty()
        && rented < gpus.len()
    {
        let name = words::printable(catalogue.provider(name).unwrap_or(name), 40);
        if rented == 0 {
            return Err(Error::new("no-gpu", format!("{name} rents none of the GPUs as asked for"))
                .hint("leave `--spot` or `--region` out, or see `breakeven prices`")
                .field("provider"));
        }
        let others = gpus.len() - rented;
        let text = format!("{others} GPUs that {name} does not rent are left out; `--gpu NAME` shows one all the same");
        notes.push(Note::new("not-rented", text));
        gpus.retain(|p| p.price.is_some());
    }
    let unknown = gpus.iter().filter(|p| p.price.is_none()).count();
    if unknown > 0 {
        let text = format!("no price that fits is known for {unknown} of {} GPUs; `--price` gives one", gpus.len());
        notes.push(Note::new("no-price", text));
    }
    Ok(())
}

/// Every GPU of the catalogue that rents as a whole machine under the options, not from a single host unless asked for;
/// none where the user gave a price.
pub fn offered(catalogue: &Catalogue, options: &Options) -> Vec<Pick> {
    let Some(wanted) = wanted(catalogue, options).ok().filter(|_| options.price.is_none()) else { return Vec::new() };
    let sure = |offer: &&hardware::price::Price| !offer.incomplete && (wanted.class.is_some() || !offer.is_lone());
    let whole = |gpu: &Gpu| catalogue.offers(gpu.id(), &wanted).find(sure);
    let offer = |gpu: &Gpu| whole(gpu).map(|offer| shown(offer, 1.0));
    catalogue
        .gpus()
        .iter()
        .filter_map(|gpu| Some(Pick { gpu: gpu.clone(), count: 1, price: Some(offer(gpu)?) }))
        .collect()
}

fn of_prices(n: u32) -> String {
    if n == 1 { "one price is".to_owned() } else { format!("{n} of the prices are") }
}

/// The prices that the options want. A region of a cloud narrows them; a country does not.
fn wanted(catalogue: &Catalogue, options: &Options) -> Result<Wanted> {
    let priced = |region: &&String| {
        let here = |r: &str| r.eq_ignore_ascii_case(region.trim());
        catalogue.prices().iter().any(|p| p.region.as_deref().is_some_and(here))
    };
    let region = options.region.as_ref().filter(priced).cloned();
    let class = options.provider_class.as_deref().map(Class::read).transpose()?.flatten();
    Ok(Wanted { spot: options.spot, class, provider: options.provider.clone(), region })
}

fn grid(catalogue: &Catalogue, options: &Options, notes: &mut Vec<Note>) -> Result<Rates> {
    let place = match &options.region {
        Some(region) => catalogue.find_region(region).map_err(|e| e.field("region"))?,
        None => {
            notes.push(Note::new("assumed-grid", "carbon is for the world's average grid; `--region` names another"));
            catalogue.world()
        }
    };
    let usd_per_kwh = Measure::UsdPerKwh.read_field(&options.electricity, "electricity")?;
    if let Some(usd) = usd_per_kwh {
        let price = Measure::UsdPerKwh.format(usd);
        notes.push(Note::new("energy-cost", format!("costs are those of electricity at {price}, not of rent")));
    }
    let pue = place.pue.as_ref().map_or(1.0, |pue| pue.value);
    Ok(Rates { pue, grams_per_kwh: Some(place.carbon_g_per_kwh.value), usd_per_kwh, ..Rates::default() })
}
