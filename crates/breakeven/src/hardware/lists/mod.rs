//! Price lists as other tools and providers write them, read as offers of the catalogue: any text, and none of it trusted.

mod infracost;
mod overlay;
mod tables;
#[cfg(test)]
mod tests;
mod types;

pub use overlay::{Change, Changes, merge, on_top, written};

use super::price::{Price, Terms};
use super::table::shown;
use super::{Catalogue, Date};
use crate::units::UsdPerHour;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A longer text is no price list, bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// Dated lists that a program can read and whose licence (Apache-2.0) allows it: the source that their offers cite, and
/// where they are.
pub const PUBLISHED: [(&str, &str); 3] = [
    (
        "karpenter-aws",
        "https://raw.githubusercontent.com/aws/karpenter-provider-aws/main/pkg/providers/pricing/zz_generated.pricing_aws.go",
    ),
    (
        "karpenter-gcp",
        "https://raw.githubusercontent.com/cloudpilot-ai/karpenter-provider-gcp/main/pkg/providers/pricing/initial-prices.json",
    ),
    (
        "karpenter-azure",
        "https://raw.githubusercontent.com/Azure/karpenter-provider-azure/main/pkg/providers/pricing/zz_generated.pricing.go",
    ),
];

/// What a list does not say of itself.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// What it is called: a file or an address. Lists of one provider are named for it.
    pub name: &'a str,
    /// The provider, where the user says so.
    pub provider: Option<&'a str>,
    /// What the offers are said to come from.
    pub source: &'a str,
    /// The day that prices without one are of.
    pub day: Date,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Whose form it has.
    pub format: &'static str,
    /// Offers of GPUs of the catalogue, each once.
    pub prices: Vec<Price>,
    /// Lines about other things, or that cannot be offers.
    pub left_out: usize,
}

/// Reads SkyPilot's and gpuhunt's CSV, Infracost's JSON, the price tables of the Karpenter providers (Go or JSON) and this
/// catalogue's own CSV. Offers that do not tell which GPU of the catalogue they are of are left out, and so is what cannot
/// be a price.
///
/// # Errors
/// A text of another form, or of more than [`MAX_BYTES`].
pub fn read(text: &str, about: &About, catalogue: &Catalogue) -> Result<List> {
    if text.len() > MAX_BYTES {
        let message = format!("{} has {} bytes: {} are allowed", shown(about.name), text.len(), MAX_BYTES);
        return Err(Error::new("price-list", message));
    }
    let mut offers = Offers::new(catalogue, about);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let head = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default().to_ascii_lowercase();
    let columns: Vec<&str> = head.split(',').map(|column| column.trim().trim_matches('"')).collect();
    let has = |names: &[&str]| names.iter().all(|name| columns.contains(name));
    let format = if has(&["provider", "instance", "device", "usd_per_hour"]) {
        tables::own(text, &mut offers);
        "breakeven"
    } else if has(&["acceleratorname", "price"]) {
        tables::skypilot(text, &mut offers);
        "SkyPilot"
    } else if has(&["gpu_name", "price"]) {
        tables::gpuhunt(text, &mut offers);
        "gpuhunt"
    } else if text.starts_with('{') && text.contains("\"costComponents\"") {
        infracost::read(text, &mut offers)?;
        "Infracost"
    } else if text.starts_with('{') || text.contains("map[") {
        types::read(text, &mut offers);
        "Karpenter"
    } else {
        let message = format!("{} is no price list that is known", shown(about.name));
        let hint = "known are CSV of SkyPilot, gpuhunt and breakeven, JSON of Infracost, and the price tables of the \
                    Karpenter providers";
        return Err(Error::new("price-list", message).hint(hint));
    };
    Ok(List { format, left_out: offers.left_out, prices: offers.found.into_values().collect() })
}

/// An offer as a list has it.
#[derive(Clone, Copy, Debug, Default)]
struct Offer<'a> {
    provider: &'a str,
    instance: &'a str,
    /// The GPU by any name; empty where the machine type tells it.
    gpu: &'a str,
    /// GPUs in the machine; `None` where the machine type tells it.
    count: Option<f64>,
    spot: bool,
    usd_per_h: f64,
    region: &'a str,
    date: Option<Date>,
}

/// Offers as they are found.
struct Offers<'a> {
    catalogue: &'a Catalogue,
    about: &'a About<'a>,
    /// The provider that the list is named for.
    provider: Option<&'static str>,
    /// What the names of GPUs were found to mean.
    gpus: BTreeMap<String, Option<String>>,
    /// Id and number of GPUs of each machine type, by its name in small letters.
    types: BTreeMap<String, (&'a str, &'a str, f64)>,
    found: BTreeMap<String, Price>,
    left_out: usize,
}

/// Providers by the names that lists of one are called.
const NAMED: [(&str, &str); 22] = [
    ("karpenter-provider-aws", "AWS"),
    ("karpenter-provider-azure", "Azure"),
    ("karpenter-provider-gcp", "GCP"),
    ("aws", "AWS"),
    ("azure", "Azure"),
    ("gcp", "GCP"),
    ("google", "GCP"),
    ("oci", "OCI"),
    ("lambda", "Lambda"),
    ("lambdalabs", "Lambda"),
    ("runpod", "RunPod"),
    ("vast", "Vast.ai"),
    ("vastai", "Vast.ai"),
    ("nebius", "Nebius"),
    ("verda", "Verda"),
    ("datacrunch", "Verda"),
    ("hyperstack", "Hyperstack"),
    ("do", "DigitalOcean"),
    ("digitalocean", "DigitalOcean"),
    ("vultr", "Vultr"),
    ("scaleway", "Scaleway"),
    ("tensordock", "TensorDock"),
];

/// The provider of that name, as the catalogue spells it.
fn called(name: &str) -> Option<&'static str> {
    NAMED.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, provider)| *provider)
}

impl<'a> Offers<'a> {
    fn new(catalogue: &'a Catalogue, about: &'a About<'a>) -> Self {
        let parts = about.name.split(['/', '\\', '.', '_', ':']);
        let provider = parts.rev().find_map(called);
        let types = catalogue.instances().iter();
        let types =
            types.map(|i| (i.name.to_ascii_lowercase(), (i.provider.as_str(), i.gpu.as_str(), i.gpus))).collect();
        let (gpus, found) = (BTreeMap::new(), BTreeMap::new());
        Self { catalogue, about, provider, gpus, types, found, left_out: 0 }
    }

    /// The provider of that name, or that the list is of.
    fn provider_of(&self, name: &str) -> Option<String> {
        let given = self.about.provider.unwrap_or(name);
        let known = called(given).or_else(|| self.catalogue.provider(given)).map(str::to_owned);
        let told = known.or_else(|| Some(given.trim().to_owned()).filter(|name| !name.is_empty()));
        told.or_else(|| self.provider.map(str::to_owned))
    }

    /// The one GPU of the catalogue that a name means.
    fn gpu(&mut self, name: &str) -> Option<String> {
        if let Some(known) = self.gpus.get(name) {
            return known.clone();
        }
        let found = self.catalogue.find_gpu(name).ok().filter(|found| found.gpus.len() == 1);
        let id = found.map(|found| found.gpus[0].id().to_owned());
        self.gpus.insert(name.to_owned(), id.clone());
        id
    }

    fn add(&mut self, offer: &Offer) {
        match self.price(offer) {
            Some(price) => self.keep(price),
            None => self.left_out += 1,
        }
    }

    /// Of two about the same the newer, of the same day the cheaper.
    fn keep(&mut self, price: Price) {
        let key = price.key();
        let better = |old: &Price| (price.date, -price.machine.get()) > (old.date, -old.machine.get());
        if self.found.get(&key).is_none_or(better) {
            self.found.insert(key, price);
        }
    }

    fn price(&mut self, offer: &Offer) -> Option<Price> {
        let typed = self.types.get(&offer.instance.trim().to_ascii_lowercase()).copied();
        let (device, count) = match typed {
            Some((_, gpu, gpus)) => (gpu.to_owned(), gpus),
            None => (self.gpu(offer.gpu).filter(|_| !offer.gpu.trim().is_empty())?, offer.count?),
        };
        let of_type = typed.map(|(provider, _, _)| provider);
        let provider = self.provider_of(offer.provider).or_else(|| of_type.map(str::to_owned))?;
        let instance = if offer.instance.trim().is_empty() { device.as_str() } else { offer.instance.trim() };
        let texts = [provider.as_str(), instance, offer.region.trim()];
        let sound = |text: &&str| text.len() <= 120 && !text.starts_with('#') && !text.chars().any(char::is_control);
        let range = |low: f64, value: f64, high: f64| (low..=high).contains(&value);
        let possible = range(1e-3, offer.usd_per_h, 1e4) && range(0.01, count, 1024.0);
        // No GPU of the catalogue rents for more than a fifth of that.
        if !texts.iter().all(sound) || !possible || !range(1e-3, offer.usd_per_h / count, 100.0) {
            return None;
        }
        Some(Price {
            provider: provider.clone(),
            instance: instance.to_owned(),
            device,
            count,
            terms: if offer.spot { Terms::Spot } else { Terms::OnDemand },
            machine: UsdPerHour(offer.usd_per_h),
            region: Some(offer.region.trim().to_owned()).filter(|region| !region.is_empty()),
            date: offer.date.unwrap_or(self.about.day),
            year_only: false,
            incomplete: false,
            source: self.about.source.to_owned(),
            note: String::new(),
            hosts: None,
        })
    }
}
