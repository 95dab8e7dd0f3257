//! How far a ratio of two GPUs' times is off, by family and by how near the GPUs are; assumed, or fitted
//! by `accuracy carry`, as each row says.

use super::Known;
use crate::hardware::{Device, device::Vendor};
use crate::workload::Family;
use crate::{Error, Result};
use std::sync::LazyLock;

/// How near two GPUs are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kinship {
    /// One and the same.
    Itself,
    /// Of one generation: NVIDIA's of one major compute capability, others of one architecture.
    Same,
    /// Of two.
    Other,
}

impl Kinship {
    /// That of two GPUs.
    ///
    /// ```
    /// use breakeven::{carry::Kinship, hardware::Catalogue};
    /// let of = |a, b| Kinship::of(
    ///     &Catalogue::embedded().gpu(a).unwrap().device, &Catalogue::embedded().gpu(b).unwrap().device);
    /// assert_eq!(of("l4", "l4"), Kinship::Itself);
    /// assert_eq!(of("a100-pcie-40gb", "rtx-3090"), Kinship::Same);
    /// assert_eq!(of("a100-pcie-40gb", "h200-sxm-141gb"), Kinship::Other);
    /// ```
    pub fn of(a: &Device, b: &Device) -> Self {
        let generation = |device: &Device| {
            let target = device.compute_capability.as_deref().unwrap_or_default();
            let major = target.split('.').next().unwrap_or_default().to_owned();
            let told = device.vendor == Vendor::Nvidia && !major.is_empty();
            if told { major } else { device.architecture.clone() }
        };
        match (a.id == b.id, generation(a), generation(b)) {
            (true, ..) => Self::Itself,
            (_, one, other) if a.vendor == b.vendor && one == other && !one.is_empty() => Self::Same,
            _ => Self::Other,
        }
    }

    /// The name in `spread.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Itself => "itself",
            Self::Same => "same",
            Self::Other => "other",
        }
    }
}

/// How a time is carried, and how far it is off then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How much of the source's error the target has too, 0–1: what is measured counts with it.
    pub weight: f64,
    /// Standard deviation of ln(time) common to all kernels of the family.
    pub shared: f64,
    /// The same of each kernel alone.
    pub own: f64,
}

/// The table.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreads {
    /// By family, then by kinship: same, other.
    families: [[Spread; 2]; Family::COUNT],
    class: [Spread; 2],
    nothing: [Spread; 2],
    whole: [f64; 2],
}

static SHIPPED: LazyLock<Spreads> =
    LazyLock::new(|| Spreads::read(include_str!("spread.csv")).expect("tested: the shipped table reads"));

impl Spreads {
    /// The table that ships.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Reads `family,generation,weight,shared,own,basis`: a row for each family that was measured, `rest` for all others,
    /// `class` where the name alone is known, `nothing` where not even that, and `whole`, whose `shared` is what whole
    /// programs are off by beyond their kernels.
    ///
    /// # Errors
    /// `carry-spread` where a row is missing, of no family, or out of range: weight 0–1, spreads 0–3.
    pub fn read(text: &str) -> Result<Self> {
        let mut rows = Vec::new();
        for row in csv::Reader::from_reader(text.as_bytes()).records() {
            let row = row.map_err(|e| bad(e.to_string()))?;
            let number = |column: usize, most: f64| {
                let value = row.get(column).and_then(|cell| cell.parse::<f64>().ok());
                value
                    .filter(|value| (0.0..=most).contains(value))
                    .ok_or_else(|| bad(format!("column {column} of `{}` is no number from 0 to {most}", &row[0])))
            };
            let spread = Spread { weight: number(2, 1.0)?, shared: number(3, 3.0)?, own: number(4, 3.0)? };
            rows.push((row[0].to_owned(), row.get(1).unwrap_or_default().to_owned(), spread));
        }
        let one = |family: &str, kinship: Kinship| {
            let row = rows.iter().find(|(name, of, _)| name == family && of == kinship.name());
            row.map(|(.., spread)| *spread)
        };
        let both = |family: &str| {
            let [same, other] = [Kinship::Same, Kinship::Other].map(|kinship| one(family, kinship));
            same.zip(other).map(|(same, other)| [same, other])
        };
        let needed = |family: &str| both(family).ok_or_else(|| bad(format!("no row for `{family}`")));
        let known = |name: &str| {
            ["rest", "class", "nothing", "whole"].contains(&name) || Family::ALL.iter().any(|f| f.name() == name)
        };
        if let Some((name, ..)) = rows.iter().find(|(name, ..)| !known(name)) {
            return Err(bad(format!("`{name}` is not a family")));
        }
        let rest = needed("rest")?;
        let mut families = [rest; Family::COUNT];
        for (place, family) in Family::ALL.iter().enumerate() {
            families[place] = both(family.name()).unwrap_or(rest);
        }
        let whole = needed("whole")?.map(|spread| spread.shared);
        Ok(Self { families, class: needed("class")?, nothing: needed("nothing")?, whole })
    }

    /// What holds of a kernel.
    pub fn of(&self, known: Known, family: Family, kinship: Kinship) -> Spread {
        let place = match kinship {
            Kinship::Itself => return Spread { weight: 1.0, ..Spread::default() },
            Kinship::Same => 0,
            Kinship::Other => 1,
        };
        match known {
            Known::Op => self.families[family as usize][place],
            Known::Class => self.class[place],
            Known::Nothing => self.nothing[place],
        }
    }

    /// What whole programs are off by beyond their kernels: a standard deviation of ln(time).
    pub fn whole(&self, kinship: Kinship) -> f64 {
        match kinship {
            Kinship::Itself => 0.0,
            Kinship::Same => self.whole[0],
            Kinship::Other => self.whole[1],
        }
    }
}

fn bad(why: String) -> Error {
    Error::new("carry-spread", format!("the table of ratios does not read: {why}"))
}
