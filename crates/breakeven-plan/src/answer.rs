//! The answer: `breakeven.plan/1`, what every report shows. Rounding is left to reports.

use crate::assumed::Assumption;
use crate::bill::Bill;
use crate::curves::{FrontPoint, RentOrBuy};
use crate::sensitivity::Turn;
use crate::unmet::Unmet;
use crate::way::Way;
use breakeven::interval::{Basis, Interval};
use serde::Serialize;

/// The only value `Answer::schema` has.
pub const SCHEMA: &str = "breakeven.plan/1";

/// The whole answer. Money is in `currency`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The plan's name.
    pub name: String,
    /// The day that prices were looked up.
    pub today: String,
    /// Horizon.
    pub months: u32,
    /// Code of the currency.
    pub currency: String,
    /// What to do.
    pub summary: Summary,
    /// What is computed, and where it may run.
    pub workloads: Vec<WorkRow>,
    /// The cheapest of each way to pay, side by side.
    pub options: Vec<OptionRow>,
    /// The cheapest mix; `None` where nothing can be served.
    pub mix: Option<MixRow>,
    /// Rent against purchase; `None` where one of the two is not possible.
    pub rent_or_buy: Option<RentOrBuy>,
    /// Cost against time.
    pub front: Vec<FrontPoint>,
    /// What turns the decision between single kinds.
    pub turns: Vec<Turn>,
    /// Deadlines that nothing allowed can hold.
    pub unmet: Vec<Unmet>,
    /// Defaults that were used.
    pub assumed: Vec<Assumption>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// What to do, in a line and as figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The line.
    pub sentence: String,
    /// Over the horizon, resale counted; `None` where nothing can be served.
    pub cost: Option<Interval>,
    /// The same by month.
    pub per_month: Option<Interval>,
    /// How the least sure of its times is known.
    pub basis: Option<Basis>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkRow {
    /// Its name.
    pub name: String,
    /// Runs in the first month.
    pub runs_per_month: f64,
    /// Runs in the last month.
    pub runs_last_month: f64,
    /// From submission to result, s.
    pub deadline_s: f64,
    /// `deadline` or `latency`.
    pub promise: &'static str,
    /// Whether it is planned for.
    pub met: bool,
    /// GPUs it can run on.
    pub gpus: usize,
    /// Why it cannot run on the others.
    pub lacking: Option<String>,
    /// The fastest of them, and a run there.
    pub fastest: Option<Fastest>,
}

/// A run on the fastest GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fastest {
    /// Its name.
    pub gpu: String,
    /// Time of a run.
    pub time_s: Interval,
    /// How it is known.
    pub basis: Basis,
    /// The precision, where several are allowed.
    pub precision: Option<String>,
}

/// The cheapest of one way to pay, for everything on one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionRow {
    /// The way.
    pub way: Way,
    /// In words: `2 L4 (spot)`.
    pub what: String,
    /// Catalogue id of the device; `cpu` for the CPU machine.
    pub device: Option<String>,
    /// Whether all deadlines hold.
    pub meets: bool,
    /// What does not, where they do not.
    pub missed: Option<String>,
    /// `kept` (machines stay on) or `batches` (rented for batches of runs).
    pub mode: Option<&'static str>,
    /// Units rented or bought as one, in each phase; of batches the most at a time.
    pub units: Vec<f64>,
    /// Devices in a unit.
    pub slots: f64,
    /// Rent of a unit.
    pub per_hour: Option<f64>,
    /// Price of a GPU that is bought, and of the machine around it.
    pub price: Option<[f64; 2]>,
    /// Who asks that price.
    pub provider: String,
    /// Machine type.
    pub instance: String,
    /// When the price was read; empty where it is given.
    pub date: String,
    /// Over the horizon, resale counted.
    pub cost: Option<Interval>,
    /// The same by month.
    pub per_month: Option<Interval>,
    /// Its parts, of the middle case.
    pub bill: Option<Bill>,
    /// Energy with the building's.
    pub energy_kwh: Option<Interval>,
    /// Carbon of it.
    pub co2_kg: Option<Interval>,
    /// Share of the time that machines are paid for in which they compute, in the month with most runs.
    pub utilisation: Option<f64>,
    /// Mean wait before a run starts, in the month with most runs; of batches from submission on.
    pub wait_s: Option<f64>,
    /// Mean from submission to result.
    pub turnaround_s: Option<f64>,
    /// What decides how much of it is needed.
    pub bound_by: Option<String>,
    /// How the least sure of its times is known.
    pub basis: Option<Basis>,
}

/// The cheapest mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixRow {
    /// In words.
    pub what: String,
    /// Whether it is the cheapest single kind.
    pub is_single: bool,
    /// Machines that stay on.
    pub parts: Vec<PartRow>,
    /// Workloads in batches.
    pub batches: Vec<BatchRow>,
    /// Over the horizon.
    pub cost: Interval,
    /// By month.
    pub per_month: Interval,
    /// Its parts.
    pub bill: Bill,
    /// How far from the optimum it may be, as a share of its cost; `None` where no bound is known.
    pub gap: Option<f64>,
    /// Kinds that the program was not asked about, for size.
    pub left_out: usize,
}

/// Machines of one kind that stay on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartRow {
    /// The way.
    pub way: Way,
    /// Name of the device.
    pub device: String,
    /// Units by phase.
    pub units: Vec<f64>,
    /// Devices in a unit.
    pub slots: f64,
    /// Their utilisation in the month with most runs of the last phase.
    pub utilisation: f64,
    /// Mean wait then, s.
    pub wait_s: f64,
    /// Workloads and the share of their runs, of the last phase.
    pub runs: Vec<(String, f64)>,
}

/// A workload in batches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchRow {
    /// The workload.
    pub workload: String,
    /// The way.
    pub way: Way,
    /// Name of the device.
    pub device: String,
    /// Machines at a time, batches and charged hours a month, of the last phase.
    pub machines: f64,
    /// Batches a month.
    pub starts_per_month: f64,
    /// Machine hours charged a month.
    pub charged_h_per_month: f64,
}
