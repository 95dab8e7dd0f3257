//! What was typed, read once; and what the formula takes for one GPU, each term with its basis.

use super::described::form;
use super::footprint;
use super::formula::Rate;
use super::kind;
use super::link::{LINK_FRACTION, pcie};
use crate::estimate::setup::Setup;
use crate::estimate::{Estimate, FormulaInput};
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::port;
use crate::quantity::Measure;
use crate::report::words;
use crate::request::{Kind, Numbers, Typed};
use crate::units::{Bytes, FlopPerSec};
use crate::workload::Dtype;
use crate::{Error, Result};

/// Every number the user gave, in base units.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub flop: Option<f64>,
    pub bytes: Option<f64>,
    pub data: Option<f64>,
    pub data_out: Option<f64>,
    pub link: Option<f64>,
    pub init: Option<f64>,
    pub kind: Option<Kind>,
    pub precision: Option<Dtype>,
    pub cpu_rate: Option<f64>,
    pub cpu_time: Option<f64>,
    pub parallel_fraction: Option<f64>,
    pub peak: Option<f64>,
    pub bandwidth: Option<f64>,
    pub utilisation: Option<f64>,
    pub python_overhead: Option<f64>,
    pub workload_factor: Option<f64>,
    pub precision_factor: Option<f64>,
    pub values: Option<f64>,
    pub gpus: Option<f64>,
    pub scaling_efficiency: Option<f64>,
    pub size: Option<Amounts>,
    /// What the CPU takes for a size by the model, s.
    pub cpu_modelled: Option<Interval>,
    /// The start-up that the GPU adds to a size by the model, s.
    pub startup_modelled: Option<f64>,
    /// What the CPU takes for the size in fp32, s, where that is less than in the precision asked for.
    pub cpu_in_fp32: Option<Interval>,
    /// The work was worked out from the CPU's time and what CPUs usually reach.
    pub guessed: bool,
    /// Start-up is left out.
    pub warm: bool,
}

/// What a size amounts to. The copies are a default: what is typed wins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amounts {
    /// Arithmetic, FLOP.
    pub(super) flop: f64,
    /// Traffic through device memory, bytes.
    pub(super) bytes: f64,
    /// On the device at once, bytes.
    pub(super) memory: f64,
}

impl Given {
    /// The answer to a size, which begins with the precision: another one is other work. That the formula answers is
    /// told beside it.
    pub(super) fn named(&self, mut estimate: Estimate) -> Estimate {
        let precision = kind::precision_name(self.precision.unwrap_or(Dtype::F32));
        let method = match self.of_formula() {
            Some(figure) => format!(" (by the formula, as `{figure}` is given)"),
            None => String::new(),
        };
        let cpu = self
            .cpu_in_fp32
            .map_or_else(String::new, |time| format!(" (fp32 is faster on the CPU: {})", words::time(time)));
        estimate.summary.sentence = format!("{precision}{cpu}{method}: {}", estimate.summary.sentence);
        estimate
    }

    /// Takes the work from a size.
    pub(super) fn set_size(&mut self, size: Amounts) {
        self.flop = Some(size.flop);
        self.bytes = self.bytes.or(Some(size.bytes));
        self.size = Some(size);
    }

    /// The first figure that only the formula takes: a rate or a factor of the GPU, or bytes of the work.
    pub(super) fn of_formula(&self) -> Option<&'static str> {
        let figures = [
            ("peak", self.peak),
            ("bandwidth", self.bandwidth),
            ("utilization", self.utilisation),
            ("python_overhead", self.python_overhead),
            ("workload_factor", self.workload_factor),
            ("precision_factor", self.precision_factor),
            ("bytes", self.bytes),
            ("values", self.values),
        ];
        figures.into_iter().find(|(_, given)| given.is_some()).map(|(name, _)| name)
    }

    /// The machine for a size that the models answer.
    pub(super) fn setup(&self) -> Setup {
        let default = Setup::default();
        Setup {
            gpus: self.gpus.unwrap_or(default.gpus),
            scaling_efficiency: self.scaling_efficiency.unwrap_or(default.scaling_efficiency),
            parallel_fraction: self.parallel_fraction.unwrap_or(default.parallel_fraction),
            link: self.link.map(|rate| rate / LINK_FRACTION),
            init: self.init,
        }
    }

    /// Start-up of the library that such work is usually written with, s, unless the size has told it.
    fn startup(&self) -> f64 {
        let usual = || match self.kind {
            Some(Kind::Training | Kind::Inference) => port::named("torch").unwrap_or_else(port::cupy),
            _ => port::cupy(),
        };
        self.startup_modelled.unwrap_or_else(|| usual().usual_startup().p50)
    }

    /// Bytes copied to the device and back: as much back as there unless given.
    pub(super) fn copies(&self) -> (f64, f64) {
        let data = self.data.unwrap_or(0.0);
        (data, self.data_out.unwrap_or(data))
    }

    /// Bytes that have to be on the device at once: the values given, else what the size amounts to.
    pub(super) fn memory(&self) -> Option<f64> {
        let values = self.values.map(|n| footprint::bytes(n, self.precision.unwrap_or(Dtype::F32)));
        values.map(Bytes::get).or(self.size.map(|s| s.memory))
    }
}

/// Reads one quantity and refuses zero: nothing can be divided by it.
pub(super) fn read_positive(typed: &Option<Typed>, measure: Measure, field: &'static str) -> Result<Option<f64>> {
    match measure.read_field(typed, field)? {
        Some(x) if x <= 0.0 => {
            Err(Error::new("out-of-range", format!("`{field}` is zero; {} above zero is needed", measure.what()))
                .hint("leave it out to use the default")
                .field(field))
        }
        other => Ok(other),
    }
}

/// Reads everything, refusing the first that does not read.
///
/// # Errors
/// The parser's own, with the field; `contradiction` where two inputs say the same thing.
pub(super) fn read_numbers(n: &Numbers) -> Result<Given> {
    let precision = n.precision.as_deref().map(kind::read_precision).transpose()?;
    let given = Given {
        flop: Measure::Flop.read_field(&n.flops, "flops")?,
        bytes: Measure::Bytes.read_field(&n.bytes, "bytes")?,
        data: Measure::Bytes.read_field(&n.data, "data")?,
        data_out: Measure::Bytes.read_field(&n.data_out, "data_out")?,
        link: match (read_positive(&n.link, Measure::BytesPerSec, "link")?, &n.pcie) {
            (Some(_), Some(_)) => return Err(contradiction("link", "pcie")),
            (Some(link), None) => Some(link),
            (None, Some(text)) => {
                let text = match text {
                    Typed::Text(t) => t.clone(),
                    Typed::Number(x) => x.to_string(),
                };
                Some(pcie(&text)?.get() * LINK_FRACTION)
            }
            (None, None) => None,
        },
        init: Measure::Seconds.read_field(&n.init, "init")?,
        warm: false,
        kind: n.kind.as_deref().map(kind::read_kind).transpose()?,
        precision,
        cpu_rate: read_positive(&n.cpu_rate, Measure::FlopPerSec, "cpu_rate")?,
        cpu_time: read_positive(&n.cpu_time, Measure::Seconds, "cpu_time")?,
        parallel_fraction: Measure::Fraction.read_field(&n.parallel_fraction, "parallel_fraction")?,
        peak: read_positive(&n.peak, Measure::FlopPerSec, "peak")?,
        bandwidth: read_positive(&n.bandwidth, Measure::BytesPerSec, "bandwidth")?,
        utilisation: read_positive(&n.utilization, Measure::Fraction, "utilization")?,
        python_overhead: Measure::Fraction.read_field(&n.python_overhead, "python_overhead")?,
        workload_factor: read_positive(&n.workload_factor, Measure::Ratio, "workload_factor")?,
        precision_factor: read_positive(&n.precision_factor, Measure::Ratio, "precision_factor")?,
        values: Measure::Count.read_field(&n.values, "values")?,
        gpus: gpus(&n.gpus)?,
        scaling_efficiency: read_positive(&n.scaling_efficiency, Measure::Fraction, "scaling_efficiency")?,
        size: None,
        cpu_modelled: None,
        startup_modelled: None,
        cpu_in_fp32: None,
        guessed: false,
    };
    // What a CPU does at a rate for a time is the work, where no other is given.
    let given = match (given.cpu_rate, given.cpu_time) {
        (Some(_), Some(_)) if given.flop.is_some() || form(n)?.is_some() => {
            return Err(contradiction("cpu_rate", "cpu_time"));
        }
        (Some(rate), Some(time)) => Given { flop: Some(rate * time), cpu_rate: None, ..given },
        _ => given,
    };
    if given.python_overhead == Some(1.0) {
        return Err(Error::new("out-of-range", "a Python overhead of 100% leaves no time for the GPU")
            .hint("write it like `10%`; 0 to 50% is usual")
            .field("python_overhead"));
    }
    Ok(given)
}

/// How many GPUs: whole ones.
fn gpus(typed: &Option<Typed>) -> Result<Option<f64>> {
    let hint = |e: Error| e.hint("how many GPUs work together, such as `2`; which one is said by `--gpu`");
    let gpus = read_positive(typed, Measure::Count, "gpus").map_err(hint)?;
    match gpus.filter(|gpus| *gpus < 1.0 || gpus.fract() != 0.0) {
        Some(part) => {
            let message = format!("`gpus` is {part}; a whole count of at least 1 is needed");
            Err(hint(Error::new("out-of-range", message)).field("gpus"))
        }
        None => Ok(gpus),
    }
}

pub(super) fn contradiction(a: &'static str, b: &'static str) -> Error {
    Error::new("contradiction", format!("`{a}` and `{b}` were both given and say the same thing"))
        .hint("give one of them")
        .field(b)
}

/// One term: its value and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Term {
    /// In the base unit.
    pub value: Interval,
    /// `Given`, `Modelled` or `Assumed`.
    pub basis: Basis,
}

impl Term {
    fn new(given: Option<f64>, otherwise: f64, basis: Basis) -> Self {
        match given {
            Some(x) => Self { value: Interval::exact(x), basis: Basis::Given },
            None => Self { value: Interval::exact(otherwise), basis },
        }
    }
}

/// What the formula takes for one GPU.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub flop: Term,
    pub bytes: Option<Term>,
    pub data: Term,
    pub data_out: Term,
    pub link: Term,
    pub init: Term,
    pub kind: Kind,
    pub precision: Dtype,
    pub parallel_fraction: Term,
    pub peak: Term,
    pub bandwidth: Option<Term>,
    pub utilisation: Term,
    pub python_overhead: Term,
    pub workload_factor: Term,
    pub precision_factor: Term,
    pub gpus: Term,
    pub scaling_efficiency: Term,
}

/// Host link unless given or known: PCIe 3.0 x16, B/s.
const LINK: f64 = 15.75e9;

/// The terms for `device` (a catalogue GPU), or for a GPU that the user describes by its peak (`None`).
///
/// # Errors
/// `unknown-peak` when neither the user nor the catalogue has a peak in this precision.
pub(super) fn terms(given: &Given, device: Option<&Device>) -> Result<Terms> {
    use Basis::{Assumed, Modelled};
    let kind = given.kind.unwrap_or_default();
    let precision = given.precision.unwrap_or(Dtype::F32);
    let peak = match (given.peak, device.and_then(|d| kind::peak(kind, precision, d))) {
        (Some(peak), _) => Term { value: Interval::exact(peak), basis: Basis::Given },
        (None, Some(peak)) => Term { value: Interval::exact(peak.get()), basis: Modelled },
        (None, None) => {
            let name = device.map_or("the GPU", |d| d.name.as_str());
            let what = kind::precision_name(precision);
            return Err(Error::new("unknown-peak", format!("no {what} peak is known for {name}"))
                .hint("give it with `--peak`, or name another precision")
                .field("peak"));
        }
    };
    let utilisation = match (given.utilisation, device) {
        (Some(u), _) => Term { value: Interval::exact(u), basis: Basis::Given },
        (None, Some(d)) => Term { value: kind::utilisation(kind, precision, d), basis: Modelled },
        (None, None) => Term { value: Interval::exact(kind::UNKNOWN_GPU_UTILISATION), basis: Assumed },
    };
    let default_factor = if utilisation.basis == Assumed { kind::workload_factor(kind) } else { 1.0 };
    let default_precision = if given.peak.is_some() { kind::precision_factor(precision) } else { 1.0 };
    let link = match device {
        Some(d) if d.unified_memory => f64::INFINITY,
        Some(d) => d.host_link.map_or(LINK, |l| l.get()) * LINK_FRACTION,
        None => LINK * LINK_FRACTION,
    };
    let (data, data_out) = given.copies();
    Ok(Terms {
        flop: match given.size {
            // A size is given, its FLOP are worked out.
            Some(size) => Term { value: Interval::exact(size.flop), basis: Modelled },
            None if given.guessed => Term::new(None, given.flop.unwrap_or(0.0), Assumed),
            None => Term::new(given.flop, 0.0, Assumed),
        },
        bytes: given.bytes.map(|b| Term::new(Some(b), b, Assumed)),
        data: Term::new(given.data, data, Assumed),
        data_out: Term::new(given.data_out, data_out, Assumed),
        link: Term::new(
            given.link,
            link,
            if device.is_some_and(|d| d.host_link.is_some()) { Modelled } else { Assumed },
        ),
        init: Term::new(given.init, given.startup(), Assumed),
        kind,
        precision,
        parallel_fraction: Term::new(given.parallel_fraction, 1.0, Assumed),
        peak,
        bandwidth: match (given.bandwidth, device) {
            (Some(b), _) => Some(Term::new(Some(b), b, Assumed)),
            (None, Some(d)) => Some(Term::new(None, d.bandwidth.get(), Modelled)),
            (None, None) => None,
        },
        utilisation,
        python_overhead: Term::new(given.python_overhead, 0.10, Assumed),
        workload_factor: Term::new(given.workload_factor, default_factor, Assumed),
        precision_factor: Term::new(given.precision_factor, default_precision, Assumed),
        gpus: Term::new(given.gpus, 1.0, Assumed),
        scaling_efficiency: Term::new(given.scaling_efficiency, 0.9, Assumed),
    })
}

impl Terms {
    /// The effective rate at a utilisation.
    pub(super) fn effective(&self, utilisation: f64) -> FlopPerSec {
        let rate = Rate {
            peak: FlopPerSec(self.peak.value.p50),
            utilisation,
            python_overhead: self.python_overhead.value.p50,
            workload_factor: self.workload_factor.value.p50,
            precision_factor: self.precision_factor.value.p50,
        };
        rate.effective()
    }

    /// Every input as used, for `--explain` and the page.
    pub(super) fn echo(&self, cpu_rate: Option<Term>) -> Vec<FormulaInput> {
        let rows = vec![
            row("flops", Some(self.flop), Measure::Flop, "FLOP", None),
            row("peak", Some(self.peak), Measure::FlopPerSec, "FLOP/s", None),
            row("utilization", Some(self.utilisation), Measure::Fraction, "1", Some("0.05–0.80")),
            row("python_overhead", Some(self.python_overhead), Measure::Fraction, "1", Some("0–0.5")),
            row("workload_factor", Some(self.workload_factor), Measure::Ratio, "1", Some("0.6–1.0")),
            row("precision_factor", Some(self.precision_factor), Measure::Ratio, "1", Some("0.5–4")),
            row("bytes", self.bytes, Measure::Bytes, "B", None),
            row(
                "bandwidth",
                self.bandwidth.filter(|_| self.bytes.is_some()),
                Measure::BytesPerSec,
                "B/s",
                Some("100 GB/s–8 TB/s"),
            ),
            row("data", Some(self.data), Measure::Bytes, "B", None),
            row("data_out", Some(self.data_out), Measure::Bytes, "B", None),
            row(
                "link",
                Some(self.link).filter(|l| l.value.p50.is_finite()),
                Measure::BytesPerSec,
                "B/s",
                Some("8–64 GB/s"),
            ),
            row("init", Some(self.init), Measure::Seconds, "s", Some("50–500 ms")),
            row("parallel_fraction", Some(self.parallel_fraction), Measure::Fraction, "1", Some("0–1")),
            row("gpus", Some(self.gpus), Measure::Count, "1", None),
            row(
                "scaling_efficiency",
                Some(self.scaling_efficiency).filter(|_| self.gpus.value.p50 > 1.0),
                Measure::Fraction,
                "1",
                Some("0.7–0.95"),
            ),
            row("cpu_rate", cpu_rate, Measure::FlopPerSec, "FLOP/s", Some("10 GFLOP/s–5 TFLOP/s")),
        ];
        rows.into_iter().flatten().collect()
    }
}

fn row(name: &str, term: Option<Term>, measure: Measure, unit: &str, typical: Option<&str>) -> Option<FormulaInput> {
    let term = term?;
    let mut text = measure.format(term.value.p50);
    if term.value.p10 < term.value.p90 {
        text = format!("{text} [{}–{}]", measure.format(term.value.p10), measure.format(term.value.p90));
    }
    Some(FormulaInput {
        name: name.to_owned(),
        value: term.value.p50,
        unit: unit.to_owned(),
        text,
        basis: term.basis,
        typical: typical.map(str::to_owned),
    })
}
