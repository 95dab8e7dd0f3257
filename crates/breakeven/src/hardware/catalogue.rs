//! The catalogue: GPUs, CPUs, machine types, prices and grids as text, every figure with its source.

use super::cpu::{self, Cpu};
use super::figure::{CPU_KINDS, DeviceTable, KINDS};
use super::grid::{self, Entry};
use super::instance::{self, Instance};
use super::price::{self, Price};
use super::table::{Errors, Row, for_each_row, gather_rows, line_error, shown};
use super::{Gpu, gpu};
use crate::Result;
use std::borrow::Cow;
use std::sync::OnceLock;

const EMBEDDED: [(&str, &str); 3] = [
    ("instances.csv", include_str!("../../catalogue/instances.csv")),
    ("prices.csv", include_str!("../../catalogue/prices.csv")),
    ("grids.csv", include_str!("../../catalogue/grids.csv")),
];
const SOURCES: &str = include_str!("../../catalogue/sources.csv");

/// The tables of GPUs and CPUs.
#[cfg(not(any(feature = "lean-catalogue", feature = "described-ports")))]
fn devices() -> [&'static str; 2] {
    [include_str!("../../catalogue/gpus.csv"), include_str!("../../catalogue/cpus.csv")]
}

#[cfg(feature = "described-ports")]
fn devices() -> [&'static str; 2] {
    [include_str!("../../../../target/page/gpus_cited.csv"), include_str!("../../../../target/page/cpus_cited.csv")]
}

#[cfg(feature = "lean-catalogue")]
use super::lean::devices;

/// The first lines of the five tables: GPUs, CPUs, machine types, prices, places; and that of prices without their hosts.
pub const HEADERS: [&[&str]; 6] = [
    &["gpu", "figure", "value", "unit", "source", "read", "confidence", "note"],
    &["cpu", "figure", "value", "unit", "source", "read", "confidence", "note"],
    &instance::HEADER,
    &price::HEADER,
    &grid::HEADER,
    &price::SHORT_HEADER,
];

/// The place of prices without their hosts in [`HEADERS`].
const SHORT_PRICES: usize = 5;

/// A document that figures were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As the figures name it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// On what terms.
    pub licence: String,
}

/// Every device that estimates can name, what it rents for and where it may run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    gpus: Vec<Gpu>,
    pub(super) cpus: Vec<Cpu>,
    pub(super) instances: Vec<Instance>,
    pub(super) prices: Vec<Price>,
    pub(super) places: Vec<Entry>,
}

impl Catalogue {
    /// The catalogue that is part of the program. Read once.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// let t4 = &catalogue.gpu("t4").unwrap().device;
    /// assert_eq!(t4.peaks.f32_vector.unwrap().get(), 8.1e12);
    /// assert_eq!(t4.bandwidth.get(), 320e9);
    /// ```
    pub fn embedded() -> &'static Self {
        static READ: OnceLock<Catalogue> = OnceLock::new();
        READ.get_or_init(|| Self::of(devices().each_ref().map(|text| &**text)).catalogue)
    }

    /// What the embedded places, prices and machine types are with these GPUs and CPUs.
    pub(super) fn of([gpus, cpus]: [&str; 2]) -> Draft<'static> {
        let [instances, prices, grids] = EMBEDDED;
        let all = [("gpus.csv", gpus), ("cpus.csv", cpus), instances, prices, grids];
        Self::default().with(&all).expect("the tests read these very texts")
    }

    /// The embedded catalogue with what `text` says in place of its own, or added to it.
    ///
    /// `text` holds tables in the form of the embedded ones, each below its header, in any order: see [`HEADERS`].
    /// `file` names it in errors.
    ///
    /// - GPUs and CPUs: a figure replaces that of the device with this id (aliases and notes are added). A new GPU needs
    ///   name, vendor, memory, bandwidth and fp32_vector; a new CPU name, cores, base, boost, fp64_per_cycle and
    ///   bandwidth.
    /// - Machine types: a line replaces the one of the same name.
    /// - Prices: a line replaces the one of the same provider, instance, device, terms and region.
    /// - Places: what a line has replaces that of the place with this code; an empty field leaves it as it is.
    ///
    /// # Errors
    /// Every line that is not such a figure, with its number, what was given and what is allowed; new devices that lack
    /// required figures; prices, machine types and places that refer to what is not there. All are told in one error.
    ///
    /// ```
    /// use breakeven::hardware::Catalogue;
    /// let text = "gpu,figure,value,unit,source,read,confidence,note\n\
    ///             t4,bandwidth,300,GB/s,my own stream run,2026-11-21,measured,\n\
    ///             provider,instance,device,count,kind,usd_per_hour,region,date,date_precision,complete,source,note\n\
    ///             us,rack 3,t4,1,on_demand,0.10,,2026-11-21,day,yes,our books,\n";
    /// let mine = Catalogue::embedded().with_override("mine.csv", text)?;
    /// assert_eq!(mine.gpu("t4").unwrap().device.bandwidth.get(), 300e9);
    /// assert_eq!(mine.offers("t4", &Default::default()).next().unwrap().instance, "rack 3");
    ///
    /// let error = Catalogue::embedded().with_override("mine.csv", &text.replace("300", "-1")).unwrap_err();
    /// assert!(error.message.starts_with("mine.csv line 2: bandwidth of `t4` is `-1`"));
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn with_override(&self, file: &str, text: &str) -> Result<Self> {
        self.with(&[(file, text)])?.checked()
    }

    /// This catalogue, with the text of a request on top where it has one.
    ///
    /// # Errors
    /// As [`with_override`](Self::with_override), naming the request's field.
    pub fn and(&self, text: Option<&str>) -> Result<Cow<'_, Self>> {
        let own = text.map(|text| self.with_override("the catalogue file", text).map_err(|e| e.field("catalogue")));
        own.map_or(Ok(Cow::Borrowed(self)), |own| own.map(Cow::Owned))
    }

    /// This catalogue with the tables of some files, by name and text, on top; and what their lines refer to.
    ///
    /// # Errors
    /// What makes a text unreadable as a whole. Errors of its lines are in the draft.
    fn with<'f>(&self, files: &[(&'f str, &str)]) -> Result<Draft<'f>> {
        let mut gpus = DeviceTable::of(KINDS, self.gpus.iter().map(|gpu| (gpu.id(), gpu.figures())));
        let mut cpus = DeviceTable::of(CPU_KINDS, self.cpus.iter().map(|cpu| (cpu.device.id.as_str(), cpu.figures())));
        let (mut instances, mut places) = (self.instances.clone(), self.places.clone());
        let mut prices = price::Prices::of(self.prices.clone());
        let (mut named, mut errors) = (Vec::new(), Errors::default());
        for (file, text) in files {
            gather_rows(file, text, &HEADERS, &mut errors, |table, row, errors| {
                match table {
                    0 => gpus.read(&row, errors),
                    1 => cpus.read(&row, errors),
                    2 => instance::read(&row, &mut instances, errors),
                    3 | SHORT_PRICES => prices.read(&row, errors),
                    _ => {
                        errors.keep(grid::read(&row, &mut places));
                    }
                }
                named.extend(Named::of(file, table, &row));
            })?;
        }
        // A device that a line names is there as far as others go, though lines of its own were refused.
        named.retain(|n| !(matches!(n.table, 2 | 3) && gpus.names(&n.id) || n.table == 3 && cpus.names(&n.id)));
        let file = files.last().map_or("", |(file, _)| file);
        let gpus = gpus.finish(file, "GPU", &gpu::REQUIRED, &mut errors);
        let cpus = cpus.finish(file, "CPU", &cpu::REQUIRED, &mut errors);
        let gpus = gpus.into_iter().map(|gpu| Gpu::new(&gpu.id, gpu.figures)).collect();
        let cpus = cpus.into_iter().map(|cpu| Cpu::new(&cpu.id, cpu.figures)).collect();
        let prices = prices.all();
        Ok(Draft { file, catalogue: Self { gpus, cpus, instances, prices, places }, named, errors })
    }

    /// Refuses a line about a device or a country that is not there.
    fn check(&self, named: &Named<'_>) -> Result<()> {
        let wrong = |what: &str, hint: &str| {
            let what = format!("no {what} has the id {}", shown(&named.id));
            Err(line_error(named.file, named.line, what).hint(hint))
        };
        let id = named.id.as_str();
        let gpu = self.gpu(id).is_some();
        match named.table {
            2 if !gpu => wrong("GPU", "`breakeven gpus` lists the ids; a new device gets its lines in the same file"),
            3 if !gpu && !self.cpus.iter().any(|cpu| cpu.device.id == id) => {
                wrong("GPU or CPU", "`breakeven gpus` lists the ids; a new device gets its lines in the same file")
            }
            4 if !self.is_country(id) => wrong("country", "an ISO code of three letters: USA, DEU"),
            _ => Ok(()),
        }
    }

    /// Every GPU, in the order of the catalogue.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// The GPU of exactly that id. People's spellings are for [`find_gpu`](Self::find_gpu).
    pub fn gpu(&self, id: &str) -> Option<&Gpu> {
        self.gpus.iter().find(|gpu| gpu.id() == id)
    }
}

/// A catalogue, what its lines refer to, and what is wrong with them.
#[derive(Debug)]
pub(super) struct Draft<'f> {
    file: &'f str,
    pub(super) catalogue: Catalogue,
    named: Vec<Named<'f>>,
    errors: Errors,
}

impl Draft<'_> {
    /// The catalogue, where no line is wrong and everything that they refer to is there.
    fn checked(mut self) -> Result<Catalogue> {
        for named in &self.named {
            self.errors.keep(self.catalogue.check(named));
        }
        self.errors.or(self.file, self.catalogue)
    }
}

/// What a line refers to: the device of a price or machine type, the country of a region. It may stand further down.
#[derive(Debug)]
struct Named<'f> {
    file: &'f str,
    line: u64,
    table: usize,
    id: String,
}

impl<'f> Named<'f> {
    fn of(file: &'f str, table: usize, row: &Row<'_>) -> Option<Self> {
        let table = if table == SHORT_PRICES { 3 } else { table };
        let column = [None, None, Some(3), Some(2), Some(5)][table]?;
        let id = row.text(column).to_owned();
        (!id.is_empty()).then(|| Self { file, line: row.line(), table, id })
    }
}

/// The documents that the embedded catalogue was read from.
pub fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for_each_row("sources.csv", SOURCES, &[&["source", "title", "url", "licence"]], |_, row| {
        let field = |n| row.text(n).to_owned();
        sources.push(Source { id: field(0), title: field(1), url: field(2), licence: field(3) });
        Ok(())
    })
    .expect("the tests read this very text");
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_refers_to_what_is_there() {
        assert_eq!(
            Catalogue::of(devices().each_ref().map(|text| &**text)).checked().as_ref(),
            Ok(Catalogue::embedded())
        );
    }
}
