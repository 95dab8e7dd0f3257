//! What renting a device costs.

use super::table::{Errors, Row, for_each_row, shown};
use super::{Catalogue, Date};
use crate::units::UsdPerHour;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::OnceLock;

const PROVIDERS: &str = include_str!("../../catalogue/providers.csv");

pub(super) const HEADER: [&str; 13] = [
    "provider",
    "instance",
    "device",
    "count",
    "kind",
    "usd_per_hour",
    "region",
    "date",
    "date_precision",
    "complete",
    "source",
    "note",
    "hosts",
];

/// The same without its last column, as files of people's own may have it.
pub(super) const SHORT_HEADER: [&str; 12] = {
    let mut short = [""; 12];
    let mut n = 0;
    while n < short.len() {
        short[n] = HEADER[n];
        n += 1;
    }
    short
};

/// A price older than this many days is told as old.
pub const OLD_AFTER_DAYS: i64 = 30;

/// On what terms a machine is rented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// For as long as wanted, at a listed price.
    OnDemand,
    /// Cheaper, and may be taken back at any time.
    Spot,
    /// From one of many hosts, at the host's price.
    Marketplace,
}

impl Terms {
    /// As `prices.csv` calls them.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "on_demand",
            Self::Spot => "spot",
            Self::Marketplace => "marketplace",
        }
    }
}

/// Who stands behind an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A company with machines of its own.
    Cloud,
    /// Many hosts, each with its own price, and none of them sure to be there tomorrow.
    Marketplace,
}

impl Class {
    /// As options and answers call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cloud => "cloud",
            Self::Marketplace => "marketplace",
        }
    }

    /// The classes that `--provider-class` asks for: `None` for all; `Err` for a word that is no class.
    ///
    /// # Errors
    /// Any other word.
    pub fn read(word: &str) -> Result<Option<Self>> {
        match word.trim().to_ascii_lowercase().as_str() {
            "all" => Ok(None),
            "cloud" => Ok(Some(Self::Cloud)),
            "marketplace" => Ok(Some(Self::Marketplace)),
            _ => Err(Error::new("unknown-class", format!("no class of providers is called {}", shown(word)))
                .hint("cloud, marketplace or all")
                .field("provider_class")),
        }
    }
}

/// What is known of a provider beside its prices.
struct Provider {
    name: String,
    class: Class,
    /// Seconds that a run is charged at least.
    minimum_s: Option<f64>,
}

/// The providers that are marketplaces or whose least charge is known.
fn providers() -> &'static [Provider] {
    static READ: OnceLock<Vec<Provider>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut all = Vec::new();
        for_each_row("providers.csv", PROVIDERS, &[&["provider", "class", "minimum_s", "source", "read"]], |_, row| {
            let class = if row.text(1) == "marketplace" { Class::Marketplace } else { Class::Cloud };
            all.push(Provider { name: row.text(0).to_owned(), class, minimum_s: row.text(2).parse().ok() });
            Ok(())
        })
        .expect("the tests read this very text");
        all
    })
}

/// A price as somebody listed it.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Who rents it out.
    pub provider: String,
    /// Machine type.
    pub instance: String,
    /// Catalogue id of the GPU, or of the CPU of a machine without one.
    pub device: String,
    /// Devices in the machine; a fraction where one is shared.
    pub count: f64,
    /// On what terms.
    pub terms: Terms,
    /// The whole machine.
    pub machine: UsdPerHour,
    /// Where; `None` when the provider asks the same everywhere or does not say.
    pub region: Option<String>,
    /// When it was read; the earliest possible day where only the year is known.
    pub date: Date,
    /// Only the year of `date` is known.
    pub year_only: bool,
    /// The price is of the GPU alone: the machine around it costs extra.
    pub incomplete: bool,
    /// Id of the source in `sources.csv`.
    pub source: String,
    /// What a reader should know; may be empty.
    pub note: String,
    /// Hosts of a marketplace that offer it; `None` where that is not told.
    pub hosts: Option<u32>,
}

impl Price {
    /// Who stands behind it.
    pub fn class(&self) -> Class {
        if self.terms == Terms::Marketplace {
            Class::Marketplace
        } else {
            self.known().map_or(Class::Cloud, |p| p.class)
        }
    }

    /// Whether it may be that of a single host: gone as soon as somebody else rents it.
    pub fn is_lone(&self) -> bool {
        self.class() == Class::Marketplace && self.hosts.unwrap_or(1) < 2
    }

    /// Seconds that a run is charged at least, where its provider says so.
    pub fn minimum_s(&self) -> Option<f64> {
        self.known()?.minimum_s
    }

    fn known(&self) -> Option<&'static Provider> {
        providers().iter().find(|p| p.name.eq_ignore_ascii_case(&self.provider))
    }

    /// One device's share of the machine.
    pub fn per_device(&self) -> UsdPerHour {
        self.machine / self.count
    }

    /// What it is about: two prices of which this is the same are one offer.
    pub(super) fn key(&self) -> String {
        let region = self.region.as_deref().unwrap_or_default();
        let about = [&self.provider, &self.instance, &self.device, region, self.terms.name()].join("\n");
        about.to_ascii_lowercase()
    }

    /// When it was read, as exactly as known: `2026-05-24` or `2026`.
    pub fn date_text(&self) -> String {
        let day = self.date.to_string();
        if self.year_only { day[..4].to_owned() } else { day }
    }

    /// Its age on the day `today`, days; at most that where only the year is known.
    pub fn age_days(&self, today: Date) -> i64 {
        today.days_since(self.date)
    }

    /// Whether it is old enough to say so.
    pub fn is_old(&self, today: Date) -> bool {
        self.age_days(today) > OLD_AFTER_DAYS
    }
}

/// Which price is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Spot prices too.
    pub spot: bool,
    /// Of such a provider alone.
    pub class: Option<Class>,
    /// From this provider alone, in any case.
    pub provider: Option<String>,
    /// In this region alone, in any case; prices that hold everywhere count.
    pub region: Option<String>,
}

impl Catalogue {
    /// Every price, by provider.
    pub fn prices(&self) -> &[Price] {
        &self.prices
    }

    /// The prices of one device that are wanted, cheapest first by the device's share; prices of the GPU alone come
    /// after complete ones, and those that a single host of a marketplace may ask after what others do.
    ///
    /// ```
    /// use breakeven::hardware::{Catalogue, price::Wanted};
    /// let wanted = Wanted { provider: Some("aws".into()), ..Wanted::default() };
    /// let p5 = Catalogue::embedded().offers("h100-sxm5-80gb", &wanted).next().unwrap();
    /// assert_eq!((p5.instance.as_str(), p5.machine.get(), p5.per_device().get()), ("p5.48xlarge", 55.04, 6.88));
    /// ```
    pub fn offers(&self, device: &str, wanted: &Wanted) -> impl Iterator<Item = &Price> + use<'_> {
        let same = |wanted: &Option<String>, have: &str| wanted.as_ref().is_none_or(|wanted| alike(wanted, have));
        let mut found: Vec<&Price> = self
            .prices
            .iter()
            .filter(|p| p.device == device && (wanted.spot || p.terms != Terms::Spot))
            .filter(|p| wanted.class.is_none_or(|class| class == p.class()))
            .filter(|p| same(&wanted.provider, &p.provider))
            .filter(|p| p.region.as_ref().is_none_or(|region| same(&wanted.region, region)))
            .collect();
        let last = |p: &Price| (p.incomplete, p.is_lone());
        let share = |p: &Price| p.per_device().get();
        found.sort_by(|a, b| last(a).cmp(&last(b)).then(share(a).total_cmp(&share(b))));
        found.into_iter()
    }

    /// Every provider that rents something out, each once.
    pub fn providers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for price in &self.prices {
            if !names.contains(&price.provider.as_str()) {
                names.push(&price.provider);
            }
        }
        names
    }

    /// The provider of that name, as the catalogue spells it.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// assert_eq!(catalogue.provider("aws"), Some("AWS"));
    /// assert_eq!(catalogue.provider("the shop round the corner"), None);
    /// ```
    pub fn provider(&self, name: &str) -> Option<&str> {
        self.providers().into_iter().find(|known| alike(name, known))
    }
}

/// In any case and punctuation.
fn alike(wanted: &str, have: &str) -> bool {
    wanted.trim().eq_ignore_ascii_case(have) || squeezed(wanted) == squeezed(have)
}

/// Letters and digits alone: `vast-ai` and `Vast.ai` are one.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Offers as lines tell them, each known by what it is about; those that come first are known to be apart.
pub(super) struct Prices {
    all: Vec<Price>,
    places: Option<BTreeMap<String, usize>>,
}

impl Prices {
    pub(super) fn of(all: Vec<Price>) -> Self {
        let places = || all.iter().enumerate().map(|(place, price)| (price.key(), place)).collect();
        Self { places: (!all.is_empty()).then(places), all }
    }

    pub(super) fn all(self) -> Vec<Price> {
        self.all
    }

    /// The offer of one line in place of the one that it is about, or after all others. What is wrong with it goes into
    /// `errors`.
    pub(super) fn read(&mut self, row: &Row<'_>, errors: &mut Errors) {
        let Some(read) = price(row, errors) else { return };
        let key = self.places.is_some().then(|| read.key());
        match self.places.as_mut().zip(key).map(|(places, key)| places.entry(key)) {
            Some(Entry::Occupied(place)) => self.all[*place.get()] = read,
            Some(Entry::Vacant(place)) => {
                place.insert(self.all.len());
                self.all.push(read);
            }
            None => self.all.push(read),
        }
    }
}

pub(super) fn price(row: &Row<'_>, errors: &mut Errors) -> Option<Price> {
    let text = |n: usize| row.required(n, HEADER[n]).map(str::to_owned);
    let one_of = |n: usize, allowed: [&str; 2]| match row.text(n) {
        t if t == allowed[0] => Ok(true),
        t if t == allowed[1] => Ok(false),
        t => Err(row.error(format!("{} is {}: {} and {} are allowed", HEADER[n], shown(t), allowed[0], allowed[1]))),
    };
    let terms = match row.text(4) {
        "on_demand" => Ok(Terms::OnDemand),
        "spot" => Ok(Terms::Spot),
        "marketplace" => Ok(Terms::Marketplace),
        t => Err(row.error(format!("kind is {}: on_demand, spot and marketplace are allowed", shown(t)))),
    };
    let [provider, instance, device, source] = [0, 1, 2, 10].map(|n| errors.keep(text(n)));
    let count = errors.keep(row.number(3, || "count".into(), &(0.01..=1024.0)));
    let terms = errors.keep(terms);
    let machine = errors.keep(row.number(5, || "usd_per_hour".into(), &(1e-3..=1e4)));
    let date = errors.keep(row.date(7));
    let hosts = match row.text(12) {
        "" => Some(None),
        _ => errors.keep(row.number(12, || "hosts".into(), &(1.0..=1e6))).map(|n| Some(n as u32)),
    };
    let (year_only, incomplete) = (errors.keep(one_of(8, ["year", "day"])), errors.keep(one_of(9, ["no", "yes"])));
    Some(Price {
        provider: provider?,
        instance: instance?,
        device: device?,
        count: count?,
        terms: terms?,
        machine: UsdPerHour(machine?),
        region: Some(row.text(6)).filter(|t| !t.is_empty()).map(str::to_owned),
        date: date?,
        year_only: year_only?,
        incomplete: incomplete?,
        source: source?,
        note: row.text(11).to_owned(),
        hosts: hosts?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::catalogue::sources;

    fn prices() -> &'static [Price] {
        Catalogue::embedded().prices()
    }

    fn offers(device: &str, wanted: &Wanted) -> impl Iterator<Item = &'static Price> {
        Catalogue::embedded().offers(device, wanted)
    }

    #[test]
    fn an_offer_is_there_once() {
        let keys: std::collections::BTreeSet<String> = prices().iter().map(Price::key).collect();
        assert_eq!(keys.len(), prices().len());
    }

    #[test]
    fn prices_are_of_today() {
        let day = |text| Date::parse(text).unwrap();
        let fresh = prices().iter().filter(|p| p.date >= day("2026-06-01")).count();
        assert!(fresh >= 300, "{fresh}");
        for price in prices() {
            assert!(day("2026-11-29").days_since(price.date) <= 365, "{price:?}");
        }
    }

    #[test]
    fn marketplaces_are_told_from_clouds() {
        for name in ["Vast.ai", "Salad", "Akash", "TensorDock", "Spheron"] {
            assert!(prices().iter().filter(|p| p.provider == name).all(|p| p.class() == Class::Marketplace), "{name}");
        }
        for name in ["AWS", "GCP", "Azure", "OCI", "Lambda", "CoreWeave"] {
            assert!(prices().iter().filter(|p| p.provider == name).all(|p| p.class() == Class::Cloud), "{name}");
        }
        // Its community's machines are other people's, its secure ones not.
        let runpod = |class| prices().iter().filter(|p| p.provider == "RunPod" && p.class() == class).count();
        assert!(runpod(Class::Cloud) > 5 && runpod(Class::Marketplace) > 5);
        for class in [Class::Cloud, Class::Marketplace] {
            let wanted = Wanted { class: Some(class), ..Wanted::default() };
            assert!(offers("rtx-4090", &wanted).count() > 0 && offers("rtx-4090", &wanted).all(|p| p.class() == class));
        }
        assert_eq!([Class::read("all").unwrap(), Class::read("Cloud").unwrap()], [None, Some(Class::Cloud)]);
        assert!(Class::read("spot").is_err());
    }

    #[test]
    fn a_single_host_comes_after_a_cloud() {
        let all: Vec<_> = offers("rtx-3090", &Wanted::default()).filter(|p| !p.incomplete).collect();
        let lone = all.iter().position(|p| p.is_lone()).unwrap();
        assert!(lone > 0 && all[lone..].iter().all(|p| p.is_lone()) && all[lone].machine < all[0].machine);
        let many = offers("h100-sxm5-80gb", &Wanted::default()).find(|p| p.hosts.is_some_and(|n| n > 1)).unwrap();
        assert!(many.class() == Class::Marketplace && !many.is_lone());
    }

    #[test]
    fn the_least_charge_is_known_of_some() {
        let least = |name: &str| prices().iter().find(|p| p.provider == name).unwrap().minimum_s();
        assert_eq!([least("AWS"), least("Lambda"), least("Akamai (Linode)")], [Some(60.0), Some(60.0), Some(3600.0)]);
        assert_eq!(least("Vast.ai"), None);
        let sources = sources();
        for line in PROVIDERS.lines().skip(1) {
            let field: Vec<&str> = line.rsplit(',').collect();
            assert!(sources.iter().any(|s| s.id == field[1]) && Date::parse(field[0]).is_some(), "{line}");
        }
    }

    #[test]
    fn every_price_has_a_known_source() {
        let sources = sources();
        for price in prices() {
            assert!(sources.iter().any(|s| s.id == price.source), "{}", price.source);
            assert!(price.per_device().get() < 40.0, "{price:?}");
        }
    }

    #[test]
    fn spot_is_never_dearer_than_on_demand() {
        let mut pairs = 0;
        for spot in prices().iter().filter(|p| p.terms == Terms::Spot) {
            for listed in prices().iter().filter(|p| p.terms == Terms::OnDemand) {
                let key = |p: &Price| (p.provider.clone(), p.instance.clone(), p.device.clone(), p.region.clone());
                if key(spot) == key(listed) {
                    assert!(spot.per_device() <= listed.per_device(), "{spot:?} {listed:?}");
                    pairs += 1;
                }
            }
        }
        assert!(pairs > 30, "{pairs}");
    }

    #[test]
    fn the_cheapest_complete_price_comes_first() {
        let wanted = Wanted { class: Some(Class::Cloud), ..Wanted::default() };
        let t4: Vec<_> = offers("t4", &wanted).collect();
        assert!(t4.len() > 5 && t4.iter().all(|p| p.terms == Terms::OnDemand));
        let (complete, alone) = t4.split_at(t4.iter().position(|p| p.incomplete).unwrap());
        assert!(alone.iter().all(|p| p.incomplete));
        assert!(complete.is_sorted_by_key(|p| p.per_device().get()));
        assert_eq!((complete[0].instance.as_str(), complete[0].machine.get()), ("g4dn.xlarge", 0.526));
    }

    #[test]
    fn filters_narrow() {
        let all = |wanted: &Wanted| offers("h100-sxm5-80gb", wanted).count();
        let spot = Wanted { spot: true, ..Wanted::default() };
        assert!(all(&spot) > all(&Wanted::default()));
        let vast = Wanted { provider: Some("vast-ai".into()), ..Wanted::default() };
        assert!(offers("h100-sxm5-80gb", &vast).all(|p| p.provider == "Vast.ai") && all(&vast) > 0);
        let virginia = Wanted { region: Some("us-east-1".into()), ..Wanted::default() };
        assert!(offers("h100-sxm5-80gb", &virginia).any(|p| p.instance == "p5.48xlarge"));
        assert!(offers("h100-sxm5-80gb", &virginia).all(|p| p.region.as_deref().is_none_or(|r| r == "us-east-1")));
        assert_eq!(offers("no-such-gpu", &Wanted::default()).count(), 0);
    }

    #[test]
    fn prices_grow_old() {
        let price = offers("a10g", &Wanted::default()).next().unwrap();
        let day = |text| Date::parse(text).unwrap();
        assert_eq!(price.date, day("2026-07-20"));
        assert_eq!(price.age_days(day("2026-08-19")), 30);
        assert!(!price.is_old(day("2026-08-19")) && price.is_old(day("2026-08-20")));
        let oci = offers("mi355x", &Wanted::default()).next().unwrap();
        assert_eq!(oci.date_text(), "2026");
    }
}
