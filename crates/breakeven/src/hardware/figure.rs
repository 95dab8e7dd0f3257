//! The figures a GPU may have in the catalogue, and where each comes from.

use super::Date;
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
    /// Computed from other figures; the note says how.
    Formula,
    /// A judgement; the note says on what.
    Estimate,
    /// Words of this catalogue: spellings, typical use.
    Editorial,
}

impl Confidence {
    /// Every level and its name in the catalogue.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Measured, "measured"),
        (Self::TwoSources, "two_sources"),
        (Self::Datasheet, "datasheet"),
        (Self::OneSource, "one_source"),
        (Self::Formula, "formula"),
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

/// One figure of one GPU, as the catalogue has it.
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
    /// A GPU may have it more than once.
    pub repeats: bool,
}

const fn number(name: &'static str, unit: &'static str, min: f64, max: f64) -> Kind {
    Kind { name, unit, range: min..=max, repeats: false }
}

const fn text(name: &'static str) -> Kind {
    Kind { name, unit: "text", range: 0.0..=0.0, repeats: false }
}

/// Every kind of figure, in the order they are written. Peaks are dense (never with sparsity), an FMA counts as two.
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

/// The kind of that name.
pub(super) fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
