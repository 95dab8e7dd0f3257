//! The figures a device may have in the catalogue, and where each comes from.

use super::Date;
use super::table::{Errors, Row, line_error, shown};
use crate::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// How well a figure is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// A counter or a log of the real thing.
    Measured,
    /// The maker's document and at least one independent listing agree.
    TwoSources,
    /// The maker's document says so.
    Datasheet,
    /// One listing other than the maker's document.
    OneSource,
    /// The maker's word before the thing is sold; it may change until then.
    Announced,
    /// Computed from other figures; the note says how.
    Formula,
    /// As the maker's document is known to say; nobody opened it when the figure was entered.
    Recalled,
    /// A judgement; the note says on what.
    Estimate,
    /// Words of this catalogue: spellings, typical use.
    Editorial,
}

impl Confidence {
    /// Every level and its name in the catalogue.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Measured, "measured"),
        (Self::TwoSources, "two_sources"),
        (Self::Datasheet, "datasheet"),
        (Self::OneSource, "one_source"),
        (Self::Announced, "announced"),
        (Self::Formula, "formula"),
        (Self::Recalled, "recalled"),
        (Self::Estimate, "estimate"),
        (Self::Editorial, "editorial"),
    ];

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(level, _)| *level)
    }

    /// Its name in the catalogue.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// What a figure is worth.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// In the unit of its kind.
    Number(f64),
    /// Words.
    Text(String),
}

/// One figure of one device, as the catalogue has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub kind: &'static Kind,
    /// How much.
    pub value: Value,
    /// Id of the source in `sources.csv`, or what an override says.
    pub source: Box<str>,
    /// When it was entered or last checked.
    pub read: Date,
    /// How well it is known.
    pub confidence: Confidence,
    /// What a reader should know of it; may be empty.
    pub note: Box<str>,
}

impl Figure {
    /// The number, unless it is words.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(n) => Some(n),
            Value::Text(_) => None,
        }
    }

    /// The words, unless it is a number.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Number(_) => None,
            Value::Text(text) => Some(text),
        }
    }
}

/// A kind of figure: its name, unit and what is physically possible.
#[derive(Debug, PartialEq)]
pub struct Kind {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// Its unit; `text` and `flag` (`yes`, `no`) are not numbers.
    pub unit: &'static str,
    /// What is allowed, in that unit.
    pub range: RangeInclusive<f64>,
    /// A device may have it more than once.
    pub repeats: bool,
}

const fn number(name: &'static str, unit: &'static str, min: f64, max: f64) -> Kind {
    Kind { name, unit, range: min..=max, repeats: false }
}

const fn text(name: &'static str) -> Kind {
    Kind { name, unit: "text", range: 0.0..=0.0, repeats: false }
}

/// Every kind of figure of a GPU, in the order they are written. Peaks are dense (never with sparsity), an FMA counts as two.
pub static KINDS: &[Kind] = &[
    text("name"),
    text("vendor"),
    text("architecture"),
    text("compute_capability"),
    number("year", "year", 2006.0, 2100.0),
    Kind { repeats: true, ..text("alias") },
    text("typical_use"),
    number("units", "count", 1.0, 10_000.0),
    number("cores_per_unit", "count", 1.0, 4096.0),
    number("boost", "MHz", 100.0, 10_000.0),
    number("memory", "GiB", 0.1, 10_000.0),
    text("memory_type"),
    Kind { unit: "flag", ..text("unified_memory") },
    number("bandwidth", "GB/s", 1.0, 1e5),
    number("l2_cache", "MiB", 0.01, 1e5),
    number("last_level_cache", "MiB", 0.01, 1e5),
    number("shared_per_unit", "KiB", 1.0, 1e5),
    number("fp64_vector", "TFLOP/s", 1e-4, 1e5),
    number("fp64_tensor", "TFLOP/s", 1e-4, 1e5),
    number("fp32_vector", "TFLOP/s", 1e-3, 1e5),
    number("fp16_vector", "TFLOP/s", 1e-3, 1e5),
    number("fp32_tensor", "TFLOP/s", 1e-2, 1e5),
    number("tf32_tensor", "TFLOP/s", 1e-2, 1e5),
    number("fp16_tensor", "TFLOP/s", 1e-2, 1e5),
    number("bf16_tensor", "TFLOP/s", 1e-2, 1e5),
    number("fp8_tensor", "TFLOP/s", 1e-2, 1e6),
    number("int8_tensor", "TOP/s", 1e-2, 1e6),
    number("fp4_tensor", "TFLOP/s", 1e-2, 1e6),
    number("fp16_tensor_fp16_accumulate", "TFLOP/s", 1e-2, 1e5),
    text("host_link_name"),
    number("host_link", "GB/s", 0.1, 1e4),
    text("interconnect"),
    number("interconnect_rate", "GB/s", 0.1, 1e5),
    number("tdp", "W", 1.0, 1e4),
    number("idle", "W", 0.1, 1e4),
    number("context_idle", "W", 0.1, 1e4),
    number("quoted_fp32_vector", "TFLOP/s", 1e-3, 1e5),
    number("quoted_bandwidth", "GB/s", 1.0, 1e5),
    number("quoted_host_link", "GB/s", 0.1, 1e4),
    Kind { repeats: true, ..text("note") },
];

/// Every kind of figure of a CPU.
pub static CPU_KINDS: &[Kind] = &[
    text("name"),
    text("vendor"),
    text("architecture"),
    Kind { repeats: true, ..text("alias") },
    number("cores", "count", 1.0, 10_000.0),
    number("efficiency_cores", "count", 1.0, 10_000.0),
    number("threads", "count", 1.0, 10_000.0),
    number("base", "MHz", 100.0, 10_000.0),
    number("boost", "MHz", 100.0, 10_000.0),
    number("efficiency_base", "MHz", 100.0, 10_000.0),
    number("efficiency_boost", "MHz", 100.0, 10_000.0),
    text("simd"),
    number("fp64_per_cycle", "FLOP/cycle", 1.0, 1024.0),
    number("efficiency_fp64_per_cycle", "FLOP/cycle", 1.0, 1024.0),
    number("bandwidth", "GB/s", 0.1, 1e5),
    number("last_level_cache", "MiB", 0.1, 1e5),
    number("tdp", "W", 1.0, 1e4),
    Kind { repeats: true, ..text("note") },
];

/// The kind of that name.
pub(super) fn kind(kinds: &'static [Kind], name: &str) -> Option<&'static Kind> {
    kinds.iter().find(|kind| kind.name == name)
}

/// A device as the lines of a table describe it.
pub(super) struct Described {
    pub(super) id: String,
    /// Where it is first named; 0 for those of the base.
    pub(super) line: u64,
    pub(super) figures: Vec<Figure>,
}

/// Devices in the order in which they are first named, their figures read a line at a time.
pub(super) struct DeviceTable {
    kinds: &'static [Kind],
    devices: Vec<Described>,
    index: BTreeMap<String, usize>,
    last: usize,
    /// Device and figure of lines that were refused.
    refused: BTreeSet<(String, String)>,
}

impl DeviceTable {
    /// Whether a line named the device, complete or not.
    pub(super) fn names(&self, id: &str) -> bool {
        self.index.contains_key(id)
    }

    /// What is there already; `kinds` is what a device of it can have.
    pub(super) fn of<'f>(kinds: &'static [Kind], base: impl Iterator<Item = (&'f str, &'f [Figure])>) -> Self {
        let devices: Vec<Described> =
            base.map(|(id, figures)| Described { id: id.to_owned(), line: 0, figures: figures.to_vec() }).collect();
        let index = devices.iter().enumerate().map(|(n, d)| (d.id.clone(), n)).collect();
        Self { kinds, devices, index, last: 0, refused: BTreeSet::new() }
    }

    /// The figure of one line in place of the one that is there, or beside it where a device may have several. What is
    /// wrong with the line goes into `errors`.
    pub(super) fn read(&mut self, row: &Row<'_>, errors: &mut Errors) {
        let (id, devices) = (row.text(0), &mut self.devices);
        // The lines of a device follow each other.
        let place = match devices.get(self.last) {
            Some(device) if device.id == id => self.last,
            _ => *self.index.entry(id.to_owned()).or_insert(devices.len()),
        };
        if place == devices.len() {
            errors.keep(check_id(row, id));
            devices.push(Described { id: id.to_owned(), line: row.line(), figures: Vec::with_capacity(32) });
        }
        self.last = place;
        let Some(figure) = read(row, self.kinds, errors) else {
            self.refused.insert((id.to_owned(), row.text(1).to_owned()));
            return;
        };
        let figures = &mut devices[place].figures;
        match figures.iter_mut().find(|f| std::ptr::eq(f.kind, figure.kind) && !f.kind.repeats) {
            Some(old) => *old = figure,
            None => figures.push(figure),
        }
    }

    /// The devices that have all figures of `required`. What a new one in `file` lacks goes into `errors`, unless its
    /// line was there and refused; `what` they are.
    pub(super) fn finish(self, file: &str, what: &str, required: &[&str], errors: &mut Errors) -> Vec<Described> {
        let lacks = |device: &Described, name: &&&str| device.figures.iter().all(|f| f.kind.name != **name);
        let complete = |device: &Described| {
            let lacking: Vec<&str> = required.iter().filter(|name| lacks(device, name)).copied().collect();
            let (id, refused) =
                (&device.id, |name: &&&str| self.refused.contains(&(device.id.clone(), name.to_string())));
            let absent: Vec<&str> = lacking.iter().filter(|name| !refused(name)).copied().collect();
            if !absent.is_empty() && is_id(&device.id) {
                let unit = |name: &str| kind(self.kinds, name).map_or("", |kind| kind.unit);
                let line = |name: &&str| format!("`{id},{name},…,{},…`", unit(name));
                let lines = absent.iter().map(line).collect::<Vec<_>>().join(", ");
                let message = format!("the new {what} `{id}` has no {}", listed(&absent));
                let add = if absent.len() == 1 { "a line" } else { "lines" };
                errors.keep::<()>(Err(line_error(file, device.line, message).hint(format!(
                    "a {what} needs {}: add {add} {lines}; to change a {what} of the catalogue, use its exact id",
                    listed(required)
                ))));
            }
            lacking.is_empty()
        };
        let complete: Vec<bool> = self.devices.iter().map(complete).collect();
        self.devices.into_iter().zip(complete).filter_map(|(device, complete)| complete.then_some(device)).collect()
    }
}

/// Names as a sentence has them: `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Whether a device can have that id.
fn is_id(id: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(good)
}

fn check_id(row: &Row<'_>, id: &str) -> Result<()> {
    if is_id(id) {
        return Ok(());
    }
    Err(row.error(format!("the id is {}: 1 to 64 of a–z, 0–9 and - are allowed", shown(id))))
}

/// The figure of one line, whose fields are device, figure, value, unit, source, read, confidence and note. Everything
/// that is wrong with it goes into `errors`.
fn read(row: &Row<'_>, kinds: &'static [Kind], errors: &mut Errors) -> Option<Figure> {
    let (name, unit) = (row.text(1), row.text(3));
    let kind = errors.keep(kind(kinds, name).ok_or_else(|| {
        let allowed = kinds.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
        row.error(format!("there is no figure {}", shown(name))).hint(format!("figures are {allowed}"))
    }))?;
    let unit = errors.keep(match unit == kind.unit {
        true => Ok(()),
        false => Err(row.error(format!("{} is in {}: {} is allowed", what(row), shown(unit), kind.unit))),
    });
    let confidence = errors.keep(Confidence::parse(row.text(6)).ok_or_else(|| {
        let allowed = Confidence::ALL.map(|(_, name)| name).join(", ");
        row.error(format!("the confidence of {} is {}: {allowed} are allowed", what(row), shown(row.text(6))))
    }));
    let source = errors.keep(match row.text(4) {
        "" => Err(row.error(format!("{} has no source: every figure needs one", what(row)))),
        source => Ok(source),
    });
    let (value, read) = (errors.keep(value(row, kind)), errors.keep(row.date(5)));
    unit?;
    let (confidence, source) = (confidence?, source?.into());
    Some(Figure { kind, value: value?, source, read: read?, confidence, note: row.text(7).into() })
}

fn value(row: &Row<'_>, kind: &Kind) -> Result<Value> {
    let given = row.text(2);
    match kind.unit {
        "text" if given.is_empty() => Err(row.error(format!("{} is empty: a word is allowed", what(row)))),
        "flag" if !matches!(given, "yes" | "no") => {
            Err(row.error(format!("{} is {}: yes and no are allowed", what(row), shown(given))))
        }
        "text" | "flag" => Ok(Value::Text(given.to_owned())),
        unit => {
            let number = row.number(2, || what(row), &kind.range)?;
            if matches!(unit, "count" | "year") && number.fract() != 0.0 {
                return Err(row.error(format!("{} is {}: a whole number is allowed", what(row), shown(given))));
            }
            Ok(Value::Number(number))
        }
    }
}

/// What a line is about, for errors.
fn what(row: &Row<'_>) -> String {
    format!("{} of `{}`", row.text(1), row.text(0))
}
