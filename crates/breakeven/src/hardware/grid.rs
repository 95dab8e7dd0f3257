//! Where electricity is drawn: carbon, data-centre overhead and price of a place.

use super::Catalogue;
use super::find::key;
use super::table::{Row, shown};
use crate::{Error, Result};

pub(super) const HEADER: [&str; 14] = [
    "kind",
    "code",
    "also",
    "name",
    "provider",
    "country",
    "carbon_g_per_kwh",
    "carbon_year",
    "carbon_source",
    "pue",
    "pue_source",
    "electricity_usd_per_kwh",
    "electricity_source",
    "read",
];

/// A figure of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// The number; the field that holds it names the unit.
    pub value: f64,
    /// The place it is of: the one asked for, its country, or the world.
    pub of: String,
    /// Id of the source in `sources.csv`.
    pub source: String,
    /// It is the world's mean, for want of a nearer figure.
    pub assumed: bool,
}

/// What an hour of computing draws on at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// As the catalogue calls it: `deu`, `us-california`, `eu-west-1`.
    pub code: String,
    /// In words.
    pub name: String,
    /// The cloud that has this region.
    pub provider: Option<String>,
    /// Yearly mean of the grid, g CO₂e/kWh.
    pub carbon_g_per_kwh: Local,
    /// Power usage effectiveness of the data centre there; `None` for a country, which is no data centre.
    pub pue: Option<Local>,
    /// Price of electricity for a business, US dollars a kWh.
    pub electricity_usd_per_kwh: Local,
}

/// A line of the table of places; an empty text is not known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    kind: Kind,
    code: String,
    also: String,
    name: String,
    provider: String,
    country: String,
    carbon: Option<(f64, String)>,
    pue: Option<(f64, String)>,
    electricity: Option<(f64, String)>,
}

impl Entry {
    fn new(kind: Kind, code: &str) -> Self {
        let [also, name, provider, country] = [const { String::new() }; 4];
        let (code, carbon, pue, electricity) = (code.to_owned(), None, None, None);
        Self { kind, code, also, name, provider, country, carbon, pue, electricity }
    }
}

/// In the order in which a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    World,
    Country,
    State,
    CloudRegion,
    Provider,
}

impl Catalogue {
    /// The mean of the world: what is assumed where no place is given.
    ///
    /// ```
    /// let world = breakeven::hardware::Catalogue::embedded().world();
    /// assert_eq!(world.carbon_g_per_kwh.value, 458.29);
    /// assert!(world.carbon_g_per_kwh.assumed && world.pue.is_none());
    /// ```
    pub fn world(&self) -> Place {
        self.place(&self.places[0])
    }

    /// Every place, in the order of the catalogue.
    pub fn all_places(&self) -> impl Iterator<Item = Place> {
        self.places.iter().map(|entry| self.place(entry))
    }

    /// The place of that name: a country (name, ISO code of two or three letters), a state of the USA, a cloud's region
    /// or a cloud. What is not known of it is its country's, then the world's.
    ///
    /// # Errors
    /// A name that matches no place.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// let stockholm = catalogue.find_region("eu-north-1")?;
    /// assert_eq!(stockholm.carbon_g_per_kwh.of, "Sweden");
    /// assert_eq!(stockholm.pue.unwrap().value, 1.1);
    /// assert_eq!(catalogue.find_region("Germany")?, catalogue.find_region("DE")?);
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn find_region(&self, name: &str) -> Result<Place> {
        let unknown = || {
            Error::new("unknown-region", format!("no country or cloud region is called {}", shown(name)))
                .hint("a country (`Germany`, `DE`), a state of the USA (`California`) or a cloud region (`us-east-1`)")
        };
        let given = if name.len() > 80 { String::new() } else { letters(name) };
        if given.is_empty() {
            return Err(unknown());
        }
        let by = |is: &dyn Fn(&Entry) -> bool| self.places.iter().filter(|e| is(e)).min_by_key(|e| e.kind);
        // Punctuation counts at first: `us-east1` is Google's and `us-east-1` Amazon's.
        by(&|e| e.code.eq_ignore_ascii_case(name.trim()))
            .or_else(|| by(&|e| letters(&e.code) == given || letters(&e.also) == given))
            .or_else(|| by(&|e| letters(&e.name) == given))
            // `Frankfurt` for AWS's `Europe (Frankfurt)`.
            .or_else(|| by(&|e| e.name.split(['(', ')']).any(|part| letters(part) == given)))
            .map(|entry| self.place(entry))
            .ok_or_else(unknown)
    }

    /// Whether that is the code of a country.
    pub(super) fn is_country(&self, code: &str) -> bool {
        self.places.iter().any(|e| e.kind == Kind::Country && e.code == code)
    }

    fn place(&self, entry: &Entry) -> Place {
        let of = |kind: Kind, is: &dyn Fn(&&Entry) -> bool| self.places.iter().filter(|e| e.kind == kind).find(is);
        let country = of(Kind::Country, &|e| e.code == entry.country);
        let fleet = of(Kind::Provider, &|e| e.provider == entry.provider);
        let nearest = |chain: [Option<&Entry>; 3], of: fn(&Entry) -> &Option<(f64, String)>| {
            chain.into_iter().flatten().find_map(|e| {
                let (value, source) = of(e).clone()?;
                Some(Local { value, of: e.name.clone(), source, assumed: e.kind == Kind::World })
            })
        };
        let anywhere = |of| {
            let found = nearest([Some(entry), country, Some(&self.places[0])], of);
            found.expect("the tests see that the world has every figure")
        };
        let fleet = fleet.filter(|_| entry.kind == Kind::CloudRegion);
        Place {
            code: entry.code.to_ascii_lowercase(),
            name: entry.name.clone(),
            provider: Some(entry.provider.clone()).filter(|p| !p.is_empty()),
            carbon_g_per_kwh: anywhere(|e| &e.carbon),
            pue: nearest([Some(entry), fleet, None], |e| &e.pue),
            electricity_usd_per_kwh: anywhere(|e| &e.electricity),
        }
    }
}

/// The place of one line: what it has replaces what the place of that code had; a new one comes after all others.
pub(super) fn read(row: &Row<'_>, all: &mut Vec<Entry>) -> Result<()> {
    let kind = match row.text(0) {
        "world" => Kind::World,
        "country" => Kind::Country,
        "state" => Kind::State,
        "cloud_region" => Kind::CloudRegion,
        "provider" => Kind::Provider,
        other => {
            let allowed = "world, country, state, cloud_region and provider are allowed";
            return Err(row.error(format!("the kind is {}: {allowed}", shown(other))));
        }
    };
    row.date(13)?;
    let sourced = |value: usize, source: usize, range| {
        if row.text(value).is_empty() {
            return Ok(None);
        }
        let number = row.number(value, || HEADER[value].to_owned(), &range)?;
        Ok(Some((number, row.required(source, HEADER[source])?.to_owned())))
    };
    let figures = [sourced(6, 8, 0.0..=2000.0)?, sourced(9, 10, 1.0..=3.0)?, sourced(11, 12, 0.001..=2.0)?];
    let code = row.required(1, HEADER[1])?;
    let entry = match all.iter().position(|e| e.code.eq_ignore_ascii_case(code)) {
        Some(at) if all[at].kind == kind => &mut all[at],
        Some(_) => return Err(row.error(format!("{} is a place of another kind", shown(code)))),
        None => {
            if kind == Kind::World && !all.is_empty() {
                return Err(row.error(format!("the code of the world is {}: world is allowed", shown(code))));
            }
            row.required(3, HEADER[3])?;
            if matches!(kind, Kind::State | Kind::CloudRegion) {
                row.required(5, HEADER[5])?;
            }
            all.push(Entry::new(kind, code));
            all.last_mut().expect("it was just pushed")
        }
    };
    let texts = [&mut entry.also, &mut entry.name, &mut entry.provider, &mut entry.country];
    for (at, text) in texts.into_iter().enumerate().filter(|(at, _)| !row.text(at + 2).is_empty()) {
        row.text(at + 2).clone_into(text);
    }
    let known = [&mut entry.carbon, &mut entry.pue, &mut entry.electricity];
    for (known, given) in known.into_iter().zip(figures).filter(|(_, given)| given.is_some()) {
        *known = given;
    }
    Ok(())
}

/// A name without case and punctuation.
fn letters(name: &str) -> String {
    key(&super::find::words(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::catalogue::sources;
    use proptest::prelude::*;

    fn entries() -> &'static [Entry] {
        &Catalogue::embedded().places
    }

    fn find_region(name: &str) -> Result<Place> {
        Catalogue::embedded().find_region(name)
    }

    #[test]
    fn every_entry_is_sound() {
        let sources = sources();
        assert_eq!(entries()[0].kind, Kind::World);
        assert!(entries()[0].carbon.is_some() && entries()[0].electricity.is_some());
        let mut codes = std::collections::BTreeSet::new();
        for entry in entries() {
            assert!(codes.insert(entry.code.to_ascii_lowercase()), "{} twice", entry.code);
            for (_, source) in [&entry.carbon, &entry.pue, &entry.electricity].into_iter().flatten() {
                assert!(sources.iter().any(|s| s.id == *source), "{source}");
            }
            let country = entries().iter().any(|e| e.kind == Kind::Country && e.code == entry.country);
            assert_eq!(country, matches!(entry.kind, Kind::State | Kind::CloudRegion), "{}", entry.code);
            assert_eq!(find_region(&entry.code).unwrap().name, entry.name);
        }
    }

    #[test]
    fn the_nearest_figure_is_taken() {
        let iowa = find_region("us-central1").unwrap();
        assert_eq!((iowa.carbon_g_per_kwh.value, iowa.pue.unwrap().value), (412.72, 1.1));
        let virginia = find_region("us-east-1").unwrap();
        assert_eq!((virginia.carbon_g_per_kwh.of.as_str(), virginia.carbon_g_per_kwh.value), ("United States", 384.4));
        assert!(!virginia.carbon_g_per_kwh.assumed && virginia.electricity_usd_per_kwh.assumed);
        // AWS publishes no PUE for Paris: its fleet's.
        let paris = find_region("eu-west-3").unwrap();
        assert_eq!((paris.pue.as_ref().unwrap().value, paris.pue.unwrap().of.as_str()), (1.15, "AWS"));
        let california = find_region("California").unwrap();
        assert_eq!((california.electricity_usd_per_kwh.value, california.pue), (0.2391, None));
        assert_eq!(find_region("azure").unwrap().pue.unwrap().value, 1.18);
    }

    /// What a data centre pays, not what a household does.
    #[test]
    fn electricity_is_a_business_price() {
        let dearest = entries().iter().filter_map(|e| e.electricity.as_ref()).map(|(usd, _)| *usd).fold(0.0, f64::max);
        assert!(dearest < 0.4, "{dearest}");
        let germany = find_region("Germany").unwrap().electricity_usd_per_kwh;
        assert_eq!((germany.value, germany.source.as_str()), (0.207, "eurostat-2025h1-business"));
        let newest =
            ["USA", "DEU", "FRA", "IND", "world"].map(|code| find_region(code).unwrap().carbon_g_per_kwh.source);
        assert!(newest.iter().all(|source| source == "owid-ember-2026"), "{newest:?}");
    }

    #[test]
    fn names_as_people_write_them() {
        for (name, code) in [
            ("germany", "deu"),
            ("DE", "deu"),
            ("deu", "deu"),
            ("us", "usa"),
            ("France", "fra"),
            ("us-east-1", "us-east-1"),
            ("US-EAST1", "us-east1"),
            ("eu_west_3", "eu-west-3"),
            ("US East (N. Virginia)", "us-east-1"),
            ("Frankfurt", "europe-west3"),
            ("westeurope", "westeurope"),
            ("Texas", "us-texas"),
            ("Georgia", "geo"),
            ("World", "world"),
            ("aws", "aws"),
        ] {
            assert_eq!(find_region(name).unwrap().code, code, "{name}");
        }
        insta::assert_snapshot!(find_region("Atlantis").unwrap_err(), @r#"
        error: no country or cloud region is called `Atlantis`
         hint: a country (`Germany`, `DE`), a state of the USA (`California`) or a cloud region (`us-east-1`)
        "#);
        assert!(find_region("").is_err() && find_region(&"x".repeat(1 << 20)).is_err());
    }

    proptest! {
        #[test]
        fn no_name_panics(name in any::<String>()) {
            let _ = find_region(&name);
        }
    }
}
