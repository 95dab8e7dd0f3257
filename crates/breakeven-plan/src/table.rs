//! What a run of each workload takes on each device, or why it cannot run there.

use crate::plan::{Plan, Source, Work};
use crate::question::Answered;
use breakeven::estimate::GpuEstimate;
use breakeven::hardware::{Catalogue, Vendor};
use breakeven::interval::{Basis, Interval};
use breakeven::report::words::memory;

/// Watts of a machine beside its GPU, as a share of the GPU's limit: what the engine takes for estimates.
const HOST_SHARE: f64 = 0.35;
/// What a GPU whose idle power is not known draws when idle, as a share of its limit; assumed.
const IDLE_SHARE: f64 = 0.1;
/// The same of a CPU machine, as a share of what it draws when busy; assumed.
const CPU_IDLE_SHARE: f64 = 0.4;

/// A GPU, or the CPU machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Catalogue id; `cpu` for the CPU machine.
    pub id: String,
    /// For people.
    pub name: String,
    /// Whose it is; `None` for the CPU machine.
    pub vendor: Option<Vendor>,
    /// A machine's power for one GPU at its limit, W.
    pub busy_w: Option<f64>,
    /// The same when idle, W.
    pub idle_w: Option<f64>,
}

/// A run on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Time, s.
    pub time: Interval,
    /// Energy of the machine's share, Wh, without the building's; `None` where it is not known.
    pub energy_wh: Option<Interval>,
    /// How the time is known.
    pub basis: Basis,
    /// What limits it.
    pub bound: &'static str,
    /// The precision it is in, where several are allowed.
    pub precision: Option<String>,
}

/// Why a workload cannot run on a device.
#[derive(Clone, Debug, PartialEq)]
pub enum Lack {
    /// The device's memory is too small.
    Memory(String),
    /// The program's GPU library has no release for the maker.
    Library(String),
    /// Its time is not known there.
    NoTime,
}

impl Lack {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Memory(text) | Self::Library(text) => text.clone(),
            Self::NoTime => "its time there is not known".to_owned(),
        }
    }
}

/// Rates of a CPU machine, US dollars an hour, with where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuOffer {
    /// Who rents it out.
    pub provider: String,
    /// Machine type.
    pub instance: String,
    /// Price, USD/h.
    pub usd_per_h: f64,
    /// When the price was read.
    pub date: String,
}

/// Every workload on every device.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The CPU machine first, then the catalogue's GPUs in its order.
    pub devices: Vec<Device>,
    /// By workload and device.
    pub cells: Vec<Vec<Result<Cell, Lack>>>,
    /// What the CPU machine rents for; `None` where that is not known.
    pub cpu: Option<CpuOffer>,
    /// What the reader should know of the estimates.
    pub notes: Vec<String>,
}

impl Table {
    /// The table of a plan, from what the engine answered.
    pub fn of(plan: &Plan, catalogue: &Catalogue, answers: &[Answered]) -> Self {
        let mut devices = vec![cpu_machine(answers)];
        devices.extend(catalogue.gpus().iter().map(|gpu| {
            let device = &gpu.device;
            let limit = device.tdp.map(|w| w.get());
            let idle = device.idle.map(|w| w.get()).or(limit.map(|w| w * IDLE_SHARE));
            Device {
                id: gpu.id().to_owned(),
                name: gpu.name().to_owned(),
                vendor: Some(device.vendor),
                busy_w: limit.map(|w| w * (1.0 + HOST_SHARE)),
                idle_w: idle.map(|w| w * (1.0 + HOST_SHARE)),
            }
        }));
        let cells = plan.works.iter().enumerate().map(|(n, work)| match &work.source {
            Source::Times(gpus, cpu) => devices.iter().map(|device| given(device, gpus, *cpu)).collect(),
            _ => {
                let own: Vec<&Answered> = answers.iter().filter(|a| a.question.works.contains(&n)).collect();
                devices.iter().map(|device| estimated(device, work, &own)).collect()
            }
        });
        let prices = answers.iter().filter_map(|a| a.estimate.baseline.price.as_ref());
        let dearest = prices.max_by(|a, b| a.usd_per_h.total_cmp(&b.usd_per_h));
        let cpu = dearest.map(|price| CpuOffer {
            provider: price.provider.clone(),
            instance: price.instance.clone(),
            usd_per_h: price.usd_per_h,
            date: price.date.clone(),
        });
        let cells = cells.collect();
        Self { devices, cells, cpu, notes: notes(plan, answers) }
    }

    /// Place of the device of that id.
    pub fn device(&self, id: &str) -> Option<usize> {
        self.devices.iter().position(|d| d.id == id)
    }
}

fn cpu_machine(answers: &[Answered]) -> Device {
    let first = answers.first().map(|a| &a.estimate.baseline);
    let watts = answers.iter().filter_map(|a| {
        let baseline = &a.estimate.baseline;
        Some(baseline.energy_wh?.p50 * 3600.0 / baseline.time_s?.p50)
    });
    let busy = watts.reduce(f64::max);
    Device {
        id: "cpu".to_owned(),
        name: first.map_or_else(|| "CPU machine".to_owned(), |b| b.device.clone()),
        vendor: None,
        busy_w: busy,
        idle_w: busy.map(|w| w * CPU_IDLE_SHARE),
    }
}

fn given(device: &Device, gpus: &[(String, f64)], cpu: Option<f64>) -> Result<Cell, Lack> {
    let seconds = match device.vendor {
        None => cpu,
        Some(_) => gpus.iter().find(|(id, _)| *id == device.id).map(|(_, s)| *s),
    };
    let seconds = seconds.ok_or(Lack::NoTime)?;
    let energy_wh = device.busy_w.map(|w| Interval::exact(w * seconds / 3600.0));
    Ok(Cell { time: Interval::exact(seconds), energy_wh, basis: Basis::Given, bound: "compute", precision: None })
}

/// The fastest of the precisions allowed.
fn estimated(device: &Device, work: &Work, answers: &[&Answered]) -> Result<Cell, Lack> {
    let mut best: Result<Cell, Lack> = Err(Lack::NoTime);
    for answer in answers {
        let cell = one(device, answer).map(|cell| Cell {
            precision: answer.question.precision.clone().filter(|_| work.precision.len() > 1),
            ..cell
        });
        best = match (best, cell) {
            (Ok(a), Ok(b)) => Ok(if b.time.p50 < a.time.p50 { b } else { a }),
            (Ok(a), Err(_)) => Ok(a),
            (Err(_), other) => other,
        };
    }
    best
}

fn one(device: &Device, answer: &Answered) -> Result<Cell, Lack> {
    let estimate = &answer.estimate;
    let Some(vendor) = device.vendor else {
        let baseline = &estimate.baseline;
        let time = baseline.time_s.ok_or(Lack::NoTime)?;
        let (energy_wh, basis) = (baseline.energy_wh, baseline.basis);
        return Ok(Cell { time, energy_wh, basis, bound: "compute", precision: None });
    };
    let row: &GpuEstimate = estimate.estimates.iter().find(|row| row.gpu == device.id).ok_or(Lack::NoTime)?;
    if row.fits == Some(false) {
        let size = |x: Option<f64>| x.map_or_else(|| "?".to_owned(), memory);
        return Err(Lack::Memory(format!(
            "needs {} of memory and it has {}",
            size(row.peak_bytes),
            size(row.memory_bytes)
        )));
    }
    if !row.counted {
        let library = answer.library.unwrap_or("its GPU library");
        return Err(Lack::Library(format!("{library} has no release for GPUs of {}", maker(vendor))));
    }
    let time = row.time_s.filter(|t| t.p50 > 0.0).ok_or(Lack::NoTime)?;
    let bound = row.bound_by.map_or("start-up", |bound| bound.name());
    Ok(Cell { time, energy_wh: row.energy_wh, basis: row.basis, bound, precision: None })
}

/// The maker's name.
pub(crate) fn maker(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Nvidia => "NVIDIA",
        Vendor::Amd => "AMD",
        Vendor::Intel => "Intel",
        Vendor::Apple => "Apple",
        Vendor::Other => "another maker",
    }
}

/// What the engine noted of ports and coverage, each once, with the workload it is about.
fn notes(plan: &Plan, answers: &[Answered]) -> Vec<String> {
    const TOLD: [&str; 4] = ["port-amd", "port-native", "coverage", "low-coverage"];
    let mut notes: Vec<String> = Vec::new();
    for answer in answers {
        let names: Vec<&str> = answer.question.works.iter().map(|n| plan.works[*n].name.as_str()).collect();
        for note in answer.estimate.notes.iter().filter(|note| TOLD.contains(&note.code.as_ref())) {
            let text = format!("{}: {}", names.join(", "), note.text);
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    notes
}
