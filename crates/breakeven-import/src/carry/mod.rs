//! From one GPU to another: what a recorded step takes there, its kernels carried, its launches and waits replayed.

mod groups;
mod replay;
mod workload;

pub use workload::workload;

use crate::class::Class;
use crate::model::Trace;
use breakeven::carry::{Kinship, Pair};
use breakeven::choice::{Choice, Pick};
use breakeven::hardware::{Catalogue, Device, Gpu};
use breakeven::interval::{Interval, Z90};
use breakeven::kernel::{Bound, power};
use breakeven::spend::{Spend, spend};
use breakeven::{Error, Result};
use groups::Groups;
use replay::{Played, Replay};
use std::collections::BTreeSet;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The GPU that it was recorded on, where the file does not say, or says it in a way that nobody knows.
    pub source: Option<&'a str>,
    /// How much longer the host of the target takes for the same: 1 is the recording one.
    pub host_factor: f64,
}

/// Traces on other GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Where it was recorded.
    pub source: On,
    /// Each GPU asked about, in the order of the question.
    pub gpus: Vec<On>,
    /// Whether `time_s` is that of a step, else of all that was recorded.
    pub of_step: bool,
    /// Shares of kernel time by how its op is known: by op, by class of the name, not at all.
    pub coverage: [f64; 3],
    /// The most memory that was in use, bytes.
    pub peak_bytes: Option<u64>,
    /// Kernels and copies that were replayed of all; of a long trace the first ones.
    pub replayed: [u64; 2],
    /// How much longer the host takes.
    pub host_factor: f64,
    /// The classes that most of the kernel time goes to, with the time on the source, s.
    pub classes: Vec<(Class, f64)>,
}

/// A step, or all that was recorded, on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct On {
    /// The catalogue's id and name.
    pub id: String,
    /// See `id`.
    pub name: String,
    /// How near it is to the GPU that was recorded.
    pub kinship: Kinship,
    /// s.
    pub time: Interval,
    /// Time on the source ÷ time here.
    pub speedup: Interval,
    /// Kernels together, s.
    pub kernel_s: Interval,
    /// Share of the time in which the GPU is busy, 0–1.
    pub busy: f64,
    /// USD, Wh and g of a step, or of all.
    pub spend: Spend,
    /// USD an hour.
    pub usd_per_h: Option<f64>,
    /// Whether what was in use fits its memory; `None` where that is not in the file.
    pub fits: Option<bool>,
}

/// A GPU that is busy less than this waits for its host.
const HOST_BOUND: f64 = 0.6;
/// What of the host's own time may be otherwise on another machine (p10, p90).
const HOST: [f64; 2] = [0.9, 1.1];

impl On {
    /// Whether the GPU waits for the host most of the time.
    pub fn host_bound(&self) -> bool {
        self.busy < HOST_BOUND
    }
}

/// Why traces cannot be carried, or the GPU that all of them were recorded on.
///
/// # Errors
/// `source-gpu` where it is not told, not in the catalogue, or not the same in all;
/// `no-gpu-events` where nothing ran on one.
pub fn source<'c>(traces: &[Trace], asked: Asked<'_>, catalogue: &'c Catalogue) -> Result<&'c Gpu> {
    let hint = "--source-gpu NAME says it; `breakeven gpus` lists every name";
    let problem = |text: String| Error::new("source-gpu", text).hint(hint).field("source_gpu");
    if !traces.iter().any(|trace| trace.kernels.iter().any(|kernel| kernel.when.length() > 0)) {
        let text = "no kernel with a time is in the file: there is nothing to carry to another GPU";
        return Err(Error::new("no-gpu-events", text).hint("record with the profiler's GPU activities"));
    }
    if let Some(name) = asked.source {
        let found = catalogue.find_gpu(name).map_err(|e| e.field("source_gpu"))?;
        return match found.gpus.as_slice() {
            [one] => Ok(one),
            several => Err(problem(format!("`{name}` names {} GPUs: {}", several.len(), ids(several)))),
        };
    }
    let names: BTreeSet<&str> =
        traces.iter().flat_map(|trace| trace.gpus.values()).filter_map(|gpu| gpu.name.as_deref()).collect();
    let said = |name: &str| breakeven::report::words::printable(name, 60);
    match names.iter().copied().collect::<Vec<_>>().as_slice() {
        [] => Err(problem("the file does not say which GPU it was recorded on".to_owned())),
        [name] => match catalogue.find_gpu(name) {
            Ok(found) => match found.gpus.as_slice() {
                [one] => Ok(one),
                several => {
                    let text = format!("it was recorded on `{}`, which may be {}", said(name), ids(several));
                    Err(problem(text))
                }
            },
            Err(_) => Err(problem(format!("it was recorded on `{}`, which is not in the catalogue", said(name)))),
        },
        several => {
            let all = several.iter().map(|name| said(name)).collect::<Vec<_>>().join(", ");
            Err(problem(format!("it was recorded on several kinds of GPU: {all}")))
        }
    }
}

fn ids(gpus: &[&Gpu]) -> String {
    gpus.iter().map(|gpu| gpu.id()).collect::<Vec<_>>().join(", ")
}

/// Carries traces, of which each is a process, to the GPUs of `choice`; the slowest process counts.
///
/// # Errors
/// See [`source`].
pub fn carry(traces: &[Trace], asked: Asked<'_>, choice: &Choice) -> Result<Carried> {
    let source = source(traces, asked, &choice.catalogue)?;
    let groups: Vec<Groups> = traces.iter().map(|trace| Groups::of(trace, &source.device)).collect();
    let replays: Vec<Replay> = traces.iter().zip(&groups).map(|(trace, groups)| Replay::of(trace, groups)).collect();
    let steps = |trace: &Trace| trace.steps.len();
    let of_step = traces.iter().all(|trace| steps(trace) > 0 || !trace.has_gpu());
    let peak_bytes = traces.iter().filter_map(|trace| trace.peak_bytes).max();
    let question = Question { groups: &groups, replays: &replays, of_step, peak_bytes, choice, source, asked };
    let own = choice.gpus.iter().find(|pick| pick.gpu.id() == source.id()).cloned();
    let own = own.unwrap_or_else(|| Pick { gpu: source.clone(), count: 1, price: None });
    let here = question.on(&own, None);
    let gpus = choice.gpus.iter().map(|pick| question.on(pick, Some(&here))).collect();
    let mut coverage = [0.0; 3];
    groups.iter().for_each(|groups| groups.known(&mut coverage));
    let all: f64 = coverage.iter().sum();
    let replayed = [
        replays.iter().map(|replay| replay.pieces() as u64).sum(),
        traces.iter().map(|trace| (trace.kernels.len() + trace.copies.len()) as u64).sum(),
    ];
    Ok(Carried {
        source: here,
        gpus,
        of_step,
        coverage: coverage.map(|s| if all > 0.0 { s / all } else { 0.0 }),
        peak_bytes,
        replayed,
        host_factor: asked.host_factor,
        classes: groups::classes(&groups),
    })
}

/// What stays the same from GPU to GPU.
struct Question<'a> {
    groups: &'a [Groups],
    replays: &'a [Replay],
    of_step: bool,
    peak_bytes: Option<u64>,
    choice: &'a Choice,
    source: &'a Gpu,
    asked: Asked<'a>,
}

impl Question<'_> {
    /// All processes on one GPU; `here` is the source's answer.
    fn on(&self, pick: &Pick, here: Option<&On>) -> On {
        let target = &pick.gpu.device;
        let pair = Pair::new(&self.source.device, target);
        let mut slowest: Option<(Interval, Played)> = None;
        let (mut kernel_s, mut used) = (Interval::default(), [0.0; 3]);
        for (groups, replay) in self.groups.iter().zip(self.replays) {
            let carried = groups.carried(&pair);
            let together = pair.together(carried.iter().map(|(all, _)| *all));
            kernel_s = kernel_s + together;
            for (all, _) in &carried {
                match all.bound {
                    Bound::Compute => used[0] += all.seconds * all.utilisation,
                    Bound::Transfer => used[2] += all.seconds,
                    _ => used[1] += all.seconds * all.utilisation,
                }
            }
            let sigma = if together.p50 > 0.0 { (together.p90 / together.p50).ln() / Z90 } else { 0.0 };
            let exact = pair.kinship() == Kinship::Itself;
            let play = |z: f64, host: f64| {
                let longer = exp(z * sigma);
                let factors: Vec<f64> = carried.iter().map(|(_, factor)| factor * longer).collect();
                replay.play(&factors, self.asked.host_factor * if exact { 1.0 } else { host })
            };
            let (low, middle, high) = (play(-Z90, HOST[0]), play(0.0, 1.0), play(Z90, HOST[1]));
            let unit = if self.of_step { replay.step_s() } else { replay.whole_s() };
            let time = Interval { p10: low.factor, p50: middle.factor, p90: high.factor }.scale(unit);
            if slowest.as_ref().is_none_or(|(known, _)| known.p50 < time.p50) {
                slowest = Some((time, middle));
            }
        }
        let (time, played) = slowest.unwrap_or_default();
        let share = |s: f64| if kernel_s.p50 > 0.0 { (played.busy * s / kernel_s.p50).min(1.0) } else { 0.0 };
        let watts = power(target, share(used[0]), share(used[1]), share(used[2]));
        let rates = self.choice.rates(Some(pick), 1.0, Some(watts));
        let before = here.map_or(time.p50, |here| here.time.p50);
        let speedup = |s: f64| if s > 0.0 { before / s } else { 1.0 };
        On {
            id: pick.gpu.id().to_owned(),
            name: pick.gpu.name().to_owned(),
            kinship: pair.kinship(),
            time,
            speedup: Interval { p10: speedup(time.p90), p50: speedup(time.p50), p90: speedup(time.p10) },
            kernel_s,
            busy: played.busy,
            spend: spend(time, &rates),
            usd_per_h: rates.price.map(|price| price.usd_per_h),
            fits: self.peak_bytes.map(|bytes| fits(bytes, target)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a memory's size")]
fn fits(bytes: u64, device: &Device) -> bool {
    bytes as f64 <= device.memory.get() * breakeven::estimate::gpu::USABLE_MEMORY
}

/// e to the power of `x`; 1 of what is no number.
fn exp(x: f64) -> f64 {
    if x.is_finite() { x.exp() } else { 1.0 }
}
