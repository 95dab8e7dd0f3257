//! One point of a scaling curve: time, speedup, memory, money of a layout, and what holds it back.

use super::rank::{self, Among, Rank, Sent};
use super::{Layout, Memory, Mode, Network, Scaling, Zero};
use crate::advice::{draft::Draft, planned};
use crate::estimate::gpu::{Outcome, Question, USABLE_MEMORY, device_bytes, outcome};
use crate::hardware::Device;
use crate::interval::{Interval, Z90};
use crate::kernel::collective::{Exchange, Group, Limit};
use crate::workload::{Op, Phase};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Ranks wait for the slowest of them, and exchanges take from kernels beside them: standard deviation of ln(speedup) for
/// it with each doubling of the ranks, which add in squares.
const STRAGGLERS: f64 = 0.05;
/// A loss of less is not worth a reason.
const LITTLE: f64 = 0.05;

/// A layout on one kind of GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// How many GPUs.
    pub gpus: u64,
    /// The program's steps, each with the samples of all copies.
    pub time_s: Option<Interval>,
    /// Work a second as a multiple of one GPU's, start-up apart; `None` where one has not the memory.
    pub speedup: Option<Interval>,
    /// `speedup.p50` ÷ GPUs, 0–1.
    pub efficiency: Option<f64>,
    /// All exchanges of a rank one after the other.
    pub communication_s: f64,
    /// What of it nothing else hides.
    pub exposed_s: f64,
    /// What a rank sends, bytes.
    pub sent_bytes: f64,
    /// Memory of one rank, bytes; `None` where it is not known.
    pub memory_bytes: Option<f64>,
    /// Whether that is there.
    pub fits: Option<bool>,
    /// Rent for the work of one GPU's run; `None` without a price.
    pub cost_usd: Option<Interval>,
    /// What keeps it from being as many times as fast, in words.
    pub held_back: String,
}

/// What the answer says beside the point.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// Memory of one rank by role, bytes.
    pub memory: BTreeMap<String, f64>,
    /// Families that each rank does as a whole, with their share of its device time.
    pub undivided: BTreeMap<String, f64>,
    /// The batch could not be divided by its shapes.
    pub batch_unknown: bool,
}

/// A program on one kind of GPU.
pub struct Case<'a> {
    /// The program on one.
    pub q: &'a Question<'a>,
    /// The GPU.
    pub device: &'a Device,
    /// What joins them.
    pub network: &'a Network,
    /// What they do.
    pub mode: Mode,
    /// Rent of one, USD/h.
    pub usd_per_h: Option<f64>,
}

impl Case<'_> {
    /// What the layout comes to.
    pub fn point(&self, layout: &Layout) -> (Point, Detail) {
        let gpus = layout.gpus();
        let one = outcome(self.q, self.device);
        if gpus < 2 || self.mode == Mode::IndependentRuns {
            let need = device_bytes(self.q.workload, self.q.port.policy());
            let n = gpus as f64;
            let point = Point {
                gpus,
                time_s: one.time,
                speedup: one.time.map(|_| Interval::exact(n)),
                efficiency: one.time.map(|_| 1.0),
                communication_s: 0.0,
                exposed_s: 0.0,
                sent_bytes: 0.0,
                memory_bytes: (need > 0.0).then_some(need),
                fits: one.fits,
                cost_usd: one.time.and_then(|time| self.cost(time)),
                held_back: "nothing".to_owned(),
            };
            return (point, Detail::default());
        }
        self.divided(layout, &one)
    }

    fn cost(&self, gpu_seconds: Interval) -> Option<Interval> {
        self.usd_per_h.map(|usd| gpu_seconds.scale(usd / 3600.0))
    }

    fn divided(&self, layout: &Layout, one: &Outcome) -> (Point, Detail) {
        let memory = Memory::of(self.q.workload);
        let mut rank = rank::of(self.q.workload, layout, &memory);
        if self.mode == Mode::AsWritten {
            rank.sent = recorded(self.q);
        }
        let shared = layout.scaling == Scaling::Strong;
        let held = memory.of_rank(layout, &rank.division, shared).filter(|_| self.mode == Mode::Divided);
        let need = held.as_ref().map(|roles| roles.values().sum::<f64>());
        let fits = need.map(|bytes| bytes <= self.device.memory.get() * USABLE_MEMORY);
        // The timeline is of one that fits: what does not is told by `fits`.
        (rank.workload.program.peak_bytes, rank.workload.program.device_peak_bytes) = (0, 0);
        let exchanges = rank.exchanges(|among| self.group(layout, among));
        let count = |i: &u32| rank.workload.ops[*i as usize].count as f64;
        let sum = |f: &dyn Fn(&Exchange) -> f64| exchanges.iter().map(|(i, e)| f(e) * count(i)).sum::<f64>();
        let communication_s = sum(&|e| e.seconds);
        let sigma = if communication_s > 0.0 { sum(&|e| e.seconds * e.sigma) / communication_s } else { 0.0 };
        let runs = self.runs(&rank, &exchanges, sigma);
        let [none, quick, middle, slow] = runs.each_ref().map(|out| out.parts.total());
        let mut undivided = undivided(&rank, &runs[2]);
        if layout.tensor < 2 {
            undivided.clear();
        }
        let exposed_s = (middle - none).max(0.0);
        let shown = one.time.or(runs[2].time).filter(|_| fits != Some(false));
        let spread = Interval { p10: quick / middle, p50: 1.0, p90: slow / middle };
        let time_s = shown.and(runs[2].time).map(|time| time.times(spread));
        let copies = if shared { 1.0 } else { layout.data as f64 };
        let n = layout.gpus() as f64;
        let warm = |out: &Outcome| (out.parts.total() - out.parts.startup).max(f64::MIN_POSITIVE);
        // No more than as many times as fast is claimed: caches that fit a part of the work may give more.
        let speedup = time_s.and(one.time).map(|_| {
            let of = |total: f64| copies * warm(one) / (total - runs[2].parts.startup).max(f64::MIN_POSITIVE);
            let exchanges = Interval { p10: of(slow), p50: of(middle), p90: of(quick) };
            exchanges.times(Interval::log_normal(1.0, STRAGGLERS * libm::log2(n).sqrt())).map_increasing(|x| x.min(n))
        });
        let efficiency = speedup.map(|speedup| speedup.p50 / n);
        let slowest = exchanges.iter().max_by(|a, b| (a.1.seconds * count(a.0)).total_cmp(&(b.1.seconds * count(b.0))));
        let held_back = held_back(&Loss {
            layout,
            efficiency,
            exposed: exposed_s / middle.max(f64::MIN_POSITIVE),
            undivided: undivided.values().sum(),
            optimizer: optimizer(&rank, &runs[2]) / middle.max(f64::MIN_POSITIVE),
            host: (runs[2].parts.host + runs[2].parts.launch) / middle.max(f64::MIN_POSITIVE),
            limit: slowest.map(|(_, exchange)| exchange.limit),
            inside: &self.network.inside,
        });
        let point = Point {
            gpus: layout.gpus(),
            time_s,
            speedup,
            efficiency,
            communication_s,
            exposed_s,
            sent_bytes: sum(&|e| e.sent),
            memory_bytes: need,
            fits,
            cost_usd: time_s.and_then(|time| self.cost(time.scale(n / copies))),
            held_back,
        };
        let detail = Detail { memory: held.unwrap_or_default(), undivided, batch_unknown: rank.batch_unknown };
        (point, detail)
    }

    fn group(&self, layout: &Layout, among: Among) -> Group {
        match among {
            Among::Tensor => self.network.of_tensor(layout),
            Among::Data => self.network.of_data(layout),
            Among::Pipeline => self.network.of_pipeline(layout),
            Among::All => self.network.group(layout.gpus(), 1),
        }
    }

    /// The rank without its exchanges, with quick, expected and slow ones.
    fn runs(&self, rank: &Rank, exchanges: &BTreeMap<u32, Exchange>, sigma: f64) -> [Outcome; 4] {
        let draft = Draft {
            workload: rank.workload.clone(),
            order: Cow::Owned(rank.order.clone()),
            ..Draft::new(&rank.workload, self.q.port.policy())
        };
        let off = libm::exp(Z90 * sigma);
        [0.0, 1.0 / off, 1.0, off]
            .map(|slower| planned(self.q, &draft, self.device, |plan| rank.lay(plan, exchanges, slower)))
    }
}

/// The exchanges that the script itself makes.
fn recorded(q: &Question) -> BTreeMap<u32, Sent> {
    let of = |op: &Op| match op {
        Op::Collective { kind, bytes, .. } => {
            Some(Sent { among: Among::All, kind: *kind, bytes: *bytes as f64, times: 1.0 })
        }
        _ => None,
    };
    q.workload.ops.iter().enumerate().filter_map(|(i, entry)| Some((i as u32, of(&entry.op)?))).collect()
}

/// Device time of what every rank does as a whole, by family, as a share of all of it.
fn undivided(rank: &Rank, out: &Outcome) -> BTreeMap<String, f64> {
    let all = out.plan.entries.iter().map(|time| time.device).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut whole = BTreeMap::new();
    for (i, (entry, time)) in rank.workload.ops.iter().zip(&out.plan.entries).enumerate() {
        let layer = matches!(entry.phase, Some(Phase::Forward | Phase::Backward));
        if layer && time.device > 0.0 && !rank.division.divided.contains(&(i as u32)) {
            *whole.entry(entry.op.family().name().to_owned()).or_insert(0.0) += time.device / all;
        }
    }
    whole
}

/// Device time of the optimizer, s.
fn optimizer(rank: &Rank, out: &Outcome) -> f64 {
    let entries = rank.workload.ops.iter().zip(&out.plan.entries);
    entries.filter(|(entry, _)| entry.phase == Some(Phase::Optimizer)).map(|(_, time)| time.device).sum()
}

struct Loss<'a> {
    layout: &'a Layout,
    efficiency: Option<f64>,
    exposed: f64,
    undivided: f64,
    optimizer: f64,
    host: f64,
    limit: Option<Limit>,
    inside: &'a str,
}

/// The largest loss, in words.
fn held_back(loss: &Loss) -> String {
    let Some(efficiency) = loss.efficiency else { return "memory".to_owned() };
    if 1.0 - efficiency < LITTLE {
        return "nothing much".to_owned();
    }
    let exchanges = match loss.limit {
        Some(Limit::Latency) => "the latency of exchanges".to_owned(),
        Some(Limit::Network) => "the network between nodes".to_owned(),
        Some(Limit::Link) => format!("exchanges over {}", loss.inside),
        None => "exchanges".to_owned(),
    };
    let tensor = loss.layout.tensor as f64;
    // Of a step without exchanges: the rounds in which a stage is idle.
    let idle = (1.0 - 1.0 / loss.layout.bubble()) * (1.0 - loss.exposed);
    let whole = loss.undivided * (1.0 - 1.0 / tensor) * (1.0 - loss.exposed);
    // Copies that share a batch each step all parameters, unless the states are shared.
    let stepped = loss.layout.scaling == Scaling::Strong && loss.layout.zero == Zero::Ddp;
    let steps = if stepped { loss.optimizer * (1.0 - 1.0 / loss.layout.data as f64) } else { 0.0 };
    let host = if loss.exposed + idle + whole + steps < 0.5 * (1.0 - efficiency) { loss.host } else { 0.0 };
    let all = [
        (loss.exposed, exchanges),
        (idle, "idle rounds of the pipeline".to_owned()),
        (whole, "operations that are not divided".to_owned()),
        (steps, "the optimizer, which each copy runs as a whole".to_owned()),
        (host, "host time, which is not divided".to_owned()),
        (LITTLE / 2.0, "kernels on parts too small for the GPU".to_owned()),
    ];
    all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(String::new, |(_, what)| what)
}
