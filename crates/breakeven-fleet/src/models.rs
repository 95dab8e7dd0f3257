//! The GPUs of a log: what the site calls them as devices of the catalogue, what an hour of one costs and draws.

use breakeven::hardware::{Catalogue, Device, price::Wanted};
use breakeven::interval::Interval;
use breakeven::kernel::idle_watts;
use breakeven::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// A GPU by its number.
pub type Model = u16;
/// The log does not say which, or nobody knows it.
pub const UNNAMED: Model = 0;

/// What the user says of GPUs and money.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// The GPU of jobs whose row names none.
    pub gpu: Option<String>,
    /// What a name of the log (a model, a partition) means: `(name, GPU)`.
    pub named: Vec<(String, String)>,
    /// USD an hour of any GPU.
    pub usd_per_gpu_h: Option<f64>,
    /// USD an hour of a CPU core, for jobs without a GPU.
    pub usd_per_cpu_h: Option<f64>,
}

/// One GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu<'c> {
    /// As the log or the catalogue calls it.
    pub name: String,
    /// The device; of a family the member with the least memory.
    pub device: Option<&'c Device>,
    /// Several devices go by that name.
    pub family: bool,
    /// Rent of an hour, USD: of a family from the cheapest member to the dearest.
    pub usd_per_h: Option<Interval>,
    /// When the price was read.
    pub price_date: Option<String>,
    /// With nothing to do and at its limit, W.
    pub watts: Option<(f64, f64)>,
    /// Slices that MIG cuts it into; 0 where it does not.
    pub slices: u8,
}

/// Every GPU met so far.
#[derive(Debug)]
pub struct Models<'c> {
    catalogue: &'c Catalogue,
    given: Given,
    known: RwLock<Known<'c>>,
}

/// A GPU with its memory in use in GiB and its busy share in %: what decides which smaller one would do.
type Need = (Model, u16, u8);

#[derive(Debug, Default)]
struct Known<'c> {
    numbers: HashMap<String, Model>,
    gpus: Vec<Arc<Gpu<'c>>>,
    smaller: HashMap<Need, Option<Model>>,
}

impl<'c> Models<'c> {
    /// No GPU met yet.
    ///
    /// # Errors
    /// A GPU that was given and that the catalogue does not have; a price below 0.
    pub fn new(catalogue: &'c Catalogue, given: Given) -> Result<Self> {
        for name in given.gpu.iter().chain(given.named.iter().map(|(_, name)| name)) {
            catalogue.find_gpu(name)?;
        }
        for price in given.usd_per_gpu_h.iter().chain(&given.usd_per_cpu_h) {
            if !price.is_finite() || *price < 0.0 {
                let error = Error::new("bad-price", format!("a price of {price} USD an hour: it is 0 or more"));
                return Err(error.hint("write it like `--price 1.50`"));
            }
        }
        let models = Self { catalogue, given, known: RwLock::default() };
        models.enter("");
        Ok(models)
    }

    /// What the user gave.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// The GPU that a row means, by what it calls it and where it ran.
    pub fn of(&self, name: Option<&str>, partition: Option<&str>) -> Model {
        let said = self.given.named.iter().find(|(known, _)| name == Some(known) || partition == Some(known));
        let name = said.map(|(_, gpu)| gpu.as_str()).or(name).or(self.given.gpu.as_deref());
        name.map_or(UNNAMED, |name| self.number(name))
    }

    fn number(&self, name: &str) -> Model {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(name) {
            return *number;
        }
        drop(known);
        self.enter(name)
    }

    fn enter(&self, name: &str) -> Model {
        let gpu = self.looked_up(name);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(name) {
            return *number;
        }
        // Nobody has so many models; what a log calls so is no name of one.
        let Ok(number) = Model::try_from(known.gpus.len()) else { return UNNAMED };
        known.numbers.insert(name.to_owned(), number);
        known.gpus.push(Arc::new(gpu));
        number
    }

    fn looked_up(&self, name: &str) -> Gpu<'c> {
        let unknown = Gpu {
            name: name.to_owned(),
            device: None,
            family: false,
            usd_per_h: self.given.usd_per_gpu_h.map(Interval::exact),
            price_date: None,
            watts: None,
            slices: 0,
        };
        let found = if name.is_empty() { None } else { self.catalogue.find_gpu(name).ok() };
        let Some(found) = found.map(|found| found.gpus) else { return unknown };
        let Some(least) = found.iter().min_by(|a, b| a.device.memory.get().total_cmp(&b.device.memory.get())) else {
            return unknown;
        };
        let wanted = Wanted::default();
        let offers = found.iter().filter_map(|gpu| self.catalogue.offers(gpu.id(), &wanted).next());
        let mut prices: Vec<(f64, String)> =
            offers.map(|offer| (offer.per_device().get(), offer.date_text())).collect();
        prices.sort_by(|a, b| a.0.total_cmp(&b.0));
        let price = prices.get(prices.len() / 2).filter(|_| self.given.usd_per_gpu_h.is_none());
        let listed = price.map(|p50| Interval { p10: prices[0].0, p50: p50.0, p90: prices[prices.len() - 1].0 });
        Gpu {
            name: if found.len() == 1 { least.name().to_owned() } else { name.to_owned() },
            device: Some(&least.device),
            family: found.len() > 1,
            usd_per_h: unknown.usd_per_h.or(listed),
            price_date: price.map(|price| price.1.clone()),
            watts: idle_watts(&least.device).zip(least.device.tdp.map(|watts| watts.get())),
            slices: slices(&least.device.id),
            ..unknown
        }
    }

    /// What is known of a GPU.
    pub fn gpu(&self, model: Model) -> Arc<Gpu<'c>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.gpus.get(usize::from(model)).unwrap_or(&known.gpus[0]))
    }

    /// A smaller GPU that would do for so many bytes and such a busy share, and costs no more.
    pub fn smaller(&self, model: Model, bytes: f64, busy: f64) -> Option<Model> {
        let need = (model, (bytes / 1_073_741_824.0).ceil() as u16, (busy * 100.0).ceil() as u8);
        if let Some(found) = self.known.read().unwrap_or_else(PoisonError::into_inner).smaller.get(&need) {
            return *found;
        }
        let present = self.gpu(model).device;
        let (bytes, busy) = (f64::from(need.1) * 1_073_741_824.0, f64::from(need.2) / 100.0);
        let found = present.and_then(|device| self.catalogue.smaller(device, bytes, busy));
        let found = found.map(|device| self.number(&device.id));
        self.known.write().unwrap_or_else(PoisonError::into_inner).smaller.insert(need, found);
        found
    }
}

/// Slices that MIG cuts a GPU into, by NVIDIA's user guide: seven of eight parts of its memory, four of the A30.
fn slices(id: &str) -> u8 {
    const SEVEN: [&str; 9] = ["a100", "a800", "h100", "h800", "h200", "gh200", "b200", "b300", "gb200"];
    let family = id.split('-').next().unwrap_or_default();
    match family {
        "a30" => 4,
        family if SEVEN.contains(&family) => 7,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sites_are_devices_with_prices() {
        let given = Given { named: vec![("big".into(), "h100-sxm5-80gb".into())], ..Given::default() };
        let models = Models::new(Catalogue::embedded(), given).unwrap();
        let gpu = |name, partition| models.gpu(models.of(name, partition));
        assert_eq!((gpu(Some("a100"), None).family, gpu(Some("a100"), None).slices), (true, 7));
        assert_eq!(gpu(None, Some("big")).device.unwrap().id, "h100-sxm5-80gb");
        assert_eq!((gpu(Some("unobtainium"), None).device, gpu(None, None).usd_per_h), (None, None));
        assert!(gpu(Some("l4"), None).usd_per_h.unwrap().p50 > 0.0);
        let l40s = models.of(Some("l40s"), None);
        assert_eq!(models.gpu(models.smaller(l40s, 2e9, 0.2).unwrap()).name, "L4");
        let wrong = Given { gpu: Some("zx81".into()), ..Given::default() };
        assert!(Models::new(Catalogue::embedded(), wrong).is_err());
    }
}
