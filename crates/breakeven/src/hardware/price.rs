//! What renting a device costs.

use super::table::{Errors, Row, shown};
use super::{Catalogue, Date};
use crate::units::UsdPerHour;

pub(super) const HEADER: [&str; 12] = [
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
];

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
}

impl Price {
    /// One device's share of the machine.
    pub fn per_device(&self) -> UsdPerHour {
        self.machine / self.count
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
    /// Spot and marketplace prices too.
    pub spot: bool,
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
    /// after complete ones.
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
            .filter(|p| p.device == device && (wanted.spot || p.terms == Terms::OnDemand))
            .filter(|p| same(&wanted.provider, &p.provider))
            .filter(|p| p.region.as_ref().is_none_or(|region| same(&wanted.region, region)))
            .collect();
        let share = |p: &Price| p.per_device().get();
        found.sort_by(|a, b| a.incomplete.cmp(&b.incomplete).then(share(a).total_cmp(&share(b))));
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

/// The offer of one line in place of the one that it is about, or after all others. What is wrong with it goes into
/// `errors`.
pub(super) fn read(row: &Row<'_>, all: &mut Vec<Price>, errors: &mut Errors) {
    let Some(read) = price(row, errors) else { return };
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let region = |p: &Price| p.region.as_deref().unwrap_or_default().to_ascii_lowercase();
    let told = |old: &&mut Price| {
        old.device == read.device
            && old.terms == read.terms
            && same(&old.instance, &read.instance)
            && same(&old.provider, &read.provider)
            && region(old) == region(&read)
    };
    match all.iter_mut().find(told) {
        Some(old) => *old = read,
        None => all.push(read),
    }
}

fn price(row: &Row<'_>, errors: &mut Errors) -> Option<Price> {
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
    fn every_price_has_a_known_source() {
        let sources = sources();
        for price in prices() {
            assert!(sources.iter().any(|s| s.id == price.source), "{}", price.source);
            assert!(price.per_device().get() < 20.0, "{price:?}");
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
        let t4: Vec<_> = offers("t4", &Wanted::default()).collect();
        assert!(t4.len() > 5 && t4.iter().all(|p| p.terms == Terms::OnDemand));
        let (complete, alone) = t4.split_at(t4.iter().position(|p| p.incomplete).unwrap());
        assert!(alone.iter().all(|p| p.incomplete));
        assert!(complete.is_sorted_by_key(|p| p.per_device().get()));
        assert_eq!((complete[0].instance.as_str(), complete[0].machine.get()), ("g4dn.xlarge", 0.53));
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
        assert_eq!(price.date, day("2026-03-23"));
        assert_eq!(price.age_days(day("2026-04-22")), 30);
        assert!(!price.is_old(day("2026-04-22")) && price.is_old(day("2026-04-23")));
        let oci = offers("mi355x", &Wanted::default()).next().unwrap();
        assert_eq!(oci.date_text(), "2026");
    }
}
