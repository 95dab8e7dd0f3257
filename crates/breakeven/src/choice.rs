//! Which devices a request is about, and what they cost: names and options resolved against the catalogue.

use crate::estimate::{Note, Price};
use crate::hardware::{Catalogue, Device, Gpu};
use crate::interval::Interval;
use crate::quantity::Measure;
use crate::request::{Options, Request, Typed};
use crate::spend::Rates;
use crate::{Error, Result};

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
    /// In the order of the catalogue or of the question.
    pub gpus: Vec<Pick>,
    /// The baseline CPU, where the user named it.
    pub cpu: Option<Device>,
    /// What an hour of the CPU side costs and draws.
    pub cpu_rates: Rates,
    /// Given power of one GPU, W.
    pub gpu_watts: Option<f64>,
    /// Grid: carbon intensity, PUE, electricity.
    grid: Rates,
    /// What the reader should know of the choice.
    pub notes: Vec<Note>,
}

/// Resolves the options of `request`.
///
/// # Errors
/// Names that match nothing, prices that do not read, a catalogue override with a wrong figure.
pub fn choose(request: &Request) -> Result<Choice> {
    let options = &request.options;
    let own;
    let catalogue = match &options.catalogue {
        Some(text) => {
            own = Catalogue::embedded().with_override("the catalogue file", text)?;
            &own
        }
        None => Catalogue::embedded(),
    };
    let mut notes = Vec::new();
    let mut gpus = picks(catalogue, options, &mut notes)?;
    price(&mut gpus, options)?;
    let grid = grid(options)?;
    let cpu_watts = read(&options.cpu_watts, Measure::Watts, "cpu_watts")?.map(Interval::exact);
    let cpu_price = read(&options.cpu_price, Measure::UsdPerHour, "cpu_price")?.map(given_price);
    let cpu_rates = Rates { price: cpu_price, watts: cpu_watts, ..grid.clone() };
    let gpu_watts = read(&options.gpu_watts, Measure::Watts, "gpu_watts")?;
    Ok(Choice { gpus, cpu: None, cpu_rates, gpu_watts, grid, notes })
}

impl Choice {
    /// Rent and power of `gpus` such GPUs together: given, else the board's limit.
    pub fn gpu_rates(&self, pick: Option<&Pick>, gpus: f64) -> Rates {
        let limit = pick.and_then(|p| p.gpu.device.tdp).map(|w| w.get());
        let watts = self.gpu_watts.or(limit).map(|w| Interval::exact(w * gpus));
        self.rates(pick, gpus, watts)
    }

    /// Rent of `gpus` such GPUs, with a power that the caller knows better.
    pub fn rates(&self, pick: Option<&Pick>, gpus: f64, watts: Option<Interval>) -> Rates {
        let price = pick.and_then(|p| p.price.clone()).map(|p| Price { usd_per_h: p.usd_per_h * gpus, ..p });
        Rates { price, watts, ..self.grid.clone() }
    }
}

fn read(typed: &Option<Typed>, measure: Measure, field: &'static str) -> Result<Option<f64>> {
    typed.as_ref().map(|t| measure.read(t).map_err(|e| e.field(field))).transpose()
}

fn given_price(usd_per_h: f64) -> Price {
    Price {
        provider: "given".to_owned(),
        instance: String::new(),
        usd_per_h,
        instance_usd_per_h: None,
        date: String::new(),
    }
}

fn picks(catalogue: &Catalogue, options: &Options, notes: &mut Vec<Note>) -> Result<Vec<Pick>> {
    if options.gpu.is_empty() {
        return Ok(catalogue.gpus().iter().map(|g| Pick { gpu: g.clone(), count: 1, price: None }).collect());
    }
    let mut picks: Vec<Pick> = Vec::new();
    for name in &options.gpu {
        let found = catalogue.find_gpu(name).map_err(|e| e.field("gpu"))?;
        notes.extend(found.note.map(|text| Note::new("gpu-name", text)));
        for gpu in found.gpus {
            if !picks.iter().any(|p| p.gpu.id() == gpu.id()) {
                picks.push(Pick { gpu: gpu.clone(), count: 1, price: None });
            }
        }
    }
    Ok(picks)
}

fn price(gpus: &mut Vec<Pick>, options: &Options) -> Result<()> {
    if let Some(usd) = read(&options.price, Measure::UsdPerHour, "price")? {
        gpus.iter_mut().for_each(|p| p.price = Some(given_price(usd)));
    }
    if let Some(limit) = read(&options.max_price, Measure::UsdPerHour, "max_price")? {
        gpus.retain(|p| p.price.as_ref().is_some_and(|price| price.usd_per_h <= limit));
        if gpus.is_empty() {
            return Err(Error::new("no-gpu", "no GPU asked for has a known price within the limit")
                .hint("raise `--max-price`, or see `breakeven prices`")
                .field("max_price"));
        }
    }
    Ok(())
}

fn grid(options: &Options) -> Result<Rates> {
    let usd_per_kwh = read(&options.electricity, Measure::UsdPerKwh, "electricity")?;
    Ok(Rates { pue: 1.0, usd_per_kwh, ..Rates::default() })
}
